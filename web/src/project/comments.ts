/** The comments on an issue, read, created, changed and deleted. */
import { signal } from '@preact/signals';
import type { Api } from '../api/client';
import { isAbort } from '../api/problem';
import type { IssueComment } from '../api/types';
import { Changing } from './changing';
import { Fresh } from './fresh';

const PAGE = 100;

export class Comments {
  /** In the order of their creation; null before they are loaded. */
  readonly list = signal<readonly IssueComment[] | null>(null);
  /** Whether there are more after them. */
  readonly more = signal(false);
  /** Why they could not be read. */
  readonly error = signal<unknown>(null);
  private readonly changing = new Changing(() => this.load());
  readonly refusal = this.changing.refusal;
  readonly busy = this.changing.busy;
  private cursor: string | null = null;
  private readonly closed = new AbortController();
  private readonly fresh = new Fresh();

  constructor(
    private readonly api: Api,
    private readonly project: string,
    readonly num: number,
  ) {}

  /** Read them from the beginning. */
  async load(): Promise<void> {
    await this.read(null);
  }

  /** Read the next ones too. */
  async next(): Promise<void> {
    await this.read(this.cursor);
  }

  /** Add a comment. `key` is the same for a repeated attempt. */
  async add(text: string, mentions: readonly string[], key: string): Promise<boolean> {
    return this.alone(async () => {
      const { body } = await this.fresh.change(() =>
        this.api.call('POST', '/v1/projects/{project}/issues/{num}/comments', {
          path: this.path,
          body: { text, mentions: [...mentions] },
          headers: { 'Idempotency-Key': key },
        }),
      );
      // If some comments are not read yet, the new one comes after them.
      if (!this.more.peek()) this.show([...this.others(body), body]);
    });
  }

  async change(comment: IssueComment, text: string, mentions: readonly string[]): Promise<boolean> {
    return this.alone(async () => {
      const { body } = await this.fresh.change(() =>
        this.api.call('PATCH', '/v1/projects/{project}/issues/{num}/comments/{comment}', {
          path: { ...this.path, comment: comment.id },
          body: { text, mentions: [...mentions] },
          headers: { 'If-Match': `"${comment.version}"` },
        }),
      );
      this.show([...this.others(body), body]);
    });
  }

  async remove(comment: IssueComment): Promise<boolean> {
    return this.alone(async () => {
      await this.fresh.change(() =>
        this.api.call('DELETE', '/v1/projects/{project}/issues/{num}/comments/{comment}', {
          path: { ...this.path, comment: comment.id },
          headers: { 'If-Match': `"${comment.version}"` },
        }),
      );
      this.show(this.others(comment));
    });
  }

  /** A change names the version on the screen, which another one on its way makes outdated. */
  private async alone(change: () => Promise<unknown>): Promise<boolean> {
    return !this.busy.peek() && this.changing.make(change);
  }

  close(): void {
    this.closed.abort();
  }

  private get path() {
    return { project: this.project, num: this.num };
  }

  private others({ id }: IssueComment): readonly IssueComment[] {
    return (this.list.peek() ?? []).filter((one) => one.id !== id);
  }

  private show(comments: readonly IssueComment[]): void {
    this.list.value = [...comments].sort((a, b) => a.id - b.id);
  }

  /** Read the first ones (null) or those after a cursor. */
  private async read(cursor: string | null): Promise<void> {
    this.error.value = null;
    const options = { path: this.path, query: { limit: PAGE, ...(cursor !== null && { cursor }) }, signal: this.closed.signal };
    try {
      const { body } = await this.fresh.read(() => this.api.call('GET', '/v1/projects/{project}/issues/{num}/comments', options));
      this.cursor = body.next;
      this.more.value = body.next !== null;
      const read = new Set(body.items.map(({ id }) => id));
      this.show([...(cursor === null ? [] : this.list.peek() ?? []).filter(({ id }) => !read.has(id)), ...body.items]);
    } catch (error) {
      if (!isAbort(error)) this.error.value = error;
    }
  }
}
