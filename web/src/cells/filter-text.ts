/** Filters and their values in words: “Due comes before today and Assignee is me”. Pure. */
import { formatJson, isExact } from '../api/json';
import type { FieldType, Filter } from '../api/types';
import type { Field } from '../fields/fields';
import type { Given, Operator } from '../view/filters';
import { isPeriod, isToday, ownTimezone, periodOf, relativeIn, type Period, type Relative } from '../view/relative';
import { words } from '../words';
import { formatNumber, formatValue } from './format';

/** Values of one condition that are named; the others are counted. */
const NAMED = 5;

/** A filter as a person reads it. A field that the project does not have is named by its id. */
export function filterText(filter: Filter, fields: readonly Field[], timezone = ownTimezone()): string {
  const inner = (part: Filter): string => {
    const text = filterText(part, fields, timezone);
    return 'field' in part || periodOf(part) ? text : `(${text})`;
  };
  const found = periodOf(filter);
  if (found) return words.filter.condition(nameOf(found.field, fields), words.filter.operators.eq, relativeText(found.period, timezone));
  if ('not' in filter) return words.filter.not(filterText(filter.not, fields, timezone));
  if ('and' in filter) return words.filter.all(filter.and.map(inner));
  if ('or' in filter) return words.filter.any(filter.or.map(inner));
  const type = fields.find(({ id }) => id === filter.field)?.type ?? 'text';
  return words.filter.condition(nameOf(filter.field, fields), words.filter.operators[filter.op], valueText(filter.value, type, filter.op, timezone));
}

/** A value of a condition as a person reads it. */
export function givenText(given: Given, type: FieldType, op: Operator, timezone = ownTimezone()): string {
  if (typeof given !== 'string') return relativeText(given, timezone, { isInstant: type === 'datetime' && op !== 'lt' && op !== 'gte' });
  return type === 'text' ? words.filter.quoted(given) : formatValue({ type }, given);
}

function valueText(value: unknown, type: FieldType, op: Operator, timezone: string): string {
  if (value === undefined || value === null) return '';
  if (!Array.isArray(value)) return oneText(value, type, op, timezone);
  const all = value.map((one) => oneText(one, type, op, timezone));
  return op === 'between' ? words.filter.both(all) : words.filter.oneOf(all.slice(0, NAMED), all.length - NAMED);
}

function oneText(value: unknown, type: FieldType, op: Operator, timezone: string): string {
  if (typeof value === 'boolean') return formatValue({ type }, value);
  if (isExact(value)) return formatNumber(value);
  const given = typeof value === 'string' ? value : relativeIn(value);
  return given === null ? formatJson(value) : givenText(given, type, op, timezone);
}

/** A time zone is named if it is not the reader's own. */
function relativeText(given: Relative | Period, own: string, { isInstant = false } = {}): string {
  if (isPeriod(given)) return inZone(words.relative.periods[given.period], given.from.timezone, own);
  if (!isToday(given)) return 'me' in given ? words.relative.me : words.relative.now(given.now);
  const { today, unit = 'day', start = false, timezone } = given;
  const isStart = start && unit !== 'day';
  const day = isStart ? words.relative.startOf[unit](today) : words.relative.day(today, unit);
  return inZone(isInstant && !isStart ? words.relative.beginning(day) : day, timezone, own);
}

function inZone(text: string, timezone = 'UTC', own: string): string {
  return timezone === own ? text : words.relative.inZone(text, timezone);
}

function nameOf(id: string, fields: readonly Field[]): string {
  return fields.find((field) => field.id === id)?.name ?? id;
}
