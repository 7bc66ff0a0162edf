/** Rows as JSON. Pure. */
import { formatJsonLines } from '../api/json';
import type { Field } from '../fields/fields';
import { valueOf, type Row } from '../fields/values';
import { headersOf } from './write';

/** The rows by the names of their fields. Names that several fields have get ids, as in CSV. */
export function jsonOf(fields: readonly Field[], rows: readonly Row[]): string {
  const names = headersOf(fields);
  return formatJsonLines(rows.map((row) => Object.fromEntries(fields.map(({ id }, at) => [names[at] ?? id, valueOf(row, id)]))));
}
