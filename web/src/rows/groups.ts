/** The layout of groups: heads, and below each open one its smaller groups or its issues. Pure. */
import type { Filter } from '../api/types';
import type { Field } from '../fields/fields';
import { isRange, type CellValue, type GroupValue } from '../fields/values';
import type { GroupKey } from '../view/view';
import { Layout, runKeyOf, type Group, type GroupFigure, type Piece } from './layout';

/** A group as the API counts it. */
export interface CountedGroup {
  /** One for each group field, as far as the level goes. */
  readonly values: readonly GroupValue[];
  readonly count: number;
  /** The filter that selects its issues; null if no request can. */
  readonly filter: Filter | null;
  readonly figures: readonly GroupFigure[];
}

/** The groups by the first field, by the first two, and by all three, as far as they are known. */
export type Levels = readonly (readonly CountedGroup[])[];

/** The name of no value. No name of a value has a plus. */
const NONE = '+';

/** The name of a group in an address: its values, from the outermost on. */
export function keyOfGroup(values: readonly GroupValue[]): string {
  return values.map((value) => (value === null ? NONE : encodeURIComponent(textOf(value)))).join('/');
}

/** A range as its bounds, such as `0~100`, without one that is open. */
function textOf(value: NonNullable<GroupValue>): string {
  return isRange(value) ? [value.from, value.to].map((bound) => (bound === null ? '' : String(bound))).join('~') : String(value);
}

export function layoutOfGroups(levels: Levels, fields: readonly string[], closed: ReadonlySet<string>): Layout {
  const children = levels.map(byParent);
  const pieces: Piece[] = [];
  const put = (group: CountedGroup, depth: number) => {
    const key = keyOfGroup(group.values);
    const open = !closed.has(key);
    const { count, filter, figures, values } = group;
    pieces.push({
      kind: 'group',
      group: { key, depth, field: fields[depth] ?? '', value: values[depth] ?? null, values, filter, count, open, figures },
    });
    if (!open) return;
    if (depth + 1 < fields.length) for (const smaller of children[depth + 1]?.get(key) ?? []) put(smaller, depth + 1);
    else if (filter) pieces.push({ kind: 'run', run: { key: runKeyOf(key), filter, count } });
  };
  for (const group of levels[0] ?? []) put(group, 0);
  return new Layout(pieces);
}

/**
 * The values that an issue needs to be in a group. Null if none are certain: for ranges, periods of instants, and fields
 * that nobody writes. A period of dates gives its first day.
 */
export function valuesIn({ values }: Pick<Group, 'values'>, keys: readonly GroupKey[], fields: readonly Field[]): readonly FieldValue[] | null {
  const found: FieldValue[] = [];
  for (const [place, value] of values.entries()) {
    const key = keys[place];
    const field = fields.find(({ id }) => id === key?.field);
    if (!key || !field?.editable || isRange(value)) return null;
    if (key.unit === null || value === null) found.push({ field: field.id, after: value });
    else if (field.type === 'date') found.push({ field: field.id, after: `${String(value)}-01-01`.slice(0, DAY) });
    else return null;
  }
  return found;
}

interface FieldValue {
  readonly field: string;
  readonly after: CellValue;
}

/** Characters of a day. */
const DAY = '2024-01-01'.length;

/** The groups after the number of issues in some innermost groups, by their keys, has changed by so many. */
export function recounted(levels: Levels, changes: ReadonlyMap<string, number>): Levels {
  return levels.map((groups) =>
    groups.map((group) => {
      const key = keyOfGroup(group.values);
      const by = [...changes].reduce((sum, [inner, change]) => (inner === key || inner.startsWith(`${key}/`) ? sum + change : sum), 0);
      return by === 0 ? group : { ...group, count: group.count + by };
    }),
  );
}

/** Whether two readings have the same groups with the same numbers of issues: the same rows of the screen. */
export function haveSameRows(levels: Levels, others: Levels): boolean {
  const rowsIn = (some: Levels) => JSON.stringify(some.map((groups) => groups.map(({ values, count }) => [keyOfGroup(values), count])));
  return rowsIn(levels) === rowsIn(others);
}

/** Open a group that is closed, and the other way around. */
export function toggled(closed: readonly string[], key: string): readonly string[] {
  return closed.includes(key) ? closed.filter((one) => one !== key) : [...closed, key];
}

/** All groups of the first level, closed. */
export function allClosed(levels: Levels): readonly string[] {
  return (levels[0] ?? []).map(({ values }) => keyOfGroup(values));
}

function byParent(groups: readonly CountedGroup[]): ReadonlyMap<string, readonly CountedGroup[]> {
  const found = new Map<string, CountedGroup[]>();
  for (const group of groups) {
    const parent = keyOfGroup(group.values.slice(0, -1));
    const others = found.get(parent);
    if (others) others.push(group);
    else found.set(parent, [group]);
  }
  return found;
}
