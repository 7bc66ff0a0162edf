/** Numbers in the locales of readers: what the page shows, and what users type, are the same values again. */
import { LosslessNumber } from 'lossless-json';
import { describe, expect, it } from 'vitest';
import { numberFormatter } from '../src/cells/format';
import { numberReader } from '../src/cells/number-reader';
import { numberText } from '../src/cells/number-text';
import { formattedNumber, type FieldFormat } from '../src/fields/format';

/**
 * They differ in marks, also of currencies (Austria, Switzerland, English in Germany). They also differ in the places of
 * signs, in marks of direction and in digits.
 */
const LOCALES = [
  'en', 'en-IN', 'en-DE', 'en-SE', 'en-CH', 'de', 'de-AT', 'de-CH', 'fr', 'fr-CH', 'es', 'it', 'pt-BR', 'pt-PT', 'pt-CV', 'nl', 'sv', 'nb', 'da', 'fi', 'et', 'lv', 'lt',
  'pl', 'cs', 'sl', 'hu', 'ru', 'uk', 'el', 'eu', 'tr', 'ku', 'he', 'ar', 'ar-EG', 'ar-MA', 'fa', 'ur', 'hi', 'mr', 'ne', 'bn', 'my', 'th', 'vi', 'ja', 'ko', 'zh-CN', 'ff-Adlm', 'nqo',
];
const FORMATS: readonly (FieldFormat | null)[] = [
  null,
  { as: 'plain', decimals: 0 },
  { as: 'plain', decimals: 3, unit: 'kg' },
  { as: 'plain', thousands: false, decimals: 4 },
  { as: 'currency', currency: 'EUR', decimals: 0 },
  { as: 'currency', currency: 'EUR', decimals: 4 },
  { as: 'currency', currency: 'CHF', decimals: 4, thousands: false },
  { as: 'currency', currency: 'EGP', decimals: 3 },
  { as: 'currency', currency: 'TRY', decimals: 3 },
  { as: 'percent' },
  { as: 'percent', decimals: 3, thousands: false },
  { as: 'progress', decimals: 0 },
  { as: 'duration' },
];
const WHOLE = ['0', '7', '-5', '1234', '-1234', '1234567', '-1234567', '1000'];
const BROKEN = ['0.125', '-1234.5', '1.234', '1234567.25'];

const isWhole = ({ as, decimals }: FieldFormat) => as === 'duration' || as === 'progress' || decimals === 0;

describe.each(LOCALES)('a number in %s', (locale) => {
  const read = numberReader(locale);
  const show = numberFormatter(locale);

  it('is read back as the page shows it', () => {
    for (const format of FORMATS) {
      for (const digits of format && isWhole(format) ? WHOLE : [...WHOLE, ...BROKEN, ...(format ? [] : ['1e50', '-2.5e-60'])]) {
        const value = new LosslessNumber(digits);
        const shown = (format && formattedNumber(format, value, locale)) ?? show(value);
        expect(Number(read(format, shown) ?? NaN), `${digits} as ${JSON.stringify(format)}: ${shown}`).toBe(Number(digits));
        // Blanks and marks of direction change or get lost on the way through other programs.
        const pasted = shown.replace(/[\u200e\u200f\u061c]/g, '').replace(/\s/g, ' ');
        expect(Number(read(format, pasted) ?? NaN), `${digits} as ${JSON.stringify(format)}: ${pasted}`).toBe(Number(digits));
      }
    }
  });

  it('is read back as the page copies it, whatever the format', () => {
    const numbers = numberText(locale);
    for (const format of FORMATS) {
      for (const digits of [...WHOLE, ...BROKEN]) expect(Number(read(format, numbers.write(digits)) ?? NaN), `${digits} as ${JSON.stringify(format)}`).toBe(Number(digits));
    }
  });

  it('is read as users of the locale type it, with and without groups', () => {
    for (const digits of [...WHOLE, ...BROKEN]) {
      for (const useGrouping of [true, false]) {
        const typed = new Intl.NumberFormat(locale, { useGrouping, maximumFractionDigits: 20 }).format(Number(digits));
        for (const format of [null, { as: 'plain', unit: 'kg' }, { as: 'currency', currency: 'EUR' }] as const) expect(Number(read(format, typed) ?? NaN), typed).toBe(Number(digits));
      }
    }
  });
});

describe('a currency with other marks than plain numbers', () => {
  const euros: FieldFormat = { as: 'currency', currency: 'EUR', decimals: 0 };

  it.each([
    ['de-AT', '\u20ac 1.234', '1234'],
    ['de-AT', '1.234', '1234'],
    ['de-AT', '\u20ac 1.234,50', '1234.50'],
    ['de-AT', '1.234,50', '1234.50'],
    ['de-AT', '1234,5', '1234.5'],
    ['de-AT', '1.5', '1.5'],
    ['en-DE', '\u20ac1,234', '1234'],
    ['en-DE', '\u20ac1.234', '1.234'],
    ['en-DE', '1.234', '1234'],
    ['en-DE', '1,234', '1.234'],
  ])('in %s: %s is %s', (locale, text, digits) => {
    expect(numberReader(locale)(euros, text)).toBe(digits);
  });
});

describe('a sign of percent', () => {
  it.each([
    ['tr', '%25', '0.25'],
    ['tr', '-%25', '-0.25'],
    ['tr', '25%', '0.25'],
    ['en', '% 25', '0.25'],
    ['ar-EG', '\u0662\u0665\u066a\u061c', '0.25'],
    ['en', '%', null],
    ['en', '%25%', null],
  ])('in %s: %s is %s', (locale, text, digits) => {
    expect(numberReader(locale)({ as: 'percent' }, text)).toBe(digits);
    expect(numberReader(locale)(null, text)).toBeNull();
  });
});
