/** The formats that fields give their values: text, and links of texts. Pure. */
import type { Exact } from '../api/json';
import type { Attribute } from '../api/types';
import { twoDigits } from './calendar';
import { plainDigits } from './digits';
import { marksOf, type NumberMarks } from './number-marks';

export type FieldFormat = Readonly<NonNullable<Attribute['format']>>;

/** Stars of a rating whose field does not say how many. */
export const STARS = 5;

/** A number as its format writes it; null where the format has no form for it, so that the number itself is shown. */
export function formattedNumber(format: FieldFormat, value: Exact, locale?: string): string | null {
  return FORMS[format.as]?.(format, value, locale) ?? null;
}

/** How numbers are written, by the name of the format. */
const FORMS: Readonly<Partial<Record<FieldFormat['as'], (format: FieldFormat, value: Exact, locale?: string) => string | null>>> = {
  plain: (format, value, locale) => {
    const { decimals, thousands, unit } = format;
    if (decimals === undefined && thousands === undefined && !unit) return null;
    const shown = written(format, value, locale, { maximumFractionDigits: 20 });
    return unit ? `${shown} ${unit}` : shown;
  },
  currency: (format, value, locale) => written(format, value, locale, { style: 'currency', currency: format.currency ?? 'XXX' }),
  percent: (format, value, locale) => written(format, value, locale, { style: 'percent', maximumFractionDigits: 20 }),
  progress: (format, value, locale) => written(format, value, locale, { style: 'percent', maximumFractionDigits: 0 }),
  rating: (format, value) => {
    const stars = starsOf(format, value);
    return stars && '★'.repeat(stars.on) + '☆'.repeat(stars.of - stars.on);
  },
  duration: (_, value) => durationOf(Number(value)),
};

function written({ decimals, thousands }: FieldFormat, value: Exact, locale: string | undefined, options: Intl.NumberFormatOptions): string {
  const digits = decimals === undefined ? {} : { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const grouped = thousands === undefined ? {} : { useGrouping: thousands };
  // Intl takes decimals of any length as text.
  return new Intl.NumberFormat(locale, { ...options, ...digits, ...grouped }).format(String(value) as `${number}`);
}

/** The stars of a rating; null for a number that is none. */
export function starsOf({ max = STARS }: FieldFormat, value: Exact): { readonly on: number; readonly of: number } | null {
  const on = Number(value);
  return Number.isInteger(on) && on >= 0 && on <= max ? { on, of: max } : null;
}

/** Hours, minutes and seconds: `1:02:03`, and `0:05` below a minute. */
function durationOf(seconds: number): string | null {
  if (!Number.isInteger(seconds) || Math.abs(seconds) > Number.MAX_SAFE_INTEGER) return null;
  const all = Math.abs(seconds);
  const [hours, minutes, rest] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  const text = hours ? `${hours}:${twoDigits(minutes)}:${twoDigits(rest)}` : `${minutes}:${twoDigits(rest)}`;
  return seconds < 0 ? `-${text}` : text;
}

/** A text without what its format adds to the number. */
export interface Unformatted {
  readonly digits: string;
  /** Whether the format has added something. */
  readonly isMarked: boolean;
  /** Whether it is a number of hundredths. */
  readonly isPercentage: boolean;
  /** The marks in the number; null for those of the locale. */
  readonly marks: NumberMarks | null;
}

/** The number in a text, without the parts that its format adds; the text itself where it has none. */
export function unformatted(format: FieldFormat | null, text: string, locale?: string): Unformatted {
  const given = plainDigits(text).trim();
  const digits = (format && READERS[format.as]?.(format, given, locale)) ?? given;
  const isMarked = digits !== given;
  const isPercentage = isMarked && (format?.as === 'percent' || format?.as === 'progress');
  return { digits, isMarked, isPercentage, marks: format?.as === 'currency' ? currencyOf(format, locale).marks : null };
}

/** What a text in a format means, by the name of the format; null where it is not in it. */
const READERS: Readonly<Partial<Record<FieldFormat['as'], (format: FieldFormat, text: string, locale?: string) => string | null>>> = {
  plain: ({ unit = '' }, text) => without(text, [plainDigits(unit)]),
  currency: (format, text, locale) => without(text, currencyOf(format, locale).symbols),
  percent: (_, text) => without(text, PERCENT_SIGNS),
  progress: (_, text) => without(text, PERCENT_SIGNS),
  rating: (_, text) => (/^★*☆*$/u.test(text) && text ? String(Array.from(text).filter((star) => star === '★').length) : null),
  duration: (_, text) => secondsOf(text),
};

/** The last one is Arabic. */
const PERCENT_SIGNS = ['%', '\u066a'];

/** A text without the first of these that it begins or ends with, also after a sign. */
function without(text: string, parts: readonly string[]): string {
  for (const part of parts.filter(Boolean)) {
    const [, sign = '', rest = ''] = /^([+\u2212-]?)(.*)$/su.exec(text) ?? [];
    if (rest.startsWith(part)) return sign + rest.slice(part.length).trim();
    if (rest.endsWith(part)) return sign + rest.slice(0, -part.length).trim();
  }
  return text;
}

interface Currency {
  readonly symbols: readonly string[];
  readonly marks: NumberMarks;
}

/** By locale and code: a large paste or import reads many numbers of few currencies. */
const CURRENCIES = new Map<string, Currency>();

function currencyOf({ currency = 'XXX' }: FieldFormat, locale?: string): Currency {
  const key = `${locale ?? ''} ${currency}`;
  const known = CURRENCIES.get(key);
  if (known) return known;
  const forms = (['symbol', 'narrowSymbol'] as const).map((currencyDisplay) => new Intl.NumberFormat(locale, { style: 'currency', currency, currencyDisplay }));
  const symbols = forms.flatMap((form) => form.formatToParts(1).flatMap(({ type, value }) => (type === 'currency' ? [plainDigits(value)] : [])));
  const found = { symbols: [currency, ...symbols], marks: marksOf(new Intl.NumberFormat(locale, { style: 'currency', currency })) };
  CURRENCIES.set(key, found);
  return found;
}

/** The seconds of `1:02:03`, or of `5:30`; null for other texts. */
function secondsOf(text: string): string | null {
  const [, sign = '', hours = '0', minutes, seconds] = /^([-\u2212]?)(?:(\d{1,12}):(?=\d{2}:))?(\d{1,12}):(\d{2})$/.exec(text) ?? [];
  if (minutes === undefined || seconds === undefined) return null;
  return `${sign && '-'}${Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)}`;
}

const PHONE = /^\+?[0-9][0-9 ()./-]{2,}$/;
const MAIL = /^[^\s@<>"]+@[^\s@<>"]+$/;

/** The address that a text leads to; null where it is none, or one that could run code. */
export function linkOf(format: FieldFormat | null, text: string): string | null {
  const given = text.trim();
  if (format?.as === 'url') return webAddress(given);
  if (format?.as === 'email') return MAIL.test(given) ? `mailto:${encodeURIComponent(given).replace('%40', '@')}` : null;
  if (format?.as === 'phone') return PHONE.test(given) ? `tel:${given.replace(/[^+0-9]/g, '')}` : null;
  return null;
}

function webAddress(text: string): string | null {
  try {
    const url = new URL(text);
    return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : null;
  } catch {
    return null;
  }
}
