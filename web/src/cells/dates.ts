/** Dates and points in time as users type and paste them. Pure. */
import { fullYear, realDay, twoDigits } from '../fields/calendar';
import { plainDigits } from '../fields/digits';
import { dateFormats } from './date-formats';
import { readerOf, type ShownDate, type ShownDateReader } from './shown-date';

export interface DateReader {
  /** The date as ISO has it; null for a text that does not name year, month and day, or has something else. */
  readonly date: (text: string) => string | null;
  /**
   * The instant in UTC as ISO has it; null for a text that is not a date with an optional time of day. A text without an
   * offset is in the reader's own time zone.
   */
  readonly datetime: (text: string) => string | null;
}

/** No date is longer, so that a long pasted text is refused at once. */
const MAX_LENGTH = 100;

const ISO = /^(\d{4})-(\d{1,2})-(\d{1,2})$/;
const NUMBERS = /^(\d{1,4})[./\-\s]+(\d{1,2})[./\-\s]+(\d{1,4})\.?$/;
/** `31 May 2024`, and `31-May-24` as Excel has it. */
const DAY_FIRST = /^(?<day>\d{1,2})(?:\s+|-)(?<month>[a-z]{3,9})(?:\.?,?\s+|-)(?<year>\d{4}|(?<=-)\d{2})$/i;
/** `May 31, 2024`. */
const MONTH_FIRST = /^(?<month>[a-z]{3,9})\.?\s+(?<day>\d{1,2}),?\s+(?<year>\d{4})$/i;
const TIMED = new RegExp(
  '^(?<day>.+?)(?:T|,?\\s+(?:at\\s+)?)' +
    '(?<hours>\\d{1,2}):(?<minutes>\\d{2})(?::(?<seconds>\\d{2})(?:\\.(?<fraction>\\d{1,6}))?)?' +
    '(?:\\s*(?<half>[ap])\\.?m\\.?)?\\s*(?<offset>Z|[+-]\\d{2}:?\\d{2})?$',
  'i',
);
const MONTHS = ['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october', 'november', 'december'];

/** A reader of ISO, of the page's own formats, of numbers in the order of the locale, and of dates in English words. */
export function dateReader(locale?: string): DateReader {
  const { dates, datetimes } = dateFormats(locale);
  const days = Object.values(dates).map(readerOf);
  const moments = Object.values(datetimes).map(readerOf);
  const order = orderOf(locale);
  const date = (text: string) => isoDate(text) ?? shownAs(text, days)?.date ?? numericDate(text, order) ?? wordedDate(text);
  // Where the calendar is another one, its digits would be read as a Gregorian date.
  const plain = order.length ? plainDigits : (text: string) => text;
  return {
    date: (text) => (text.length > MAX_LENGTH ? null : date(plain(text))),
    datetime: (typed) => {
      if (typed.length > MAX_LENGTH) return null;
      const text = plain(typed);
      const shown = shownAs(text, moments);
      return shown ? instantOf(`${shown.date}T${shown.clock}`) : typedInstant(text, date);
    },
  };
}

function shownAs(text: string, readers: readonly ShownDateReader[]): ShownDate | null {
  for (const read of readers) {
    const shown = read(text);
    if (shown) return shown;
  }
  return null;
}

function isoDate(text: string): string | null {
  const [, year, month, day] = ISO.exec(text) ?? [];
  return year === undefined ? null : realDay(Number(year), Number(month), Number(day));
}

type DatePart = 'day' | 'month' | 'year';

/** The order in which a locale writes the parts of a date; empty for a locale with another calendar. */
function orderOf(locale: string | undefined): readonly DatePart[] {
  const format = new Intl.DateTimeFormat(locale);
  if (format.resolvedOptions().calendar !== 'gregory') return [];
  return format
    .formatToParts(new Date(2001, 1, 3))
    .flatMap(({ type }) => (type === 'day' || type === 'month' || type === 'year' ? [type] : []));
}

function numericDate(text: string, order: readonly DatePart[]): string | null {
  const numbers = NUMBERS.exec(text);
  const numberOf = (part: DatePart) => Number(numbers?.[order.indexOf(part) + 1]);
  return numbers && realDay(fullYear(numberOf('year')), numberOf('month'), numberOf('day'));
}

/** Only whole dates: `12 May` and `Room 5` are none. */
function wordedDate(text: string): string | null {
  const { year, month = '', day } = (DAY_FIRST.exec(text) ?? MONTH_FIRST.exec(text))?.groups ?? {};
  const at = MONTHS.findIndex((name) => name.startsWith(month.toLowerCase()));
  return year === undefined ? null : realDay(fullYear(Number(year)), at + 1, Number(day));
}

function typedInstant(text: string, date: (text: string) => string | null): string | null {
  const { day, hours = '', minutes = '', seconds = '0', fraction = '', half, offset = '' } = TIMED.exec(text)?.groups ?? { day: text, hours: '0', minutes: '0' };
  const on = date(day ?? '');
  const hour = hourOf(Number(hours), half);
  if (on === null || hour === null || Number(minutes) > 59 || Number(seconds) > 59) return null;
  const zone = offset.replace(/^([+-]\d{2})(\d{2})$/, '$1:$2').toUpperCase();
  return instantOf(`${on}T${[hour, Number(minutes), Number(seconds)].map(twoDigits).join(':')}${zone}`, fraction);
}

/** The hour of the day; `half` is the a of AM or the p of PM. */
function hourOf(hours: number, half: string | undefined): number | null {
  if (half === undefined) return hours <= 23 ? hours : null;
  return hours >= 1 && hours <= 12 ? (hours % 12) + (half.toLowerCase() === 'p' ? 12 : 0) : null;
}

function instantOf(text: string, fraction = ''): string | null {
  const instant = new Date(text);
  // As the API answers it: without zeros at the end.
  const digits = fraction.replace(/0+$/, '');
  return Number.isNaN(instant.getTime()) ? null : `${instant.toISOString().slice(0, 19)}${digits && `.${digits}`}Z`;
}
