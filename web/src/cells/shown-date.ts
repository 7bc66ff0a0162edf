/** Reads back the dates that the page shows: a format's own text, in any locale with the Gregorian calendar. Pure. */
import { fullYear, realDay, twoDigits } from '../fields/calendar';
import { plainDigits } from '../fields/digits';

export interface ShownDate {
  /** As ISO has it. */
  readonly date: string;
  /** Such as `13:30:00`; null for a format without a time. */
  readonly clock: string | null;
}

export type ShownDateReader = (text: string) => ShownDate | null;

/** How a format writes. */
interface Shape {
  readonly pattern: RegExp;
  readonly yearDigits: number;
  /** From 1, by their texts. */
  readonly months: ReadonlyMap<string, number>;
  /** From 0, by the texts of hour and part of the day. */
  readonly hours: ReadonlyMap<string, number>;
}

/** A reader of the texts that a format makes. It returns null for any other text. */
export function readerOf(format: Intl.DateTimeFormat): ShownDateReader {
  let shape: Shape | null = null;
  return (text) => {
    // A shape needs dozens of samples, and few pages need a shape.
    shape ??= shapeOf(format);
    return read(plainText(text), format, shape);
  };
}

function read(text: string, format: Intl.DateTimeFormat, { pattern, yearDigits, months, hours }: Shape): ShownDate | null {
  const { year = '', month = '', day = '', dayPeriod, hour, minute = '0', second = '0' } = pattern.exec(text)?.groups ?? {};
  if (year.length !== yearDigits) return null;
  const date = realDay(yearDigits === 2 ? fullYear(Number(year)) : Number(year), months.get(month) ?? 0, Number(day));
  if (date === null) return null;
  const clock = hour === undefined ? null : [hours.get(hourKey(hour, dayPeriod)) ?? NaN, Number(minute), Number(second)].map(twoDigits).join(':');
  const moment = new Date(clock === null ? `${date}T00:00:00Z` : `${date}T${clock}`);
  // Proves the reading: another calendar or clock would show another text.
  return !Number.isNaN(moment.getTime()) && plainText(format.format(moment)) === text ? { date, clock } : null;
}

function shapeOf(format: Intl.DateTimeFormat): Shape {
  // Around noon, a day is in the same month in every time zone.
  const months = new Map(numbers(12).map((at) => [partsOf(format, new Date(2001, at, 3, 12)).get('month') ?? '', at + 1]));
  const clocks = numbers(24).map((at) => partsOf(format, new Date(2001, 1, 3, at)));
  const hours = new Map(clocks.map((parts, at) => [hourKey(parts.get('hour') ?? '', parts.get('dayPeriod')), at]));
  const sources: Readonly<Partial<Record<Intl.DateTimeFormatPartTypes, string>>> = {
    year: '\\d{2,4}',
    month: oneOf(months.keys()),
    day: '\\d{1,2}',
    dayPeriod: oneOf(clocks.map((parts) => parts.get('dayPeriod') ?? '')),
    hour: '\\d{1,2}',
    minute: '\\d{2}',
    second: '\\d{2}',
  };
  const sample = format.formatToParts(new Date(2001, 1, 3, 12));
  const pattern = sample.map(({ type, value }) => {
    const source = sources[type];
    return source === undefined ? escaped(plainText(value)) : `(?<${type}>${source})`;
  });
  return {
    pattern: new RegExp(`^${pattern.join('')}$`),
    yearDigits: plainText(sample.find(({ type }) => type === 'year')?.value ?? '').length,
    months,
    hours,
  };
}

/** The texts of a moment by the types of the parts, with plain blanks and digits. */
function partsOf(format: Intl.DateTimeFormat, moment: Date): ReadonlyMap<string, string> {
  return new Map(format.formatToParts(moment).map(({ type, value }) => [type, plainText(value)]));
}

function hourKey(hour: string, dayPeriod = ''): string {
  return `${hour} ${dayPeriod}`;
}

function oneOf(texts: Iterable<string>): string {
  // The longest first: one may begin with another.
  return [...new Set(texts)].sort((one, other) => other.length - one.length).map(escaped).join('|');
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** Formats use blanks of several kinds and marks of direction, which change between browsers and on the clipboard. */
function plainText(text: string): string {
  return plainDigits(text).replace(/\s+/g, ' ');
}

function numbers(count: number): readonly number[] {
  return [...Array(count).keys()];
}
