/**
 * Reports to the owner which cell has the focus, immediately. The library's own event comes later, and keys may come
 * between.
 */
import type { Cell } from '../../selection/range';
import type { GridOwner } from '../grid';

export interface Focus {
  /** Report a cell that has the focus or is about to get it. */
  readonly report: (cell: Cell) => void;
  /** Remember a cell that is about to get the focus, without a report. */
  readonly know: (cell: Cell) => void;
  /** The selection has left the cell that had the focus: it is reported again when it gets that next. */
  readonly forget: () => void;
  readonly stop: () => void;
}

export function followFocus(host: HTMLElement, cellOf: (element: Element) => Cell | null, owner: GridOwner): Focus {
  let reported: Cell | null = null;
  const report = (cell: Cell) => {
    reported = cell;
    owner.focused(cell);
  };
  const moved = ({ target }: FocusEvent) => {
    const cell = target instanceof Element ? cellOf(target) : null;
    // The focus returns to its cell when an editor or a menu closes, and when the cell is drawn again. A range from it
    // stays.
    if (cell && !(reported?.row === cell.row && reported.column === cell.column)) report(cell);
  };
  host.addEventListener('focusin', moved);
  return { report, know: (cell) => (reported = cell), forget: () => (reported = null), stop: () => host.removeEventListener('focusin', moved) };
}
