/** The texts of manual orders, which load with the rows. */
import { words } from '../words';

const rowsOf = (rows: number) => `${words.count(rows)} ${rows === 1 ? 'row' : 'rows'}`;
/** One row by its name, several by their number. */
const what = (name: string, rows: number) => (rows === 1 ? `“${name}”` : rowsOf(rows));

export const manualWords = {
  rows: rowsOf,
  move: {
    up: (several: string) => `Move ${several && `${several} `}up`,
    down: (several: string) => `Move ${several && `${several} `}down`,
  },
  keys: { up: 'Alt+↑', down: 'Alt+↓' },
  moved: (name: string, rows: number, to: number, group: string) => `Moved ${what(name, rows)} to row ${words.count(to)}${group && ` in ${group}`}.`,
  stays: (name: string, rows: number) => `Cancelled. ${what(name, rows)} ${rows === 1 ? 'stays' : 'stay'} in place.`,
  atEnd: 'The rows are at the end already.',
  atStart: 'The rows are at the beginning already.',
  tooMany: (most: number) => `At most ${rowsOf(most)} move at once. Select fewer.`,
  noValue: (group: string) => `Rows cannot be moved into ${group}: its group has no single value. Edit the value instead.`,
  gone: 'The row beside it was deleted meanwhile. All rows are back in their places.',
  building: 'The order is being built or rebalanced. All rows are back in their places. Try again in a minute.',
  refused: (reason: string) => `The rows are back in their places. ${reason}`,
} as const;
