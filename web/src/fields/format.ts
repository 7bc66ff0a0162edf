/** The formats that fields give their values: text, and links of texts. Pure. */
import type { Exact } from '../api/json';
import type { Attribute } from '../api/types';

export type FieldFormat = Readonly<NonNullable<Attribute['format']>>;

/** Stars of a rating whose field does not say how many. */
export const STARS = 5;

/** A number as its format writes it; null where the format has no form for it, so that the number itself is shown. */
export function formattedNumber(format: FieldFormat, value: Exact): string | null {
  return FORMS[format.as]?.(format, value) ?? null;
}

/** How numbers are written, by the name of the format. */
const FORMS: Readonly<Partial<Record<FieldFormat['as'], (format: FieldFormat, value: Exact) => string | null>>> = {
  plain: (format, value) => {
    const { decimals, thousands, unit } = format;
    if (decimals === undefined && thousands === undefined && !unit) return null;
    const shown = written(format, value, { maximumFractionDigits: 20 });
    return unit ? `${shown} ${unit}` : shown;
  },
  currency: (format, value) => written(format, value, { style: 'currency', currency: format.currency ?? 'XXX' }),
  percent: (format, value) => written(format, value, { style: 'percent', maximumFractionDigits: 20 }),
  progress: (format, value) => written(format, value, { style: 'percent', maximumFractionDigits: 0 }),
  rating: (format, value) => {
    const stars = starsOf(format, value);
    return stars && '★'.repeat(stars.on) + '☆'.repeat(stars.of - stars.on);
  },
  duration: (_, value) => durationOf(Number(value)),
};

function written({ decimals, thousands }: FieldFormat, value: Exact, options: Intl.NumberFormatOptions): string {
  const digits = decimals === undefined ? {} : { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const grouped = thousands === undefined ? {} : { useGrouping: thousands };
  // Intl takes decimals of any length as text.
  return new Intl.NumberFormat(undefined, { ...options, ...digits, ...grouped }).format(String(value) as `${number}`);
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
  const two = (part: number) => String(part).padStart(2, '0');
  const text = hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
  return seconds < 0 ? `-${text}` : text;
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
