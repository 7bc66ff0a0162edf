import { describe, expect, it } from 'vitest';
import { formatJson, parseJson } from '../src/api/json';
import { formatNumber } from '../src/cells/format';

const DIGITS = '12345678901234567890123456789012345678';

describe('JSON with exact numbers', () => {
  it('keeps 38 digits in both directions', () => {
    expect(formatJson(parseJson(`{"cost":${DIGITS}}`))).toBe(`{"cost":${DIGITS}}`);
    expect(formatJson(parseJson('0.1234567890123456789012345678901234567'))).toBe('0.1234567890123456789012345678901234567');
  });

  it('returns plain numbers if they have the same digits', () => {
    expect(parseJson('[1, -2.5, 1e3]')).toEqual([1, -2.5, 1000]);
  });
});

describe('formatted numbers', () => {
  it('have all digits', () => {
    const shown = formatNumber(parseJson(DIGITS) as never);
    expect(shown.replace(/\D/g, '')).toBe(DIGITS);
  });

  it('have an exponent if they are very large or small', () => {
    expect(formatNumber(parseJson('1E-130') as never)).toMatch(/E-130$/);
    expect(formatNumber(parseJson('9.99E+125') as never)).toMatch(/E125$/);
  });

  it.each([
    ['0', '0'],
    ['-0.5', '-0.5'],
    ['0.001', '0.001'],
    ['1200', '1,200'],
    ['-1234567.0625', '-1,234,567.0625'],
    ['1e21', '1,000,000,000,000,000,000,000'],
    ['-12.5E-40', '-1.25E-39'],
    ['0.1234567890123456789012345678901234567', '0.1234567890123456789012345678901234567'],
  ])('show %s as %s', (given, shown) => {
    expect(formatNumber(parseJson(given) as never)).toBe(shown);
  });
});
