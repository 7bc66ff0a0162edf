/** Computed fields: what decides their values, and whether a row has their present values. Pure. */
import type { Field } from './fields';
import { sameValue, valueOf, type Row } from './values';

/** Fields that any change of an issue sets. */
const SET_BY_CHANGES: ReadonlySet<string> = new Set(['updated', 'updated_by']);

/** These fields, and all that the computed ones among them read, directly or through other formulas. */
export function withInputs(ids: Iterable<string>, fields: readonly Field[]): ReadonlySet<string> {
  const uses = new Map(fields.map((field) => [field.id, field.uses]));
  const found = new Set(ids);
  // A set yields what is added while it is walked.
  for (const id of found) for (const input of uses.get(id) ?? []) found.add(input);
  return found;
}

/** Whether an edit of a field changes any of these: it also sets who made it, and when. */
export function touches(field: string, fields: ReadonlySet<string>): boolean {
  return fields.has(field) || [...SET_BY_CHANGES].some((id) => fields.has(id));
}

/** The inputs of each computed field: the fields with values of their own that decide its value. */
export type Inputs = ReadonlyMap<string, readonly string[]>;

export function inputsOf(fields: readonly Field[]): Inputs {
  const computed = new Set(fields.flatMap(({ id, formula }) => (formula === null ? [] : [id])));
  return new Map([...computed].map((id) => [id, [...withInputs([id], fields)].filter((one) => !computed.has(one))]));
}

/** Whether the value of a field in a row was computed from other inputs than the row has now. */
export function isOutdated(row: Row, field: string, inputs: Inputs): boolean {
  const read = inputs.get(field);
  if (!read) return false;
  const { computedFrom: from } = row;
  if (!from) return true;
  return read.some((id) => (SET_BY_CHANGES.has(id) && row.version > from.version) || !sameValue(valueOf(row, id), valueOf(from, id)));
}

/** A row with the computed values of these fields from a later read of it. Values of its own stay. */
export function withComputed(row: Row, read: Row, fields: Iterable<string>): Row {
  if (read.version < row.version || read.version < (row.computedFrom?.version ?? 0)) return row;
  const values = Object.fromEntries([...fields].map((id) => [id, valueOf(read, id)]));
  return {
    ...row,
    values: { ...row.values, ...values },
    unavailable: read.unavailable,
    computedFrom: { version: read.version, values: read.values },
  };
}
