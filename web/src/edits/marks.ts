/** Marks of a cell: it is being written, was refused, or someone else changed it meanwhile. */
import type { CellValue } from '../fields/values';
import { words } from '../words';

export type Mark =
  | { readonly kind: 'pending' }
  /** Someone else has changed the cell while it is being edited. */
  | { readonly kind: 'changed'; readonly by: string | null }
  /** The text that was typed, and why it was not taken. */
  | { readonly kind: 'refused'; readonly text: string; readonly message: string }
  /** The user who has changed the cell is unknown (`by` is null) if the page found out before it wrote. */
  | { readonly kind: 'conflict'; readonly yours: CellValue; readonly theirs: CellValue; readonly version: number; readonly by: string | null };

/** The text about a cell with this mark; empty for none. */
export function noteOf(mark: Mark | undefined): string {
  if (mark?.kind === 'refused') return mark.text ? `${mark.text}: ${mark.message}` : mark.message;
  if (mark?.kind === 'changed') return words.live.editing(mark.by);
  return mark?.kind === 'conflict' ? words.conflict.title : '';
}

/** The text that was refused, in the form in which it is edited; null for none. */
export function refusedText(mark: Mark | undefined): string | null {
  return mark?.kind === 'refused' && mark.text ? mark.text : null;
}

export type Marks = ReadonlyMap<string, Mark>;

export function keyOf(num: number, field: string): string {
  return `${num}/${field}`;
}

/** A cell whose text was refused, and the reason. */
export interface RefusedCell {
  readonly num: number;
  readonly field: string;
  readonly note: string;
}

/** The cells whose texts were refused. */
export function refusedIn(marks: Marks): RefusedCell[] {
  return [...marks].flatMap(([key, mark]) => {
    const [num, field = ''] = key.split('/');
    return mark.kind === 'refused' ? [{ num: Number(num), field, note: noteOf(mark) }] : [];
  });
}

/** The marks with others set, or taken away. */
export function marked(marks: Marks, cells: Iterable<{ readonly num: number; readonly field: string }>, mark: Mark | null): Marks {
  const next = new Map(marks);
  for (const { num, field } of cells) {
    if (mark) next.set(keyOf(num, field), mark);
    else next.delete(keyOf(num, field));
  }
  return next;
}
