/** The columns of the grid that are no fields: the gutter before all others, and the place for a new field after them. */

/** Ids that no field can have. */
export const GUTTER = '#gutter';
export const ADD = '#add';

export const GUTTER_WIDTH = 68;
export const ADD_WIDTH = 40;

export function isField(column: string): boolean {
  return column !== GUTTER && column !== ADD;
}
