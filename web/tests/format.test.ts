/** Values in the formats of their fields, and the addresses to which texts lead. */
import { LosslessNumber } from 'lossless-json';
import { describe, expect, it } from 'vitest';
import { formatValue } from '../src/cells/format';
import { parseText } from '../src/cells/parse';
import { linkOf, starsOf, type FieldFormat } from '../src/fields/format';
import { formatFigure } from '../src/grid/figures';
import { fileName } from '../src/ui/save';
import { field } from './fields';

const numbers = (format: FieldFormat, value: string) => formatValue({ type: 'number', format }, new LosslessNumber(value));
/** `Intl` separates by spaces that do not break. */
const plain = (text: string) => text.replace(/[\u00a0\u202f]/g, ' ');

describe('a number in a format', () => {
  it.each<[FieldFormat, string, string]>([
    [{ as: 'plain' }, '1234.5', '1,234.5'],
    [{ as: 'plain', decimals: 2 }, '1234.5', '1,234.50'],
    [{ as: 'plain', thousands: false, unit: 'kg' }, '1234.5', '1234.5 kg'],
    [{ as: 'plain', decimals: 0, unit: '%' }, '-0.6', '-1 %'],
    [{ as: 'currency', currency: 'EUR' }, '1234.5', '€1,234.50'],
    [{ as: 'currency', currency: 'JPY' }, '1234', '¥1,234'],
    [{ as: 'currency', currency: 'USD', decimals: 0, thousands: false }, '1234.4', '$1234'],
    [{ as: 'percent' }, '0.25', '25%'],
    [{ as: 'percent', decimals: 1 }, '0.12345', '12.3%'],
    [{ as: 'rating' }, '3', '★★★☆☆'],
    [{ as: 'rating', max: 3 }, '0', '☆☆☆'],
    [{ as: 'rating', max: 3 }, '4', '4'],
    [{ as: 'rating' }, '2.5', '2.5'],
    [{ as: 'duration' }, '3723', '1:02:03'],
    [{ as: 'duration' }, '-5', '-0:05'],
    [{ as: 'duration' }, '0.5', '0.5'],
    [{ as: 'progress' }, '0.333', '33%'],
    [{ as: 'progress', decimals: 1 }, '1.5', '150.0%'],
  ])('%j of %s is %s', (format, value, text) => {
    expect(plain(numbers(format, value))).toBe(text);
  });

  it('keeps all its digits', () => {
    expect(numbers({ as: 'plain', decimals: 2 }, '12345678901234567890123.456')).toBe('12,345,678,901,234,567,890,123.46');
    expect(numbers({ as: 'currency', currency: 'EUR' }, '99999999999999999999.99')).toBe('€99,999,999,999,999,999,999.99');
  });

  it('has a number of stars only where it can', () => {
    expect(starsOf({ as: 'rating' }, new LosslessNumber('5'))).toEqual({ on: 5, of: 5 });
    expect(starsOf({ as: 'rating' }, new LosslessNumber('-1'))).toBeNull();
  });
});

describe('a number that is typed as its format writes it', () => {
  it.each<[FieldFormat, string, string]>([
    [{ as: 'percent' }, '25%', '0.25'],
    [{ as: 'percent' }, '-1,234.5 %', '-12.345'],
    [{ as: 'percent' }, '0.5', '0.5'],
    [{ as: 'percent' }, '7%', '0.07'],
    [{ as: 'percent' }, '300%', '3'],
    [{ as: 'progress' }, '1e3%', '1e1'],
    [{ as: 'currency', currency: 'EUR' }, '€1,234.50', '1234.50'],
    [{ as: 'currency', currency: 'EUR' }, '-€5', '-5'],
    [{ as: 'currency', currency: 'EUR' }, '5 EUR', '5'],
    [{ as: 'plain', unit: 'kg' }, '1,234.5 kg', '1234.5'],
    [{ as: 'plain', unit: '%' }, '5 %', '5'],
    [{ as: 'rating' }, '★★★☆☆', '3'],
    [{ as: 'rating' }, '☆☆☆', '0'],
    [{ as: 'rating' }, '4', '4'],
    [{ as: 'duration' }, '1:02:03', '3723'],
    [{ as: 'duration' }, '-0:05', '-5'],
    [{ as: 'duration' }, '90:00', '5400'],
    [{ as: 'duration' }, '12', '12'],
  ])('%j: %s is %s', (format, text, digits) => {
    const parsed = parseText({ ...field('f', 'number'), format }, text);
    expect(parsed.ok && String(parsed.value)).toBe(digits);
  });

  it.each<[FieldFormat, string]>([
    [{ as: 'percent' }, '%'],
    [{ as: 'currency', currency: 'EUR' }, '$5'],
    [{ as: 'plain', unit: 'kg' }, '5 lb'],
    [{ as: 'duration' }, '1:2:3'],
  ])('%j: %s is no number', (format, text) => {
    expect(parseText({ ...field('f', 'number'), format }, text).ok).toBe(false);
  });

  it('is read back from every form that the format writes', () => {
    const formats: readonly FieldFormat[] = [
      { as: 'plain', decimals: 3, unit: 'kg' },
      { as: 'currency', currency: 'EUR', decimals: 3 },
      { as: 'currency', currency: 'CHF', decimals: 3, thousands: false },
      { as: 'percent' },
      { as: 'duration' },
    ];
    for (const format of formats) {
      for (const value of ['1234', '-5', '0', '86399']) {
        const parsed = parseText({ ...field('f', 'number'), format }, formatValue({ type: 'number', format }, new LosslessNumber(value)));
        expect(parsed.ok && Number(String(parsed.value)), `${value} as ${format.as}`).toBe(Number(value));
      }
    }
  });
});

