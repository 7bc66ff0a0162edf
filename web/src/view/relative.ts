/**
 * Relative operands of filters: “today” and “now”, which the clock resolves, and “me”, which the user resolves. The API
 * does so once in each request. The page, its addresses and saved views keep them as they are. Pure.
 */
import type { FieldType, Filter, MeOperand, NowOperand, TodayOperand } from '../api/types';

const UNITS = ['day', 'week', 'month', 'quarter', 'year'] as const;
type Unit = (typeof UNITS)[number];

/** A day: today plus a number of units; with `start` the first day of that unit. Without a time zone in UTC. */
export type Today = TodayOperand;

/** An instant: the present one plus a number of seconds. */
export type Now = NowOperand;

/** The user who asks. */
export type Me = MeOperand;

export type Relative = Today | Now | Me;

export const ME: Me = { me: true };

/** The parts of a `Today` without the time zone. */
type Day = readonly [today: number, unit?: Unit];

/** The first day of each period, and the first one after it. A unit means its first day. */
const PERIODS = {
  today: [[0], [1]],
  yesterday: [[-1], [0]],
  tomorrow: [[1], [2]],
  last7: [[-6], [1]],
  next7: [[0], [7]],
  week: [[0, 'week'], [1, 'week']],
  month: [[0, 'month'], [1, 'month']],
  quarter: [[0, 'quarter'], [1, 'quarter']],
} as const satisfies Readonly<Record<string, readonly [Day, Day]>>;

export type PeriodName = keyof typeof PERIODS;

/** The days from `from` on, before `to`. */
export interface Period {
  readonly period: PeriodName;
  readonly from: Today;
  readonly to: Today;
}

const DAYS: readonly Day[] = [[0], [-1], [1], [-7], [7], [0, 'week'], [0, 'month'], [0, 'quarter']];

const KEYS = new Set(['today', 'unit', 'start', 'timezone']);

/** Milliseconds after which “now” is asked again. */
const MINUTE = 60_000;
/** More milliseconds than any day has. */
const LONGEST_DAY = 27 * 60 * MINUTE;

/** The IANA name of the reader's own time zone. */
export function ownTimezone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
}

/** The relative operand that a value of a filter is; null for another value. */
export function relativeIn(value: unknown): Relative | null {
  if (typeof value !== 'object' || value === null) return null;
  if ('me' in value) return value.me === true && Object.keys(value).length === 1 ? ME : null;
  if ('now' in value) return isWhole(value.now) && Object.keys(value).length === 1 ? (value as Now) : null;
  const { today, unit = 'day', start = false, timezone = 'UTC' } = value as Readonly<Record<string, unknown>>;
  const isToday =
    isWhole(today) &&
    UNITS.some((one) => one === unit) &&
    typeof start === 'boolean' &&
    typeof timezone === 'string' &&
    Object.keys(value).every((key) => KEYS.has(key));
  return isToday ? (value as Today) : null;
}

export function isToday(value: object): value is Today {
  return 'today' in value;
}

export function isPeriod(value: unknown): value is Period {
  return typeof value === 'object' && value !== null && 'period' in value;
}

/** Whether a field of this type may be compared with the operand. */
export function isOperandOf(type: FieldType, relative: Relative): boolean {
  if ('me' in relative) return type === 'user';
  return type === 'datetime' || (type === 'date' && isToday(relative));
}

export function todayIn(timezone: string): Today {
  return { today: 0, timezone };
}

/** The days that a picker offers, the usual ones first. */
export function daysIn(timezone: string): readonly Today[] {
  return DAYS.map((day) => todayOf(day, timezone));
}

export function periodIn(name: PeriodName, timezone: string): Period {
  const [from, to] = PERIODS[name];
  return { period: name, from: todayOf(from, timezone), to: todayOf(to, timezone) };
}

/** The filter that an issue passes whose field is in the period. */
export function filterOfPeriod(field: string, { from, to }: Period): Filter {
  return { and: [{ field, op: 'gte', value: from }, { field, op: 'lt', value: to }] };
}

/** The field and the period of a filter that `filterOfPeriod` makes; null for another filter. */
export function periodOf(filter: Filter): { readonly field: string; readonly period: Period } | null {
  if (!('and' in filter) || filter.and.length !== 2) return null;
  const [first, last] = filter.and;
  if (!first || !last || !('field' in first) || !('field' in last) || first.field !== last.field || first.op !== 'gte' || last.op !== 'lt') return null;
  const [from, to] = [relativeIn(first.value), relativeIn(last.value)];
  if (!from || !to || !isToday(from) || !isToday(to)) return null;
  const name = NAMES.find((one) => {
    const period = periodIn(one, from.timezone ?? 'UTC');
    return isSame(period.from, from) && isSame(period.to, to);
  });
  return name ? { field: first.field, period: { period: name, from, to } } : null;
}

/** Whether two operands have the same meaning, however they are written. */
export function isSame(one: Relative | Period, other: Relative | Period): boolean {
  return textOf(one) === textOf(other);
}

/** All relative operands of a filter. */
export function relativesIn(filter: Filter | null): readonly Relative[] {
  if (!filter) return [];
  if ('not' in filter) return relativesIn(filter.not);
  const parts = 'and' in filter ? filter.and : 'or' in filter ? filter.or : null;
  if (parts) return parts.flatMap(relativesIn);
  const value: unknown = 'value' in filter ? filter.value : null;
  return (Array.isArray(value) ? value : [value]).flatMap((one) => relativeIn(one) ?? []);
}

/** Milliseconds until the clock gives a filter another meaning; null if it never does. */
export function untilTurn(filter: Filter | null, at: number): number | null {
  const turns = relativesIn(filter).flatMap((one) => {
    if ('me' in one) return [];
    return isToday(one) ? (midnightIn(one.timezone ?? 'UTC', at) ?? []) : [MINUTE];
  });
  return turns.length ? Math.min(...turns) : null;
}

/** Milliseconds until the next day of a time zone; null for an unknown zone, which the API refuses. */
function midnightIn(timeZone: string, at: number): number | null {
  let days: Intl.DateTimeFormat;
  try {
    days = new Intl.DateTimeFormat('en', { timeZone, dateStyle: 'short' });
  } catch {
    return null;
  }
  const today = days.format(at);
  let [before, after] = [0, LONGEST_DAY];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (days.format(at + middle) === today) before = middle;
    else after = middle;
  }
  return after;
}

const NAMES = Object.keys(PERIODS) as readonly PeriodName[];

function todayOf([today, unit]: Day, timezone: string): Today {
  return unit ? { today, unit, start: true, timezone } : { today, timezone };
}

function textOf(one: Relative | Period): string {
  if (isPeriod(one)) return `${textOf(one.from)} ${textOf(one.to)}`;
  if (!isToday(one)) return JSON.stringify(one);
  const { today, unit = 'day', start = false, timezone = 'UTC' } = one;
  // Zero days, weeks or months from today are today, and each day begins with itself.
  return JSON.stringify([today, today === 0 && !start ? 'day' : unit, start && unit !== 'day', timezone]);
}

function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value);
}
