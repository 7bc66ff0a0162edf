/** A rectangle of cells, and how keys and the mouse change it. Rows and columns are numbers of the screen. Pure. */

export interface Cell {
  readonly row: number;
  readonly column: number;
}

/** The selection: from the cell in focus to the one that the mouse or Shift has reached. */
export interface Selection {
  readonly anchor: Cell;
  readonly reach: Cell;
}

export interface Rectangle {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

export function at(cell: Cell): Selection {
  return { anchor: cell, reach: cell };
}

export function rectangleOf({ anchor, reach }: Selection): Rectangle {
  return {
    top: Math.min(anchor.row, reach.row),
    bottom: Math.max(anchor.row, reach.row),
    left: Math.min(anchor.column, reach.column),
    right: Math.max(anchor.column, reach.column),
  };
}

export function cellCount({ top, bottom, left, right }: Rectangle): number {
  return (bottom - top + 1) * (right - left + 1);
}

export function contains({ top, bottom, left, right }: Rectangle, { row, column }: Cell): boolean {
  return row >= top && row <= bottom && column >= left && column <= right;
}

export interface Size {
  readonly rows: number;
  readonly columns: number;
}

export type Step = 'up' | 'down' | 'left' | 'right';

/** Reach one cell further, or as far as it goes. The anchor stays. */
export function extended({ anchor, reach }: Selection, step: Step, { rows, columns }: Size, far = false): Selection {
  const by = far ? Math.max(rows, columns) : 1;
  const row = reach.row + (step === 'down' ? by : step === 'up' ? -by : 0);
  const column = reach.column + (step === 'right' ? by : step === 'left' ? -by : 0);
  return { anchor, reach: { row: bounded(row, rows), column: bounded(column, columns) } };
}

export function wholeRows({ anchor, reach }: Selection, { columns }: Size): Selection {
  return { anchor: { ...anchor, column: 0 }, reach: { ...reach, column: columns - 1 } };
}

/** A whole column; with `from`, also the columns between it and the anchor of that selection. */
export function wholeColumn(column: number, { rows }: Size, from: Selection | null = null): Selection {
  return { anchor: { row: 0, column: from?.anchor.column ?? column }, reach: { row: rows - 1, column } };
}

/** Whether a selection is whole columns, of several rows. */
export function isWholeColumns(selection: Selection, { rows }: Size): boolean {
  const { top, bottom } = rectangleOf(selection);
  return rows > 1 && top === 0 && bottom === rows - 1;
}

export function wholeColumns({ anchor, reach }: Selection, { rows }: Size): Selection {
  return { anchor: { ...anchor, row: 0 }, reach: { ...reach, row: rows - 1 } };
}

export function everything({ rows, columns }: Size): Selection {
  return { anchor: { row: 0, column: 0 }, reach: { row: rows - 1, column: columns - 1 } };
}

/** The cells that dragging the fill handle to a cell covers: down or up, or sideways, whichever is further. */
export function filledTo(source: Rectangle, to: Cell): Rectangle {
  const down = to.row - source.bottom;
  const up = source.top - to.row;
  const right = to.column - source.right;
  const left = source.left - to.column;
  if (Math.max(down, up) >= Math.max(right, left)) {
    return down > 0 ? { ...source, bottom: to.row } : up > 0 ? { ...source, top: to.row } : source;
  }
  return right > 0 ? { ...source, right: to.column } : left > 0 ? { ...source, left: to.column } : source;
}

/** The cell whose value a filled cell takes over: the source is repeated in both directions. */
export function sourceOf(source: Rectangle, { row, column }: Cell): Cell {
  return {
    row: source.top + modulo(row - source.top, source.bottom - source.top + 1),
    column: source.left + modulo(column - source.left, source.right - source.left + 1),
  };
}

function modulo(number: number, by: number): number {
  return ((number % by) + by) % by;
}

function bounded(number: number, count: number): number {
  return Math.min(Math.max(0, number), Math.max(0, count - 1));
}
