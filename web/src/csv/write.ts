/** Values as cells of CSV. Pure. */
import type { CellValue } from '../fields/values';

/** Spreadsheets take a cell that begins so for a formula, and run it. */
const FORMULA = /^[=+\-@\t\r]/;
/** A number needs no guarding, also below zero. */
const NUMBER = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i;

export const LIST_SEPARATOR = ';';

/** The text of a value that an import takes back: instants in UTC, all digits, options joined by semicolons. */
export function cellText(value: CellValue): string {
  if (value === null) return '';
  if (Array.isArray(value)) return value.map((item: string) => item.replace(/[\\;]/g, '\\$&')).join(LIST_SEPARATOR);
  return String(value);
}

/** A line of CSV. `raw` leaves cells that look like formulas as they are. */
export function csvLine(cells: readonly string[], { raw }: { readonly raw: boolean }): string {
  return `${cells.map((cell) => quoted(raw || NUMBER.test(cell) ? cell : neutral(cell))).join(',')}\r\n`;
}

function neutral(cell: string): string {
  return FORMULA.test(cell) ? `'${cell}` : cell;
}

function quoted(cell: string): string {
  return /[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
