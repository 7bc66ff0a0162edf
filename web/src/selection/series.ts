/** Series that a fill continues: numbers, dates and numbered texts with a constant step. Pure. */
import { isExact, type Exact } from '../api/json';
import { aligned, exactFrom } from '../fields/decimal';
import type { FieldType } from '../api/types';
import type { CellValue } from '../fields/values';

/** The value at a place of a series: 0 is its first given value. Null beyond the calendar. */
export type Series = (place: number) => CellValue;

const DAY = 86_400_000;
const NUMBERED = /^(.*?)([0-9]{1,15})$/s;

/** The series of two or more values of a field; null where they have no constant step. */
export function seriesOf(type: FieldType, values: readonly CellValue[]): Series | null {
  if (values.length < 2) return null;
  if (type === 'number') return values.every(isExact) ? numbers(values) : null;
  const texts = values.filter((value) => typeof value === 'string');
  if (texts.length < values.length) return null;
  if (type === 'date') return months(texts) ?? days(texts);
  if (type === 'datetime') return instants(texts);
  return type === 'text' ? numbered(texts) : null;
}

/** The difference of each value to the one before; null where it is not constant, or nothing. */
function stepOf(values: readonly bigint[]): bigint | null {
  const [first = 0n, second = 0n] = values;
  const step = second - first;
  return step !== 0n && values.every((value, place) => value === first + BigInt(place) * step) ? step : null;
}

function numbers(values: readonly Exact[]): Series | null {
  const { digits, exponent } = aligned(values);
  const step = stepOf(digits);
  const [first = 0n] = digits;
  return step === null ? null : (place) => exactFrom({ digits: first + BigInt(place) * step, exponent });
}

function days(values: readonly string[]): Series | null {
  const times = values.map((value) => Date.parse(`${value}T00:00:00Z`) / DAY);
  const at = linear(times);
  return at && ((place) => dayOf(at(place) * DAY));
}

/** The same day of months with a constant distance: the 31st has none. */
function months(values: readonly string[]): Series | null {
  const parts = values.map((value) => value.split('-').map(Number));
  const [[, , day = 0] = []] = parts;
  if (day > 28 || parts.some(([, , other]) => other !== day)) return null;
  const at = linear(parts.map(([year = 0, month = 0]) => year * 12 + month - 1));
  if (!at) return null;
  return (place) => {
    const month = at(place);
    const date = new Date(0);
    date.setUTCFullYear(Math.floor(month / 12), ((month % 12) + 12) % 12, day);
    return dayOf(date.getTime());
  };
}

function instants(values: readonly string[]): Series | null {
  // A finer step than that of the clock would be lost.
  if (values.some((value) => /\.\d{4,}/.test(value))) return null;
  const times = values.map((value) => Date.parse(value));
  const at = wholeDays(times) ?? linear(times);
  return at && ((place) => instantOf(at(place)));
}

/** The same time of the reader's clock, some days apart: a day on which the clock changes has 23 or 25 hours. */
function wholeDays(times: readonly number[]): ((place: number) => number) | null {
  const [first = 0, second = 0] = times;
  const step = Math.round((second - first) / DAY);
  const at = (place: number) => {
    const date = new Date(first);
    return date.setDate(date.getDate() + place * step);
  };
  return step !== 0 && times.every((time, place) => time === at(place)) ? at : null;
}

function numbered(values: readonly string[]): Series | null {
  const parts = values.map((value) => NUMBERED.exec(value));
  const [first] = parts;
  if (!first || parts.some((one) => one?.[1] !== first[1])) return null;
  const at = linear(parts.map((one) => Number(one?.[2])));
  const width = first[2]?.startsWith('0') ? first[2].length : 1;
  return at && ((place) => (at(place) < 0 ? null : `${first[1]}${String(at(place)).padStart(width, '0')}`));
}

function linear(values: readonly number[]): ((place: number) => number) | null {
  if (!values.every(Number.isSafeInteger)) return null;
  const step = stepOf(values.map(BigInt));
  const [first = 0] = values;
  return step === null ? null : (place) => first + place * Number(step);
}

function dayOf(time: number): string | null {
  return instantOf(time)?.slice(0, 10) ?? null;
}

function instantOf(time: number): string | null {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return null;
  const year = date.getUTCFullYear();
  return year >= 1 && year <= 9999 ? date.toISOString() : null;
}
