/** The room that the label of a group's head has before the figures in their columns. Pure. */

/** Pixels from the left edge. A label needs as many, so a figure in a column before them is part of the label. */
const LEAST = 220;

/** The part of the grid that a label may cover while figures scroll below it. */
const PART = 0.5;

export interface HeadRoom {
  /** Pixels. */
  readonly room: number;
  /** The fields whose figures are in the label. */
  readonly listed: ReadonlySet<string>;
}

interface Sized {
  readonly field: string;
  readonly width: number;
}

/** `before`: pixels before the first column. `columns`: in the order of the screen. `width`: pixels of the grid. */
export function headRoom(columns: readonly Sized[], figures: readonly { readonly field: string }[], before: number, width: number): HeadRoom {
  const withFigure = new Set(figures.map(({ field }) => field));
  // Figures of hidden columns have no other place.
  const listed = new Set([...withFigure].filter((field) => !columns.some((column) => column.field === field)));
  let left = before;
  for (const { field, width: own } of columns) {
    if (withFigure.has(field)) {
      if (left >= LEAST) return { room: Math.min(left, Math.max(LEAST, width * PART)), listed };
      listed.add(field);
    }
    left += own;
  }
  return { room: width, listed };
}
