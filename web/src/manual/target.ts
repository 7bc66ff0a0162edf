/** Where rows of the grid go if they are dropped at an edge of a row of the screen. Pure. */
import type { Anchor } from '../edits/placing';
import type { Group } from '../rows/layout';
import type { Slot } from '../rows/store';

/** An edge of a row of the screen. */
export interface Edge {
  readonly row: number;
  readonly side: 'before' | 'after';
}


/** The content of the rows, and the innermost group that each is in. */
export interface Screen {
  readonly at: (row: number) => Slot;
  readonly groupOf: (row: number) => Group | null;
  /** Whether a row is an issue that has its place. */
  readonly isPlaced: (row: number) => boolean;
}

/** The edge of an issue where dropped rows go. Null where nothing can be placed: beside a closed group, or a row that is not loaded. */
export function targetAt({ row, side }: Edge, { at, isPlaced }: Screen): Edge | null {
  const slot = at(row);
  if (slot.kind === 'issue') return isPlaced(row) ? { row, side } : null;
  if (slot.kind !== 'group') return null;
  // The head of a group: below it is the first row of the group, and above it the last row of the group before.
  const next = side === 'after' ? row + 1 : row - 1;
  if (!isPlaced(next)) return null;
  return { row: next, side: side === 'after' ? 'before' : 'after' };
}

/** The edge one row further; null at the end. Between groups, the next one follows its last row. */
export function targetBeyond(rows: { readonly first: number; readonly last: number }, by: -1 | 1, screen: Screen): Edge | null {
  const next = by > 0 ? rows.last + 1 : rows.first - 1;
  const side = by > 0 ? 'after' : 'before';
  const slot = screen.at(next);
  if (slot.kind !== 'group') return targetAt({ row: next, side }, screen);
  // Into the group of that head, or into the one above it; heads of outer groups have others below them.
  for (let row = next; screen.at(row).kind === 'group'; row += by) {
    const target = targetAt({ row, side }, screen);
    if (target) return target;
  }
  return null;
}

/** The anchor at an edge that is none of the rows which move there; null if all rows of its group do. */
export function anchorClearOf({ row, side: wanted }: Edge, moving: ReadonlySet<number>, screen: Screen): Anchor | null {
  const group = screen.groupOf(row)?.key;
  for (const [side, by] of wanted === 'after' ? ([['after', -1], ['before', 1]] as const) : ([['before', 1], ['after', -1]] as const)) {
    for (let at = row; screen.isPlaced(at) && screen.groupOf(at)?.key === group; at += by) {
      const slot = screen.at(at);
      if (slot.kind === 'issue' && !moving.has(slot.row.num)) return side === 'before' ? { before: slot.row.num } : { after: slot.row.num };
    }
  }
  return null;
}
