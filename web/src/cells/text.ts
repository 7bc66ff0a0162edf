/** Values as text that `parseText` and spreadsheets read back. Pure. */
import type { FieldType } from '../api/types';
import { isoDay, twoDigits } from '../fields/calendar';
import type { CellValue } from '../fields/values';
import { isList } from './format';
import { numberText } from './number-text';

const numbers = numberText();
const MINUTE = 60_000;

/**
 * The text of a value for the clipboard and for editing. Dates are as in ISO 8601, and numbers have all digits and the
 * decimal mark of the reader.
 */
export function textOf(type: FieldType, value: CellValue): string {
  if (value === null) return '';
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (isList(value)) return value.join(', ');
  if (type === 'number') return numbers.write(String(value));
  if (type === 'datetime') return localTime(String(value));
  return String(value);
}

/**
 * A point in time in the reader's own time zone, `2024-05-01 13:30`, with seconds and their parts if any. It has the
 * offset where the clock shows this time twice.
 */
function localTime(instant: string): string {
  const time = new Date(instant);
  if (Number.isNaN(time.getTime())) return instant;
  const date = isoDay(time.getFullYear(), time.getMonth() + 1, time.getDate());
  const fraction = /\.\d+/.exec(instant)?.[0] ?? '';
  const seconds = time.getSeconds() || fraction ? `:${twoDigits(time.getSeconds())}${fraction}` : '';
  const clock = `${twoDigits(time.getHours())}:${twoDigits(time.getMinutes())}`;
  const isPlain = Math.abs(new Date(`${date}T${clock}`).getTime() - time.getTime()) < MINUTE;
  return `${date} ${clock}${seconds}${isPlain ? '' : offsetAt(time)}`;
}

function offsetAt(time: Date): string {
  const minutes = -time.getTimezoneOffset();
  const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${minutes < 0 ? '-' : '+'}${twoDigits(hours)}:${twoDigits(rest)}`;
}
