/** Values as cells of CSV. Pure. */
import { guarded, quoted } from '../cells/guard';
import type { CellValue } from '../fields/values';

export const LIST_SEPARATOR = ';';

/** The text of a value that an import reads back: instants in UTC, all digits, options joined by semicolons. */
export function cellText(value: CellValue): string {
  if (value === null) return '';
  if (Array.isArray(value)) return value.map((item: string) => item.replace(/[\\;]/g, '\\$&')).join(LIST_SEPARATOR);
  return String(value);
}

/** A name that several fields of a file have, with the id that distinguishes them. */
export function nameWithId(name: string, id: string): string {
  return `${name} (${id})`;
}

/** The headers of the columns of some fields, each different. */
export function headersOf(fields: readonly { readonly id: string; readonly name: string }[]): readonly string[] {
  const found: string[] = [];
  for (const { id, name } of fields) {
    let header = fields.some((other) => other.id !== id && other.name === name) ? nameWithId(name, id) : name;
    // A field may be named like another one with its id. The API's exports do the same.
    while (found.includes(header)) header += '_';
    found.push(header);
  }
  return found;
}

/** A line of CSV. `raw` does not guard cells that look like formulas. */
export function csvLine(cells: readonly string[], { raw }: { readonly raw: boolean }): string {
  const texts = raw ? cells : cells.map(guarded);
  // An empty line would be no row.
  return texts.length === 1 && texts[0] === '' ? '""\r\n' : `${texts.map(quoted).join(',')}\r\n`;
}
