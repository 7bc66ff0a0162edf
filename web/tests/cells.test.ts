import { LosslessNumber } from 'lossless-json';
import { describe, expect, it } from 'vitest';
import { formatJson } from '../src/api/json';
import type { FieldType } from '../src/api/types';
import { formatAverage, formatValue } from '../src/cells/format';
import { numberText } from '../src/cells/number-text';
import { parseText } from '../src/cells/parse';
import { textOf } from '../src/cells/text';
import { field } from './fields';

const OPTIONS = ['Low', 'High', 'Very high, indeed'];

function read(type: FieldType, text: string): unknown {
  const parsed = parseText(field('f', type, OPTIONS), text);
  return parsed.ok ? parsed.value : 'refused';
}

describe('typed text', () => {
  it.each([
    ['1,234.50', '1234.50'],
    ['-.5', '-0.5'],
    ['+007', '7'],
    ['1e3', '1e3'],
    ['\u22122 000', '-2000'],
    ['12345678901234567890.123456789012345678', '12345678901234567890.123456789012345678'],
  ])('is the number %s', (text, digits) => {
    expect(formatJson(read('number', text))).toBe(digits);
  });

  it.each(['en', 'de', 'de-CH', 'es', 'fr', 'pt-BR', 'pl', 'sv', 'hi', 'ar-EG', 'fa'])('that the page writes in %s is read back as the same number', (locale) => {
    const numbers = numberText(locale);
    for (const digits of ['0.125', '12.345', '-3.250', '1234567', '1234.5', '1.000', '1.5e-7', '2e10', '0.12345678901234567890123456789012345678']) {
      expect(numbers.read(numbers.write(digits))).toBe(digits);
    }
  });

  it('is a number as the locale groups it', () => {
    expect(numberText('de').read('1.234')).toBe('1234');
    expect(numberText('de').read('0,125')).toBe('0.125');
    expect(['0.125', '-0.250', '00.125'].map((text) => numberText('de').read(text))).toEqual(['0.125', '-0.250', '00.125']);
    expect(numberText('en').read('1.234')).toBe('1.234');
  });

  it('is shown without groups that programs would read as a fraction', () => {
    const numbers = numberText('de');
    expect(['1.234', '\u22121.234.567', '1.234,5', '1.234 €', '12'].map((shown) => numbers.plain(shown))).toEqual(['1234', '\u22121234567', '1.234,5', '1.234 €', '12']);
    expect(numberText('en').plain('1,234')).toBe('1,234');
  });

  it.each(['abc', '1.2.3', '--1', '1e99999', ''])('is not a number: %j', (text) => {
    expect(read('number', text)).toBe(text === '' ? null : 'refused');
  });

  it.each([
    ['2024-05-01', '2024-05-01'],
    ['2024-5-1', '2024-05-01'],
    ['5/31/2024', '2024-05-31'],
    ['5.31.24', '2024-05-31'],
    ['31 May 2024', '2024-05-31'],
    ['2023-02-29', 'refused'],
    ['13/13/2024', 'refused'],
    ['soon', 'refused'],
  ])('is a date: %s', (text, date) => {
    expect(read('date', text)).toBe(date);
  });

  it.each([
    ['2024-05-01T13:30:00Z', '2024-05-01T13:30:00Z'],
    ['2024-05-01 13:30:15.123456+02:00', '2024-05-01T11:30:15.123456Z'],
    ['2024-05-01 13:30:15.120Z', '2024-05-01T13:30:15.12Z'],
    ['2024-05-01 13:30:15.000Z', '2024-05-01T13:30:15Z'],
    ['2024-05-01T13:30+0200', '2024-05-01T11:30:00Z'],
    ['2024-05-01 24:00', 'refused'],
    ['noon', 'refused'],
  ])('is a point in time: %s', (text, instant) => {
    expect(read('datetime', text)).toBe(instant);
  });

  it('is yes or no', () => {
    expect(['Yes', 'TRUE', 'x', '0', 'no', 'maybe'].map((text) => read('bool', text))).toEqual([true, true, true, false, false, 'refused']);
  });

  it('is an option in upper or lower case, even with a comma', () => {
    expect(['high', 'very high, indeed', 'highest'].map((text) => read('enum', text))).toEqual(['High', 'Very high, indeed', 'refused']);
    expect(read('multi_enum', 'high; LOW,low')).toEqual(['Low', 'High']);
    expect(read('multi_enum', 'Very high, indeed')).toEqual(['Very high, indeed']);
    expect(read('multi_enum', 'Low, none')).toBe('refused');
    expect(read('multi_enum', 'Very high, indeed; low')).toEqual(['Low', 'Very high, indeed']);
  });

  it('is required in a required field', () => {
    expect(parseText({ ...field('f', 'text'), required: true }, ' ').ok).toBe(false);
  });
});

describe('the text of a value', () => {
  it.each<[FieldType, unknown]>([
    ['text', 'a "b"'],
    ['text', '  two\nlines\r\n\tand a tab '],
    ['number', new LosslessNumber('12345678901234567890.123456789012345678')],
    ['date', '0999-12-31'],
    ['datetime', '2024-05-01T13:30:15.000001Z'],
    ['datetime', '2024-05-01T13:30:00Z'],
    ['bool', false],
    ['enum', 'High'],
    ['multi_enum', ['Low', 'High']],
    ['multi_enum', ['Low', 'Very high, indeed']],
  ])('of type %s survives a round trip: %j', (type, value) => {
    expect(read(type, textOf(type, value as never))).toEqual(value);
  });

  it('is empty for no value', () => {
    expect([textOf('number', null), formatValue({ type: 'number' }, null)]).toEqual(['', '']);
  });
});

it('an average has a readable number of digits at any size', () => {
  const long = new LosslessNumber('2.54009433962264150943396226415094339623');
  expect([long, 7, new LosslessNumber('0.000012345678901234567'), new LosslessNumber('123456789012345678.123456')].map(formatAverage)).toEqual([
    '2.54009',
    '7',
    '0.0000123457',
    '123,456,789,012,345,678.1235',
  ]);
});
