/** The issues before and after another one, in the rows of the screen. Pure. */
import type { Slot } from './store';

/** Heads of groups, and rows whose issue is gone, are no issues. */
const SKIPPED: ReadonlySet<Slot['kind']> = new Set(['group', 'gone']);

/** The row of the issue before (-1) or after (1) a row; undefined if there is none. */
export function neighbourRow(kindAt: (row: number) => Slot['kind'], length: number, row: number, by: -1 | 1): number | undefined {
  for (let at = row + by; at >= 0 && at < length; at += by) {
    if (!SKIPPED.has(kindAt(at))) return at;
  }
  return undefined;
}
