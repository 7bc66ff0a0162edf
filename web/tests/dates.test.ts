import { afterEach, describe, expect, it, vi } from 'vitest';
import { dateFormats } from '../src/cells/date-formats';
import { textOf } from '../src/cells/text';
import { dateReader } from '../src/cells/dates';
import { formatValue } from '../src/cells/format';
import { parseText } from '../src/cells/parse';
import { field } from './fields';

const { date, datetime } = dateReader('en-US');

/** Midnight and noon, one digit and two, a leap day, and days that could be months. */
const MOMENTS = ['2024-02-29T00:05:00', '1999-12-31T23:59:59', '2024-05-01T12:00:00', '2030-11-09T13:30:07', '1962-09-10T01:00:00'];
const LOCALES = ['en-US', 'en-GB', 'en-CA', 'de', 'de-AT', 'fr', 'es', 'it', 'pt-BR', 'nl', 'sv', 'da', 'fi', 'pl', 'cs', 'ru', 'hu', 'tr', 'el', 'he', 'ja', 'ko', 'zh-CN', 'zh-TW', 'vi', 'ar-EG', 'ar', 'ar-MA', 'ur', 'hi', 'mr', 'ne', 'bn', 'my', 'ff-Adlm'];

afterEach(() => vi.unstubAllEnvs());

describe('a date', () => {
  it.each([
    ['2024-5-1', '2024-05-01'],
    ['5/31/2024', '2024-05-31'],
    ['31 May 2024', '2024-05-31'],
    ['1 september 2024', '2024-09-01'],
    ['1 Sept. 2024', '2024-09-01'],
    ['31-May-2024', '2024-05-31'],
    ['31-May-24', '2024-05-31'],
    ['May 31, 2024', '2024-05-31'],
    ['MAY 31 2024', '2024-05-31'],
    ['29 Feb 2024', '2024-02-29'],
  ])('is read from %s', (text, iso) => {
    expect(date(text)).toBe(iso);
  });

  it.each([
    'Room 5', 'Phase 2', 'build-7', 'build-7-2024', '12 May', 'May 12', 'May 2024', '12 May 24', '31 Feb 2024', 'Feb 30, 2023', '29 Feb 2023',
    'Ma 1, 2024', 'Mayor 1, 2024', '1 Day 2024', '5 of May 2024', '2024', '5/1/2024 1:30 PM', '2024-05-01 13:30', '2024-05-01 EST', '1 May 2024 BC',
  ])('is not read from %s', (text) => {
    expect(date(text)).toBeNull();
  });
});

it('a long text is refused at once', () => {
  for (const text of [`1 May ${'2'.repeat(1e6)}`, `1${' '.repeat(1e6)}May 2024`, '5:30 '.repeat(1e6)]) expect([date(text), datetime(text)]).toEqual([null, null]);
});

describe('a point in time', () => {
  it.each([
    ['5/1/2024 1:30 PM', '2024-05-01T13:30:00Z'],
    ['5/1/2024 12:05 AM', '2024-05-01T00:05:00Z'],
    ['5/1/2024 12:05 p.m.', '2024-05-01T12:05:00Z'],
    ['2024-05-01 1:30 PM', '2024-05-01T13:30:00Z'],
    ['2024-05-01 1:30:05.25pm', '2024-05-01T13:30:05.25Z'],
    ['May 1, 2024, 1:30 PM', '2024-05-01T13:30:00Z'],
    ['May 1, 2024, 1:30\u202fPM', '2024-05-01T13:30:00Z'],
    ['1 May 2024 at 13:30:07', '2024-05-01T13:30:07Z'],
    ['2024-05-01T13:30:00Z', '2024-05-01T13:30:00Z'],
    ['2024-05-01, 13:30+02:00', '2024-05-01T11:30:00Z'],
    ['1 May 2024 1:30 PM -0500', '2024-05-01T18:30:00Z'],
    ['1 May 2024', '2024-05-01T00:00:00Z'],
  ])('is read from %s', (text, instant) => {
    vi.stubEnv('TZ', 'UTC');
    expect(datetime(text)).toBe(instant);
  });

  it.each([
    '2024-05-01 13:30 EST', 'Wed, 01 May 2024 13:30:00 GMT', '2024-05-01 13:30 PM', '2024-05-01 0:30 AM', '2024-05-01 1:30 XM', '2024-05-01 24:00', '2024-05-01 12:60',
    '2024-05-01 13:30 14:30', '2024-05-01 1:3', '13:30', 'Room 5 13:30', '12 May 13:30', '31 Feb 2024 13:30', 'soon', '2024-05-01 +02:00',
  ])('is not read from %s', (text) => {
    expect(datetime(text)).toBeNull();
  });
});

