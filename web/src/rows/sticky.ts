/** The heads of groups that stay at the top while the rows of their groups scroll. Pure. */
import type { Group, Layout } from './layout';

export interface StickyHead {
  readonly group: Group;
  /** The row of the screen where the head is. */
  readonly row: number;
  /** Its distance from the top, in rows. Less than its depth while the next head pushes it away. */
  readonly top: number;
}

/**
 * The heads over the rows at the top of the view, from the outermost on, but at most `max`. `top` is in rows, with
 * fractions. A head that is in its own place is none of them.
 */
export function stickyHeads(layout: Layout, top: number, max: number): readonly StickyHead[] {
  const found: StickyHead[] = [];
  for (let depth = 0; depth < max; depth += 1) {
    const at = top + depth;
    const over = layout.headsOver(Math.floor(at));
    const head = over[depth];
    // The row below the heads so far may be in the next group.
    if (!head || (depth > 0 && over[depth - 1]?.group !== found[depth - 1]?.group)) break;
    const place = Math.min(at, head.end - 1);
    if (place <= head.row) break;
    found.push({ group: head.group, row: head.row, top: place - top });
  }
  return found;
}

/** The number of heads that cover the first rows of the view if this row is the first one below them. */
export function headsAbove(layout: Layout, row: number, max: number): number {
  return Math.min(max, layout.headsOver(row).filter((head) => head.row < row).length);
}
