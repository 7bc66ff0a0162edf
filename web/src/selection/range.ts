/** Rectangles of cells, and how keys and the mouse change them. Rows and columns are numbers of the screen. Pure. */

export interface Cell {
  readonly row: number;
  readonly column: number;
}

/** The selection: from the cell in focus to the one that the mouse or Shift has reached, and the ranges before it. */
export interface Selection {
  readonly anchor: Cell;
  readonly reach: Cell;
  /** The ranges to which this one was added. They may overlap. */
  readonly others?: readonly Rectangle[];
}

/** What a press selects: only its cells, also those between them and the selection, or also the selection. */
export type Choosing = 'only' | 'extend' | 'add';

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

/** All ranges, the latest last. */
export function rectanglesOf(selection: Selection): readonly Rectangle[] {
  return [...(selection.others ?? []), rectangleOf(selection)];
}

/** One more range, which begins at a cell. */
export function withCell(selection: Selection, cell: Cell): Selection {
  return { ...at(cell), others: rectanglesOf(selection) };
}

/** The selection after its rows have moved. */
export function withRows({ anchor, reach, others }: Selection, to: (row: number) => number): Selection {
  const moved = (cell: Cell): Cell => ({ ...cell, row: to(cell.row) });
  return {
    anchor: moved(anchor),
    reach: moved(reach),
    ...(others && {
      others: others.map(({ top, bottom, ...columns }) => ({ ...columns, top: Math.min(to(top), to(bottom)), bottom: Math.max(to(top), to(bottom)) })),
    }),
  };
}

/**
 * The selection after its columns have moved or are hidden: it stays on its fields. Of a range whose fields are no longer
 * side by side, only the column of the anchor stays. Without that one, the cell is selected that is in its place.
 * `fields`: the ids of the columns.
 */
export function withColumns(selection: Selection, before: readonly string[], fields: readonly string[]): Selection {
  if (before.length === fields.length && before.every((field, column) => field === fields[column])) return selection;
  const { anchor, reach, others } = selection;
  const to = (column: number) => fields.indexOf(before[column] ?? '');
  const column = to(anchor.column);
  if (column < 0) return at({ row: anchor.row, column: bounded(anchor.column, fields.length) });
  const range = columnsNow(rectangleOf(selection), to);
  const isAtEdge = range?.left === column || range?.right === column;
  const end = range && isAtEdge ? range.left + range.right - column : column;
  return {
    anchor: { ...anchor, column },
    reach: { ...reach, column: end },
    ...(others && { others: others.flatMap((other) => columnsNow(other, to) ?? []) }),
  };
}

/** A range where its columns are now; null if they are not side by side. Those without a place (-1) are left out. */
function columnsNow({ left, right, ...rows }: Rectangle, to: (column: number) => number): Rectangle | null {
  const columns = Array.from({ length: right - left + 1 }, (_, place) => to(left + place)).filter((column) => column >= 0);
  const range = { ...rows, left: Math.min(...columns), right: Math.max(...columns) };
  return range.right - range.left + 1 === columns.length ? range : null;
}

/** Rows from one to another, both included. */
export interface Rows {
  readonly first: number;
  readonly last: number;
}

/** The rows of some ranges, ascending. No row is in two of them. */
export function rowsOf(ranges: readonly Rectangle[]): readonly Rows[] {
  const rows: Rows[] = [];
  for (const { top, bottom } of ranges.toSorted((a, b) => a.top - b.top)) {
    const before = rows.at(-1);
    if (before && top <= before.last + 1) rows[rows.length - 1] = { first: before.first, last: Math.max(before.last, bottom) };
    else rows.push({ first: top, last: bottom });
  }
  return rows;
}

export function rowCount(rows: readonly Rows[]): number {
  return rows.reduce((sum, { first, last }) => sum + last - first + 1, 0);
}

/** The number of cells in some ranges. A cell in several of them counts once. */
export function cellsIn(ranges: readonly Rectangle[]): number {
  const edges = [...new Set(ranges.flatMap(({ left, right }) => [left, right + 1]))].sort((a, b) => a - b);
  return edges.reduce((sum, edge, place) => {
    const width = (edges[place + 1] ?? edge) - edge;
    return sum + width * rowCount(rowsOf(ranges.filter(({ left, right }) => left <= edge && right >= edge)));
  }, 0);
}

/** Rows and columns whose cells are one block. */
export interface Joined {
  readonly rows: readonly Rows[];
  /** Ascending. */
  readonly columns: readonly number[];
}

/** The ranges as one block, which they are if all have the same rows, or all the same columns; otherwise null. */
export function joinedOf(ranges: readonly Rectangle[]): Joined | null {
  const [first] = ranges;
  if (!first) return null;
  const isBeside = ranges.every(({ top, bottom }) => top === first.top && bottom === first.bottom);
  const isBelow = ranges.every(({ left, right }) => left === first.left && right === first.right);
  if (!isBeside && !isBelow) return null;
  const columns = new Set(ranges.flatMap(({ left, right }) => Array.from({ length: right - left + 1 }, (_, place) => left + place)));
  return { rows: rowsOf(ranges), columns: [...columns].sort((a, b) => a - b) };
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
export function extended(selection: Selection, step: Step, { rows, columns }: Size, far = false): Selection {
  const { reach } = selection;
  const by = far ? Math.max(rows, columns) : 1;
  const row = reach.row + (step === 'down' ? by : step === 'up' ? -by : 0);
  const column = reach.column + (step === 'right' ? by : step === 'left' ? -by : 0);
  return { ...selection, reach: { row: bounded(row, rows), column: bounded(column, columns) } };
}

export function wholeRows(selection: Selection, { columns }: Size): Selection {
  return { ...selection, anchor: { ...selection.anchor, column: 0 }, reach: { ...selection.reach, column: columns - 1 } };
}

/** A whole column; with `from`, also the columns between it and the anchor of that selection. */
export function wholeColumn(column: number, { rows }: Size, from: Selection | null = null): Selection {
  return { anchor: { row: 0, column: from?.anchor.column ?? column }, reach: { row: rows - 1, column } };
}

/** Whether a selection is whole columns, of several rows. */
export function isWholeColumns(selection: Selection, size: Size): boolean {
  return coversColumns(rectangleOf(selection), size);
}

/** Whether a range is whole columns, of several rows. */
export function coversColumns({ top, bottom }: Rectangle, { rows }: Size): boolean {
  return rows > 1 && top === 0 && bottom === rows - 1;
}

export function wholeColumns(selection: Selection, { rows }: Size): Selection {
  return { ...selection, anchor: { ...selection.anchor, row: 0 }, reach: { ...selection.reach, row: rows - 1 } };
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