it.each([
  ['2024-11-03T05:30:00Z', '2024-11-03 01:30'],
  ['2024-11-03T06:30:00.25Z', '2024-11-03 01:30:00.25-05:00'],
  ['2024-11-03T07:30:00Z', '2024-11-03 02:30'],
])('a point in time of an hour that the clock repeats is copied exactly: %s', (instant, text) => {
  vi.stubEnv('TZ', 'America/New_York');
  expect(textOf('datetime', instant)).toBe(text);
  expect(datetime(text)).toBe(instant);
});

describe('the formats of the page are read back', () => {
  const STYLES = ['short', 'medium', 'long'] as const;

  it.each(LOCALES)('as dates in %s', (locale) => {
    const { dates } = dateFormats(locale);
    const reader = dateReader(locale);
    for (const style of STYLES) {
      for (const day of MOMENTS.map((moment) => moment.slice(0, 10))) {
        const text = dates[style].format(new Date(`${day}T00:00:00Z`));
        expect([text, reader.date(text)]).toEqual([text, day]);
      }
    }
  });

  it.each(LOCALES.flatMap((locale) => ['America/New_York', 'Asia/Tokyo'].map((zone) => [locale, zone] as const)))('as points in time in %s, %s', (locale, zone) => {
    vi.stubEnv('TZ', zone);
    const { datetimes } = dateFormats(locale);
    const reader = dateReader(locale);
    for (const style of STYLES) {
      for (const moment of MOMENTS) {
        const instant = new Date(moment);
        if (style !== 'long') instant.setSeconds(0);
        const text = datetimes[style].format(instant);
        expect([text, reader.datetime(text)]).toEqual([text, `${instant.toISOString().slice(0, 19)}Z`]);
      }
    }
  });
});

it.each([null, 'iso', 'short', 'long'] as const)('a cell takes what it shows in the format %s', (as) => {
  const format = as && { as };
  const shown = (type: 'date' | 'datetime', value: string) => parseText({ ...field('f', type), format }, formatValue({ type, format }, value));
  expect(shown('date', '2024-05-01')).toEqual({ ok: true, value: '2024-05-01' });
  expect(shown('datetime', '2024-05-01T13:30:00Z')).toEqual({ ok: true, value: '2024-05-01T13:30:00Z' });
});

it('a date may have the digits of the locale, with and without marks of direction', () => {
  const reader = dateReader('ar-EG');
  expect(['٣١/٥/٢٠٢٤', '٣١\u200f/٥\u200f/٢٠٢٤', '31/5/2024', '٢٠٢٤-٠٥-٣١'].map(reader.date)).toEqual(Array(4).fill('2024-05-31'));
  // Where the calendar is Persian, so are dates in its digits.
  expect(dateReader('fa').date('۱۴۰۳-۰۲-۱۲')).toBeNull();
});

it('a date of another calendar is not read as one of the Gregorian calendar', () => {
  for (const locale of ['th', 'fa']) {
    const { dates } = dateFormats(locale);
    const reader = dateReader(locale);
    const texts = Object.values(dates).map((format) => format.format(new Date('2024-05-01T00:00:00Z')));
    expect([...texts, '1/5/2567'].map(reader.date)).toEqual([null, null, null, null]);
  }
});
