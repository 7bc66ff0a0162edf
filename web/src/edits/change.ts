/** Changes of cells, as undo remembers them and as the API takes them. Pure. */
import type { CellValue } from '../fields/values';
import type { Field } from '../fields/fields';

export interface CellEdit {
  readonly num: number;
  readonly field: string;
  readonly before: CellValue;
  readonly after: CellValue;
}

/** What one action of the user did; it is undone as one. */
export interface Change {
  readonly edits: readonly CellEdit[];
}

export function inverse(edits: readonly CellEdit[]): readonly CellEdit[] {
  return edits.map((edit) => ({ ...edit, before: edit.after, after: edit.before }));
}

/** The merge patch of some edits of one issue. */
export type Patch = Record<string, unknown>;

export function patchOf(edits: readonly Pick<CellEdit, 'field' | 'after'>[], fields: readonly Field[]): Patch {
  const custom = new Set(fields.flatMap((field) => (field.custom ? [field.id] : [])));
  const patch: Patch = {};
  const values: Patch = {};
  for (const { field, after } of edits) (custom.has(field) ? values : patch)[field] = after;
  return Object.keys(values).length ? { ...patch, fields: values } : patch;
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