describe('the name of a file', () => {
  it.each<[readonly (string | undefined)[], string]>([
    [['Parts', 'Open'], 'Parts - Open.csv'],
    [['Parts', undefined], 'Parts.csv'],
    [['a/b:c*?"<>|\\', ' \n'], 'a b c.csv'],
    [['...'], 'export.csv'],
    [['x'.repeat(200)], `${'x'.repeat(100)}.csv`],
    [['Käse 🧀'], 'Käse 🧀.csv'],
  ])('of %j is %s', (parts, name) => {
    expect(fileName(parts, 'csv')).toBe(name);
  });
});

describe('a date in a format', () => {
  it.each<[FieldFormat['as'], string]>([
    ['iso', '2024-05-01'],
    ['short', '5/1/24'],
    ['long', 'May 1, 2024'],
  ])('%s', (as, text) => {
    expect(formatValue({ type: 'date', format: { as } }, '2024-05-01')).toBe(text);
  });

  it('is the instant itself as ISO has it', () => {
    expect(formatValue({ type: 'datetime', format: { as: 'iso' } }, '2024-05-01T12:00:00Z')).toBe('2024-05-01T12:00:00Z');
  });
});

describe('the address of a text', () => {
  it.each<[FieldFormat['as'], string, string | null]>([
    ['url', ' https://example.org/a b ', 'https://example.org/a%20b'],
    ['url', 'http://example.org', 'http://example.org/'],
    ['url', 'javascript:alert(1)', null],
    ['url', 'JaVaScRiPt://x%0aalert(1)', null],
    ['url', 'data:text/html,<script>1</script>', null],
    ['url', 'vbscript:x', null],
    ['url', 'example.org', null],
    ['url', '//example.org', null],
    ['email', 'ann@example.org', 'mailto:ann@example.org'],
    ['email', 'ann@example.org?cc=eve@example.org', null],
    ['email', 'ann?cc=x@example.org', 'mailto:ann%3Fcc%3Dx@example.org'],
    ['email', 'ann', null],
    ['phone', '+44 (0) 131-555 0100', 'tel:+4401315550100'],
    ['phone', 'javascript:1', null],
    ['long', 'https://example.org', null],
  ])('%s of %s', (as, text, address) => {
    expect(linkOf({ as }, text)).toBe(address);
  });

  it('is none without a format', () => {
    expect(linkOf(null, 'https://example.org')).toBeNull();
  });
});

describe('a function of a field', () => {
  const price = { ...field('price', 'number'), format: { as: 'currency', currency: 'EUR' } as const };
  const stars = { ...field('stars', 'number'), format: { as: 'rating' } as const };
  const of = (value: string) => new LosslessNumber(value);

  it('is in the format of the field where it is one of its values', () => {
    expect(formatFigure(price, 'sum', of('1234.5'))).toBe('€1,234.50');
    expect(formatFigure(price, 'avg', of('0.333333'))).toBe('€0.33');
    expect(formatFigure(price, 'count', of('1234'))).toBe('1,234');
    expect(formatFigure(stars, 'max', of('4'))).toBe('★★★★☆');
  });

  it('is a number where it is none', () => {
    expect(formatFigure(stars, 'sum', of('4'))).toBe('4');
    expect(formatFigure(stars, 'avg', of('3.14159265'))).toBe('3.14159');
  });
});
