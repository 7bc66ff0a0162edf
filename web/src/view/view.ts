/**
 * The part of a project on the screen, and its look: the state that a link restores. It has the shape of the API's
 * views.
 */
import type { FieldType, Filter, OrderKey, SortKey } from '../api/types';
import type { Field } from '../fields/fields';
import { fittingBoard, type Board } from './board';
import type { SummaryFunction } from './footers';
import { fittingRules, type Rule } from './rules';

export const ROW_HEIGHTS = [24, 32, 56] as const;
export type RowHeight = (typeof ROW_HEIGHTS)[number];

export interface Column {
  readonly field: string;
  /** Pixels. */
  readonly width: number;
  readonly frozen: boolean;
}

export interface GroupKey {
  readonly field: string;
  readonly unit: 'day' | 'month' | 'year' | null;
  /** The time zone of the days, months and years of points in time; if undefined, the reader's own. */
  readonly timezone?: string;
  /** The width of the ranges of numbers, with all its digits; if undefined, each number is a group. */
  readonly width?: string;
  /** The bounds between the ranges of numbers, ascending, with all their digits. Only saved views have them. */
  readonly bins?: readonly string[];
}

/** The order of the groups: by their number of issues, or by a function of a number field. */
export interface GroupOrder {
  /** Null for the number of issues. */
  readonly field: string | null;
  readonly fn: SummaryFunction;
  readonly direction: 'asc' | 'desc';
}

export interface View {
  readonly sort: readonly SortKey[];
  /** The saved view in whose manual order the rows are; `sort` is then empty. */
  readonly manual: string | null;
  readonly filter: Filter | null;
  /** A text that the name or another searched field must contain; empty for none. */
  readonly search: string;
  readonly groups: readonly GroupKey[];
  /** Null for the order of their fields. */
  readonly groupOrder: GroupOrder | null;
  /** Keys of the groups that are closed. */
  readonly closed: readonly string[];
  /** The columns on the screen, in order; `null` is all of them as the project has them. */
  readonly columns: readonly Column[] | null;
  /** The summary of each column that has one, such as `sum`. */
  readonly footers: Readonly<Record<string, string>>;
  /** The option field that gives the rows their colors. */
  readonly color: string | null;
  /** They come before that field. */
  readonly rules: readonly Rule[];
  readonly height: RowHeight;
  readonly kind: 'grid' | 'board';
  /** Its look as a board; null if it has none. It stays while the view is shown as a grid. */
  readonly board: Board | null;
}

export const DEFAULT_VIEW: View = {
  sort: [],
  manual: null,
  filter: null,
  search: '',
  groups: [],
  groupOrder: null,
  closed: [],
  columns: null,
  footers: {},
  color: null,
  rules: [],
  height: 32,
  kind: 'grid',
  board: null,
};

export const MAX_SORT_KEYS = 3;
export const MAX_GROUPS = 3;

/** Types of which many issues share a value, the most usual first. */
const SHARED_VALUES: readonly (readonly FieldType[])[] = [['enum', 'multi_enum', 'user', 'bool', 'date'], ['datetime']];

/** The field by which to group first: one whose values are not all different, if there is any. */
export function groupProposed(fields: readonly Field[]): Field | undefined {
  const found = SHARED_VALUES.map((types) => fields.find(({ type }) => types.includes(type)));
  return found.find((field) => field !== undefined) ?? fields[0];
}

/** The key by which a field groups first: dates and times by month. */
export function groupKeyOf({ id, type }: Pick<Field, 'id' | 'type'>): GroupKey {
  return { field: id, unit: type === 'date' || type === 'datetime' ? 'month' : null };
}

/** Whether ranges of numbers can have this width. */
export function isWidthOfRanges(digits: string): boolean {
  return Number(digits) > 0 && Number.isFinite(Number(digits));
}

/** The order of the rows as the API takes it. */
export function orderOf({ sort, manual }: Pick<View, 'sort' | 'manual'>): readonly OrderKey[] {
  return manual === null ? sort : [{ manual }];
}

/** Sort by a field: as the only key, or as one more. A second click turns the direction, a third removes the key. */
export function sortedBy(sort: readonly SortKey[], field: string, { add }: { add: boolean }): readonly SortKey[] {
  const present = sort.find((key) => key.field === field);
  const next: SortKey | null = !present
    ? { field, direction: 'asc', nulls: 'last' }
    : present.direction === 'asc'
      ? { ...present, direction: 'desc' }
      : null;
  if (!add) return next ? [next] : [];
  if (!present) return next && sort.length < MAX_SORT_KEYS ? [...sort, next] : sort;
  return sort.flatMap((key) => (key.field !== field ? [key] : next ? [next] : []));
}

/** Put a key with this direction in its place among the others, or as the only one. */
export function withSortKey(sort: readonly SortKey[], key: SortKey): readonly SortKey[] {
  return sort.some(({ field }) => field === key.field)
    ? sort.map((present) => (present.field === key.field ? key : present))
    : [key];
}

/** The view without the parts that name fields which the project does not have (any more). */
export function fitting(view: View, fields: readonly Field[]): View {
  const known = new Set(fields.map(({ id }) => id));
  const numbers = new Set<string | null>(fields.flatMap(({ id, type }) => (type === 'number' ? [id] : [])));
  const { groupOrder } = view;
  const board = fittingBoard(view.board, fields);
  const colored = fields.find(({ id, type }) => id === view.color && type === 'enum');
  return {
    ...view,
    sort: view.sort.filter(({ field }) => known.has(field)),
    groups: view.groups.filter(({ field }) => known.has(field)),
    groupOrder: groupOrder && (groupOrder.field === null || numbers.has(groupOrder.field)) ? groupOrder : null,
    columns: view.columns?.filter(({ field }) => known.has(field)) ?? null,
    footers: Object.fromEntries(Object.entries(view.footers).filter(([field]) => known.has(field))),
    color: colored ? view.color : null,
    rules: fittingRules(view.rules, known),
    kind: board ? view.kind : 'grid',
    board,
  };
}
