/**
 * The grid as the rest of the page knows it. The library stands behind this interface, in `ag/`; nothing else imports it.
 *
 * Rows are numbers: the row of the screen, from 0. What stands at a row is asked of the owner (`at`), each time it is drawn.
 */
import type { SortKey } from '../api/types';
import type { Field } from '../fields/fields';
import type { Range, Slot } from '../rows/store';
import type { RowHeight } from '../view/view';

export interface GridColumn {
  readonly field: Field;
  readonly width: number;
  readonly frozen: boolean;
  /** How the grid is sorted by this column; the rank is given where there are several keys. */
  readonly sort: { readonly direction: SortKey['direction']; readonly rank: number | null } | null;
}

/** What the grid asks of its owner, and tells it. */
export interface GridOwner {
  at(index: number): Slot;
  /** Names that `styles/grid.css` gives a look: of a row, and of a cell. */
  rowClasses(index: number): readonly string[];
  /** These rows are drawn. */
  show(range: Range): void;
  sort(field: string, add: boolean): void;
  openMenu(field: string, anchor: HTMLElement): void;
  resize(field: string, width: number): void;
  /** A column was dragged before another, or to the end. */
  move(field: string, before: string | null): void;
}

export interface Grid {
  setColumns(columns: readonly GridColumn[]): void;
  setHeight(height: RowHeight): void;
  /** How many rows there are. */
  setLength(length: number): void;
  /** What `at` answers has changed: draw it. */
  refresh(): void;
  scrollTo(index: number): void;
  destroy(): void;
}
