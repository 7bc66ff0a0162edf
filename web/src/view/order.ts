/** Decides whether a row is still in its place in the sort. Pure. */
import type { SortKey } from '../api/types';
import type { Field } from '../fields/fields';
import { caseFolded } from '../fields/case-fold';
import { valueOf, type CellValue, type Row } from '../fields/values';

/** Negative where the first row comes before the second; never zero for two issues. */
export function compareRows(a: Row, b: Row, sort: readonly SortKey[], fields: readonly Field[]): number {
  for (const { field: id, direction, nulls } of sort) {
    const field = fields.find((one) => one.id === id);
    if (!field) continue;
    const [left, right] = [valueOf(a, id), valueOf(b, id)];
    if (left === null || right === null) {
      if (left === right) continue;
      return (left === null) === (nulls === 'first') ? -1 : 1;
    }
    const order = compareValues(field, left, right);
    if (order !== 0) return direction === 'desc' ? -order : order;
  }
  return sort.at(-1)?.direction === 'desc' ? b.num - a.num : a.num - b.num;
}

/** As `compareRows`, by the keys of a manual order; issues without one, such as new ones, are behind the others. */
export function compareKeys(a: Row, b: Row): number {
  if (a.key === undefined || b.key === undefined || a.key === b.key) return Number(a.key === undefined) - Number(b.key === undefined) || a.num - b.num;
  return a.key < b.key ? -1 : 1;
}

function compareValues(field: Field, a: NonNullable<CellValue>, b: NonNullable<CellValue>): number {
  switch (field.type) {
    case 'number':
      return compareDecimals(String(a), String(b));
    case 'bool':
      return Number(a) - Number(b);
    case 'enum':
      return place(field, a) - place(field, b);
    case 'multi_enum':
      return compareLists((a as readonly string[]).map((one) => place(field, one)), (b as readonly string[]).map((one) => place(field, one)));
    case 'datetime':
      // The Z would sort a part of a second before the second itself.
      return compareText(String(a).replace('Z', ''), String(b).replace('Z', ''));
    case 'date':
      return compareText(String(a), String(b));
    case 'text':
    case 'user':
      return compareText(caseFolded(String(a)), caseFolded(String(b)));
  }
}

/** Compares decimals of any length: doubles distinguish most of them, and digits the rest. */
function compareDecimals(a: string, b: string): number {
  const rough = Number(a) - Number(b);
  if (rough !== 0 || a === b) return rough;
  return a.startsWith('-') ? compareText(b, a) : compareText(a, b);
}

function compareLists(a: readonly number[], b: readonly number[]): number {
  const differing = a.findIndex((one, index) => one !== b[index]);
  return differing < 0 ? a.length - b.length : (a[differing] ?? 0) - (b[differing] ?? -1);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function place(field: Field, value: CellValue): number {
  return field.options.findIndex((option) => option.value === value);
}
