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

interface FocusOptions {
  readonly host: HTMLElement;
  readonly owner: GridOwner;
  readonly cellOf: (element: Element) => Cell | null;
  /** The id of the field of a column: columns move. */
  readonly fieldAt: (column: number) => string;
  /** Give the focus to a cell. */
  readonly lead: (cell: Cell) => void;
}

export function followFocus({ host, owner, cellOf, fieldAt, lead }: FocusOptions): Focus {
  let known: { readonly row: number; readonly field: string } | null = null;
  const know = ({ row, column }: Cell) => {
    known = { row, field: fieldAt(column) };
  };
  const report = (cell: Cell) => {
    know(cell);
    owner.focused(cell);
  };
  const moved = ({ target }: FocusEvent) => {
    const cell = target instanceof Element ? cellOf(target) : null;
    if (!cell) return;
    if (known?.row !== cell.row || known.field !== fieldAt(cell.column)) {
      report(cell);
      return;
    }
    // The focus returns to its cell when an editor, a menu or a panel closes, and when the cell is drawn again. A range
    // from it stays. If the selection has left it meanwhile, such as by a step of the panel, the focus follows.
    const anchor = owner.anchor();
    if (anchor && !owner.isSelected(cell)) lead(anchor);
  };
  host.addEventListener('focusin', moved);
  return { report, know, forget: () => (known = null), stop: () => host.removeEventListener('focusin', moved) };
}
