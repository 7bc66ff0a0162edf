/** Rows with the values of edits and of answers. Pure. */
import type { CellValue, Row } from '../fields/values';
import type { CellEdit } from './change';

/** A row with the values that the API now has. A field that it does not have is empty. */
export function merged(row: Row, current: Row): Row {
  const cleared = Object.fromEntries(Object.keys(row.values).map((field) => [field, null]));
  return { ...row, unavailable: undefined, ...current, values: { ...cleared, ...current.values } };
}

/** The later state of an issue: an answer of the API, or the one that a row was last read in. */
export function laterOf(answer: Row, row: Row | undefined): Row {
  const read = row?.computedFrom;
  return row && read && read.version > answer.version ? { ...row, version: read.version, values: read.values } : answer;
}

/** A row with the values of an answer, unless it has a later version. */
export function withAnswer(row: Row, answer: Row): Row {
  return row.version > answer.version ? row : merged(row, answer);
}

/** The versions of rows, by number. */
export function versionsOf(rows: readonly Row[]): ReadonlyMap<number, number> {
  return new Map(rows.map(({ num, version }) => [num, version]));
}

/** A row with the values that edits give it. */
export function withEdits(row: Row, edits: readonly CellEdit[]): Row {
  const values: Record<string, CellValue> = Object.fromEntries(edits.map(({ field, after }) => [field, after]));
  return { ...row, values: { ...row.values, ...values } };
}
