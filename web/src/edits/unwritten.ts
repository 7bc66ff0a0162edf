/**
 * What the API refuses after its project was closed, when no cell on the screen can show it. It stays until the user
 * dismisses it, so that no typed text is lost without a word.
 */
import { computed, signal } from '@preact/signals';
import { formatValue } from '../cells/format';
import { textOf } from '../cells/text';
import type { Field } from '../fields/fields';
import { isDraft, type CellValue } from '../fields/values';
import { words } from '../words';
import type { Kept } from './change';
import type { Editor } from './editor';
import { whyRefused } from './faults';
import type { Mark, Marks } from './marks';

export interface UnwrittenText {
  /** The names of the project and of the field; no field for a whole issue. */
  readonly project: string;
  readonly field: string | null;
  /** The number of the issue; null for a new one. */
  readonly num: number | null;
  readonly text: string;
  readonly reason: string;
}

/** A project that was closed. */
interface Closed {
  readonly project: string;
  readonly fields: readonly Field[];
  readonly editor: Editor;
  /** What the user has seen of it. */
  readonly marks: Marks;
  readonly refused: number;
}

export class Unwritten {
  private readonly closed = signal<readonly Closed[]>([]);
  readonly texts = computed(() => this.closed.value.flatMap(textsOf));

  get isEmpty(): boolean {
    return !this.texts.peek().length;
  }

  /** A project is being closed. From now on its refusals are listed here. */
  follow(project: string, fields: readonly Field[], editor: Editor): void {
    const others = this.closed.peek().filter((one) => !one.editor.isIdle || textsOf(one).length);
    this.closed.value = [...others, seen({ project, fields, editor })];
  }

  /** The user has read them. Later ones are still listed. */
  dismiss(): void {
    this.closed.value = this.closed.peek().filter(({ editor }) => !editor.isIdle).map(seen);
  }
}

function seen({ project, fields, editor }: Pick<Closed, 'project' | 'fields' | 'editor'>): Closed {
  return { project, fields, editor, marks: editor.marks.peek(), refused: editor.refusedIssues.peek().length };
}

function textsOf({ project, fields, editor, marks, refused }: Closed): readonly UnwrittenText[] {
  const edits = [...editor.marks.value].flatMap(([key, mark]) => {
    const [num, id = ''] = key.split('/');
    const field = fields.find((one) => one.id === id);
    const lost = field && mark !== marks.get(key) ? lostBy(mark, field) : null;
    // The values of a draft are listed with its issue.
    return field && lost && !isDraft(Number(num)) ? [{ project, field: field.name, num: Number(num), ...lost }] : [];
  });
  const issues = editor.refusedIssues.value.slice(refused).map(({ issue, problem }) => {
    return { project, field: null, num: issue.num || null, text: contentOf(issue, fields), reason: whyRefused(problem, fields) };
  });
  return [...edits, ...issues];
}

function lostBy(mark: Mark, field: Field): Pick<UnwrittenText, 'text' | 'reason'> | null {
  if (mark.kind === 'refused') return { text: mark.text, reason: mark.message };
  if (mark.kind !== 'conflict') return null;
  const theirs = mark.theirs === null ? words.cell.empty : formatValue(field, mark.theirs);
  return { text: textOf(field.type, mark.yours), reason: words.unwritten.changed(theirs, mark.by) };
}

/** The values of an issue in the order of the fields, as one text. */
function contentOf({ body }: Kept, fields: readonly Field[]): string {
  const values = { ...body, ...(body['fields'] as object | undefined) } as Readonly<Record<string, CellValue | undefined>>;
  return fields.map(({ id, type }) => textOf(type, values[id] ?? null)).filter(Boolean).join(', ');
}
