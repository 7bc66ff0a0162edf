/** Values of fields, and rows as the page keeps them. */
import { compareNumber } from 'lossless-json';
import { isExact, type Exact } from '../api/json';
import type { GridRow } from '../api/types';

/** The value of a field of an issue; `null` is no value. */
export type CellValue = string | Exact | boolean | readonly string[] | null;

/** The numbers from `from` on, less than `to`; null for no bound. */
export interface NumberRange {
  readonly from: Exact | null;
  readonly to: Exact | null;
}

/** The value that the issues of a group share. */
export type GroupValue = CellValue | NumberRange;

export function isRange(value: GroupValue): value is NumberRange {
  return typeof value === 'object' && value !== null && 'from' in value;
}

/** An issue as the grid shows it: one map of values, built-in fields and attributes alike. */
export interface Row {
  readonly num: number;
  readonly version: number;
  /** Its key in the order of the view, whose order is that of the rows. Undefined if the API was not asked. */
  readonly key?: string;
  /** By field id; a field without a value is not there. */
  readonly values: Readonly<Record<string, CellValue>>;
  /** Why formulas have no value, by field id; undefined if all have one. */
  readonly unavailable?: Unavailable | undefined;
  /** From what the API computed the values of formulas; undefined for a row that it has not answered. */
  readonly computedFrom?: Pick<Row, 'version' | 'values'> | undefined;
  /** Undefined if the API was not asked. */
  readonly judged?: Judged;
}

export type Unavailable = Readonly<NonNullable<GridRow['unavailable']>>;

/** Why a formula has no value. */
export type Reason = Unavailable[string];

/** Which rules of the view the API found an issue to match. */
export interface Judged {
  readonly version: number;
  /** The values by which it was judged. */
  readonly values: Row['values'];
  /** The filters of these rules, as text. */
  readonly matches: readonly string[];
}

/** An issue of the API, without the places of rules that it matches. */
export function rowOf({ num, version, key, fields, unavailable, ...builtIn }: Omit<GridRow, 'matches'>): Row {
  const values = { ...builtIn, ...fields, num };
  return {
    num,
    version,
    ...(key !== undefined && { key }),
    values,
    ...(unavailable && { unavailable }),
    computedFrom: { version, values },
  };
}

/**
 * Whether a row is no issue yet, by its number: its first value creates it. Drafts have numbers of their own, from 0
 * down.
 */
export function isDraft(num: number): boolean {
  return num <= 0;
}

/** The member of a map by ids; an id may be `constructor`, which every object inherits. */
export function memberOf<T>(map: Readonly<Record<string, T>> | undefined, id: string): T | undefined {
  return map && Object.hasOwn(map, id) ? map[id] : undefined;
}

export function valueOf({ values }: Pick<Row, 'values'>, field: string): CellValue {
  return memberOf(values, field) ?? null;
}

/** Why a formula has no value in a row; undefined for other fields. */
export function unavailableIn({ unavailable }: Row, field: string): Reason | undefined {
  return memberOf(unavailable, field);
}

/** Whether two values are the same to the API. */
export function sameValue(a: CellValue, b: CellValue): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, index) => item === b[index]);
  // The API keeps numbers, not their texts: 1.50 is 1.5.
  if (isExact(a) && isExact(b)) return compareNumber(String(a), String(b)) === 0;
  return a === b;
}
