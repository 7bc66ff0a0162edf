/** The formats that fields give their values: text, and links of texts. Pure. */
import type { Exact } from '../api/json';
import type { Attribute } from '../api/types';

export type FieldFormat = Readonly<NonNullable<Attribute['format']>>;

/** Stars of a rating whose field does not say how many. */
export const STARS = 5;

/** A number as its format writes it; null where the format has no form for it, so that the number itself is shown. */
export function formattedNumber(format: FieldFormat, value: Exact): string | null {
  const { decimals, thousands } = format;
  const digits = decimals === undefined ? {} : { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const grouped = thousands === undefined ? {} : { useGrouping: thousands };
  // Intl takes decimals of any length as text.
  const text = String(value) as `${number}`;
  switch (format.as) {
    case 'plain': {
      if (decimals === undefined && thousands === undefined && !format.unit) return null;
      const most = decimals === undefined ? { maximumFractionDigits: 20 } : {};
      const shown = new Intl.NumberFormat(undefined, { ...most, ...digits, ...grouped }).format(text);
      return format.unit ? `${shown} ${format.unit}` : shown;
    }
    case 'currency':
      return new Intl.NumberFormat(undefined, { style: 'currency', currency: format.currency ?? 'XXX', ...digits, ...grouped }).format(text);
    case 'percent':
      return new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 20, ...digits, ...grouped }).format(text);
    case 'progress': {
      const most = decimals === undefined ? { maximumFractionDigits: 0 } : {};
      return new Intl.NumberFormat(undefined, { style: 'percent', ...most, ...digits }).format(text);
    }
    case 'rating': {
      const stars = starsOf(format, value);
      return stars === null ? null : '★'.repeat(stars.on) + '☆'.repeat(stars.of - stars.on);
    }
    case 'duration':
      return durationOf(Number(text));
    default:
      return null;
  }
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
  switch (format?.as) {
    case 'url':
      return webAddress(text.trim());
    case 'email':
      return MAIL.test(text.trim()) ? `mailto:${encodeURIComponent(text.trim()).replace('%40', '@')}` : null;
    case 'phone':
      return PHONE.test(text.trim()) ? `tel:${text.replace(/[^+0-9]/g, '')}` : null;
    default:
      return null;
  }
}

function webAddress(text: string): string | null {
  try {
    const url = new URL(text);
    return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : null;
  } catch {
    return null;
  }
}
