/**
 * The grid as the rest of the page knows it. The library is hidden by this interface, in `ag/`; nothing else imports
 * it.
 *
 * Rows are numbers: the row of the screen, from 0. The grid asks its owner (`at`) for the content of a row each time it
 * is drawn.
 */
import type { SortKey } from '../api/types';
import type { OpenCell } from '../cells/editors/editor';
import type { Field } from '../fields/fields';
import type { Point } from '../place';
import type { StickyHead } from '../rows/sticky';
import type { Range, Slot } from '../rows/store';
import type { RowHeight } from '../view/view';
import type { Edge } from '../manual/target';
import type { Cell, Choosing } from '../selection/range';

export interface GridColumn {
  readonly field: Field;
  readonly width: number;
  /** Whether it stays at the left while the others scroll; `no-room`: it would, in a wider window. */
  readonly frozen: 'yes' | 'no' | 'no-room';
  /** How the grid is sorted by this column; the rank is given where there are several keys. */
  readonly sort: { readonly direction: SortKey['direction']; readonly rank: number | null } | null;
}

/** What the menu is about that a user asks for. Rows are those of the screen. */
export type Context =
  | { readonly kind: 'cell'; readonly cell: Cell }
  | { readonly kind: 'row'; readonly row: number }
  | { readonly kind: 'group'; readonly row: number }
  | { readonly kind: 'head'; readonly field: string };

/** The questions and events of the grid to its owner. */
export interface GridOwner {
  at(index: number): Slot;
  /** Names that `styles/grid.css` gives a look. All begin with `is-`. */
  rowClasses(index: number): readonly string[];
  cellClasses(index: number, field: string): readonly string[];
  /** The note on a cell, such as why a value was refused; empty for none. */
  note(index: number, field: string): string;
  /** Draw the label of a group's head into its gutter, which is `gutter` pixels wide. */
  drawHead(index: number, element: HTMLElement, gutter: number): void;
  /** Draw the figures of a group below the head of a column, if they are not in the label. */
  drawFigures(index: number, field: string, element: HTMLElement, gutter: number): void;
  /** The heads that stay at the top if this row, with a fraction, is the first in view; at most `max`. */
  stickyHeads(top: number, max: number): readonly StickyHead[];
  /** How many of them, at most `max`, cover the view above a row. */
  headsAbove(index: number, max: number): number;
  /** Open or close the group of a head. */
  toggle(index: number): void;
  /** Start an issue with the values of the group of a head. */
  addIn(index: number): void;
  /** Draw the summary of a column. */
  drawFooter(field: string, element: HTMLElement): void;
  openFooter(field: string, anchor: HTMLElement): void;
  /** These rows are drawn. */
  show(range: Range): void;

  /** Open the menu of something: beside its element, or at a point from the upper left corner of that. */
  openContext(context: Context, anchor: HTMLElement, at: Point | null): void;

  sort(field: string, add: boolean): void;
  /** The head of a column was chosen: only it, also the columns between it and the selected ones, or also those. */
  selectColumn(field: string, how: Choosing): void;
  /** Whether a head is of the selected columns. */
  isChosen(field: string): boolean;
  resize(field: string, width: number): void;
  /** A column was dragged before another, or to the end. */
  move(field: string, before: string | null): void;

  /** A user asks for the form of a new field. */
  addField(): void;

  isChecked(index: number): boolean;
  /** Which of the loaded issues are checked. */
  checkedAll(): 'all' | 'some' | 'none';
  /** The box of a row was clicked. `extend`: also the boxes from the last one on. */
  check(index: number, extend: boolean): void;
  checkAll(): void;
  /** Show all fields of the issue in a row. */
  expand(index: number): void;

  /** Whether the user may drag rows. */
  mayDrag(): boolean;
  /** A row is going to be dragged. Returns the text beside the pointer; null if it cannot be. */
  drag(index: number): string | null;
  /** The dragged rows are over an edge of a row. Returns the edge where they would go; null for none. */
  draggedOver(edge: Edge | null): Edge | null;
  /** The drag is over. `take`: move the rows. */
  dragged(take: boolean): void;

  mayEdit(index: number, field: string): boolean;
  /** An editor was asked for: report why a cell cannot be edited, if there is a reason. */
  refuseEdit(cell: Cell): void;
  /** Whether the user may add options to fields. */
  readonly mayCreateOptions: boolean;
  suggestUsers(prefix: string): Promise<readonly string[]>;
  /** An editor opens. */
  editing(index: number, field: string): OpenCell;
  /** The text that was refused in a cell, with which its editor begins; null for none. */
  refused(index: number, field: string): string | null;

  /** The focus moved to a cell. */
  focused(cell: Cell): void;
  /** The check box in a cell was clicked. */
  clicked(cell: Cell): void;
  /** The cell from which a range extends; null while none is selected. */
  anchor(): Cell | null;
  isSelected(cell: Cell): boolean;
  /** A pointer was dragged, or pressed with Shift, to a cell. `only`: the other ranges are not selected any more. */
  reached(cell: Cell, only?: boolean): void;
  /** A pointer was pressed on a cell with Ctrl: one more range begins there. */
  added(cell: Cell): void;
  /** A pointer was pressed on a cell without Ctrl: a single range begins there. */
  pressed(): void;
  /** The fill handle is being dragged to a cell. */
  filling(to: Cell): void;
  /** The drag of the fill handle is over. `take`: fill the cells that it reached. */
  filled(take: boolean): void;
  /** A key was pressed at a cell that is not being edited. Returns whether the owner has taken it. */
  key(event: KeyboardEvent): boolean;
}

export interface Grid {
  setColumns(columns: readonly GridColumn[]): void;
  setHeight(height: RowHeight): void;
  /** How many rows there are. */
  setLength(length: number): void;
  /** Whether rows can be dragged. */
  setDraggable(draggable: boolean): void;
  /** The result of `at` has changed: draw it. */
  refresh(): void;
  /** The content of `drawFooter` has changed. */
  refreshFooter(): void;
  /** The result of `rowClasses` and `cellClasses` has changed. */
  repaint(): void;
  /** The rows in view, and whether the first of them is the first of the grid. */
  inView(): Range & { readonly atTop: boolean };
  /** Rows were added or removed above: scroll by as many, and leave the focus, if it is in the grid, at this cell. */
  shift(rows: number, focus: Cell | null): void;
  /** Bring a cell into view. */
  reveal(cell: Cell): void;
  focus(cell: Cell): void;
  /** Edit a cell. Its place is asked for again until its row is drawn. */
  edit(place: () => Cell): void;
  /** The element of a cell that is drawn. */
  elementOf(cell: Cell): HTMLElement | null;
  /** The head of a column that is shown. */
  headOf(field: string): HTMLElement | null;
  /** Pixels. */
  width(): number;
  /** Make a column as wide as its drawn content. */
  fit(field: string): void;
  destroy(): void;
}
