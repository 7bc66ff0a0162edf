/** Changes of cells and of whole issues, as undo remembers them and as the API takes them. Pure. */
import type { ProblemDocument } from '../api/problem';
import type { GridRow } from '../api/types';
import { sameValue, type CellValue } from '../fields/values';
import type { Field } from '../fields/fields';
import { arrangedWith, unarranged, type Arrangement } from './placing';

export interface CellEdit {
  readonly num: number;
  readonly field: string;
  readonly before: CellValue;
  readonly after: CellValue;
}

/** The merge patch of some edits of one issue; also the body of a new one. */
export type Patch = Record<string, unknown>;

/**
 * A created or deleted issue, with the values to create it again. Number and version are 0 until the API assigns
 * them.
 */
export interface Kept {
  readonly num: number;
  readonly version: number;
  readonly body: Patch;
}

/** An issue that was not created or deleted, and why. */
export interface RefusedIssue {
  readonly issue: Kept;
  readonly problem: ProblemDocument;
}

export function newIssue(body: Patch): Kept {
  return { num: 0, version: 0, body };
}

/** One action of the user; it is undone as one. */
export interface Change {
  readonly edits: readonly CellEdit[];
  readonly made: readonly Kept[];
  readonly deleted: readonly Kept[];
  /** Rows that were placed in a manual order. */
  readonly places?: Arrangement;
  /** The id under which a change was written that only deleted issues. The API restores them by it. */
  readonly id?: string;
  /** The id under which jobs of the API write. */
  readonly job?: string;
  /** The id under which the API wrote an undo from a history, or its reversal. The API reverts it by this id. */
  readonly undo?: string;
}

export const NO_CHANGE: Change = { edits: [], made: [], deleted: [] };

export function isEmpty({ edits, made, deleted, places, job, undo }: Change): boolean {
  return !edits.length && !made.length && !deleted.length && places === undefined && job === undefined && undo === undefined;
}

/** The change that reverses another one. */
export function inverse({ edits, made, deleted, places }: Change): Change {
  return { edits: reverted(edits), made: deleted, deleted: made, ...(places && { places: unarranged(places) }) };
}

export function reverted(edits: readonly CellEdit[]): readonly CellEdit[] {
  return edits.map((edit) => ({ ...edit, before: edit.after, after: edit.before }));
}

/** The change with other numbers of issues: an issue that is created again has a new one. */
export function renumbered(change: Change, numbers: ReadonlyMap<number, number>): Change {
  const now = <T extends { readonly num: number }>(one: T): T => ({ ...one, num: numbers.get(one.num) ?? one.num });
  const { edits, made, deleted, places } = change;
  return { ...change, edits: edits.map(now), made: made.map(now), deleted: deleted.map(now), ...(places && { places: arrangedWith(places, numbers) }) };
}

/** The new numbers of issues that were created again, by their former numbers. */
export function newNumbers({ made: wanted }: Change, { made }: Change): ReadonlyMap<number, number> {
  const byBody = new Map(wanted.map(({ num, body }) => [body, num]));
  return new Map(made.flatMap(({ num, body }) => (byBody.get(body) ? [[byBody.get(body) ?? 0, num] as const] : [])));
}

/** Whether another value than an edit expects is in its cell, and not already its own. */
export function clashes({ before, after }: CellEdit, theirs: CellValue): boolean {
  return !sameValue(theirs, before) && !sameValue(theirs, after);
}

/** The values to create an issue again, as it is now: without the computed ones, and without defaults where it has none. */
export function keptOf({ num, version, name, state, fields: given }: GridRow, fields: readonly Field[]): Kept {
  const computed = new Set(fields.flatMap(({ id, formula }) => (formula === null ? [] : [id])));
  const empty = fields.flatMap(({ id, default: value }) => (value === null ? [] : [[id, null] as const]));
  const kept = Object.entries(given).filter(([id]) => !computed.has(id));
  return { num, version, body: { name, state, fields: Object.fromEntries([...empty, ...kept]) } };
}

export function patchOf(edits: readonly Pick<CellEdit, 'field' | 'after'>[], fields: readonly Field[]): Patch {
  const custom = new Set(fields.flatMap((field) => (field.custom ? [field.id] : [])));
  const patch = patchIn(edits.filter(({ field }) => !custom.has(field)));
  const values = patchIn(edits.filter(({ field }) => custom.has(field)));
  return Object.keys(values).length ? { ...patch, fields: values } : patch;
}

/** Assignment would lose the field `__proto__`. */
function patchIn(edits: readonly Pick<CellEdit, 'field' | 'after'>[]): Patch {
  return Object.fromEntries(edits.map(({ field, after }) => [field, after]));
}

export function byIssue(edits: readonly CellEdit[]): ReadonlyMap<number, readonly CellEdit[]> {
  const issues = new Map<number, CellEdit[]>();
  for (const edit of edits) {
    const others = issues.get(edit.num);
    if (others) others.push(edit);
    else issues.set(edit.num, [edit]);
  }
  return issues;
}

/** The field that an error of the API is about: `fields.cost.0` and `operations.3.update.fields.cost` are `cost`. */
export function fieldOfError(path: string): string {
  const parts = path.split('.');
  const at = parts.indexOf('fields');
  return (at < 0 ? parts.find((part) => part === 'name' || part === 'state') : parts[at + 1]) ?? '';
}
