/**
 * What a user has typed and the API does not have: comments that are not sent, and refused changes of closed projects.
 * They outlive the panel of their issue, and the open project.
 */
import { signal } from '@preact/signals';
import { Unwritten } from '../edits/unwritten';
import type { Mentionable } from './mentions';

/** The text of an unsent comment, and the users that it may mention. */
export interface CommentDraft {
  readonly text: string;
  readonly chosen: readonly Mentionable[];
}

/** The drafts of one project, each by its place: the issue, and the comment that it changes. */
export class CommentDrafts {
  private readonly drafts = signal<ReadonlyMap<string, CommentDraft>>(new Map());
  /** The last attempt to send at each place, and its key. */
  private readonly attempts = new Map<string, { readonly content: string; readonly key: string }>();

  get isEmpty(): boolean {
    return this.drafts.peek().size === 0;
  }

  at(place: string): CommentDraft | undefined {
    return this.drafts.value.get(place);
  }

  put(place: string, draft: CommentDraft): void {
    this.drafts.value = new Map([...this.drafts.peek(), [place, draft]]);
  }

  drop(place: string): void {
    this.drafts.value = new Map([...this.drafts.peek()].filter(([one]) => one !== place));
  }

  /**
   * Send the draft at a place, and drop it if it was accepted. A text that the user has typed meanwhile stays. Returns
   * whether nothing is left.
   */
  async send(place: string, submit: () => Promise<boolean>): Promise<boolean> {
    const sent = this.drafts.peek().get(place);
    if (!(await submit())) return false;
    this.attempts.delete(place);
    const isLast = this.drafts.peek().get(place) === sent;
    if (isLast) this.drop(place);
    return isLast;
  }

  /** The key under which this content is sent: the same for a repeated attempt, which then takes effect once. */
  keyOf(place: string, content: string): string {
    const before = this.attempts.get(place);
    if (before?.content === content) return before.key;
    const key = crypto.randomUUID();
    this.attempts.set(place, { content, key });
    return key;
  }
}

/** What belongs to one user in this tab: the drafts by project, and the changes that were refused too late. */
export class UserDrafts {
  readonly unwritten = new Unwritten();
  private readonly byProject = new Map<string, CommentDrafts>();

  get isEmpty(): boolean {
    return this.unwritten.isEmpty && [...this.byProject.values()].every((drafts) => drafts.isEmpty);
  }

  of(project: string): CommentDrafts {
    const drafts = this.byProject.get(project) ?? new CommentDrafts();
    this.byProject.set(project, drafts);
    return drafts;
  }
}
