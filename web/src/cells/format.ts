/** Values as people read them, in their own locale. Pure. */
import type { Exact } from '../api/json';
import { MAX_PLAIN_EXPONENT } from '../fields/decimal';
import type { Field } from '../fields/fields';
import { formattedNumber, type FieldFormat } from '../fields/format';
import { marksOf } from '../fields/number-marks';
import type { CellValue, NumberRange } from '../fields/values';
import { words } from '../words';
import { dateFormats, type DateStyle } from './date-formats';

const { dates, datetimes } = dateFormats();

/** Numbers with all their digits, grouped as the locale groups. `Intl` itself ends at 20 digits after the point. */
export function numberFormatter(locale?: string): (value: Exact) => string {
  const numbers = new Intl.NumberFormat(locale);
  const digits = new Intl.NumberFormat(locale, { useGrouping: false });
  const parts = numbers.formatToParts(-1.5);
  const { point } = marksOf(numbers);
  // Also the mark of direction before the sign, in locales that have one.
  const minus = parts.slice(0, parts.findIndex(({ type }) => type === 'integer')).map(({ value }) => value).join('');
  /** Digits with the point after the one of this power of ten. */
  const pointed = (significant: string, exponent: number) => {
    const all = '0'.repeat(Math.max(0, -exponent)) + significant.padEnd(exponent + 1, '0');
    const whole = all.slice(0, Math.max(0, exponent) + 1);
    const fraction = all.slice(whole.length);
    return numbers.format(BigInt(whole)) + (fraction && point + fraction.replace(/\d/g, (digit) => digits.format(Number(digit))));
  };
  return (value) => {
    const { negative, significant, exponent } = partsOf(String(value));
    const sign = negative ? minus : '';
    if (Math.abs(exponent) > MAX_PLAIN_EXPONENT) return `${sign}${pointed(significant, 0)}E${digits.format(exponent)}`;
    return sign + pointed(significant, exponent);
  };
}

export const formatNumber = numberFormatter();

/** A decimal as its digits without zeros at either end, and the power of ten of the first. */
function partsOf(decimal: string): { readonly negative: boolean; readonly significant: string; readonly exponent: number } {
  const [mantissa = '', power = '0'] = decimal.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const all = whole + fraction;
  const leading = all.search(/[1-9]/);
  if (leading < 0) return { negative: false, significant: '0', exponent: 0 };
  return {
    negative: mantissa.startsWith('-'),
    significant: all.slice(leading).replace(/0+$/, ''),
    exponent: whole.length - 1 - leading + Number(power),
  };
}

/** A range of numbers; its upper bound is not in it. */
export function formatRange({ from, to }: NumberRange): string {
  if (from === null) return to === null ? '' : words.range.below(formatNumber(to));
  return to === null ? words.range.from(formatNumber(from)) : words.range.between(formatNumber(from), formatNumber(to));
}

const averages = new Intl.NumberFormat(undefined, { maximumFractionDigits: 4, maximumSignificantDigits: 6, roundingPriority: 'morePrecision' });

/** An average, which may never end, rounded to a readable number of digits. */
export function formatAverage(value: Exact): string {
  // Intl takes decimals of any length as text.
  return averages.format(String(value) as `${number}`);
}

/** A date; in the format `iso` as the API has it. */
export function formatDate(value: string, format: FieldFormat | null = null): string {
  const day = new Date(`${value}T00:00:00Z`);
  if (Number.isNaN(day.getTime()) || format?.as === 'iso') return value;
  return dates[styleOf(format)].format(day);
}

/** A point in time, in the reader's own time zone; in the format `iso` as the API has it. */
export function formatDatetime(value: string, format: FieldFormat | null = null): string {
  const instant = new Date(value);
  if (Number.isNaN(instant.getTime()) || format?.as === 'iso') return value;
  return datetimes[styleOf(format)].format(instant);
}

function styleOf(format: FieldFormat | null): DateStyle {
  return format?.as === 'short' || format?.as === 'long' ? format.as : 'medium';
}

const month = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'long', timeZone: 'UTC' });

/** A day, month or year as the API names it, such as `2024-05`. */
export function formatPeriod(unit: 'day' | 'month' | 'year', value: string): string {
  if (unit === 'year') return value;
  return unit === 'day' ? formatDate(value) : month.format(new Date(`${value}-01T00:00:00Z`));
}

/** The parts of a field that decide how its values are written. */
export type Formatted = Pick<Field, 'type'> & Partial<Pick<Field, 'format'>>;

/** A value as a person reads it; empty for no value. */
export function formatValue({ type, format = null }: Formatted, value: CellValue): string {
  if (value === null) return '';
  if (typeof value === 'boolean') return value ? words.cell.yes : words.cell.no;
  if (isList(value)) return value.join(', ');
  if (type === 'number' && typeof value !== 'string') return (format && formattedNumber(format, value)) ?? formatNumber(value);
  if (type === 'date') return formatDate(String(value), format);
  if (type === 'datetime') return formatDatetime(String(value), format);
  return String(value);
}

export function isList(value: CellValue): value is readonly string[] {
  return Array.isArray(value);
}
