/** The figures of selected numbers. */
import { LosslessNumber } from 'lossless-json';
import { describe, expect, it } from 'vitest';
import { formatAverage, formatNumber } from '../src/cells/format';
import { decimalOf, exactFrom } from '../src/fields/decimal';
import { figuresOf } from '../src/selection/figures';

function shown(...numbers: readonly string[]) {
  const figures = figuresOf(numbers.map((number) => new LosslessNumber(number)));
  return figures && [formatNumber(figures.sum), formatAverage(figures.avg), formatNumber(figures.min), formatNumber(figures.max)];
}

describe('the figures of selected numbers', () => {
  it.each<[readonly string[], readonly string[]]>([
    [['0.1', '0.2'], ['0.3', '0.15', '0.1', '0.2']],
    [['-1.5', '1e3', '2.50'], ['1,001', '333.6667', '-1.5', '1,000']],
    [['99999999999999999999999999999999999999', '1'], ['100,000,000,000,000,000,000,000,000,000,000,000,000', '50,000,000,000,000,000,000,000,000,000,000,000,000', '1', '99,999,999,999,999,999,999,999,999,999,999,999,999']],
    [['1E-20', '1'], ['1.00000000000000000001', '0.5', '0.00000000000000000001', '1']],
    [['-0.5', '0.5'], ['0', '0', '-0.5', '0.5']],
    [['-3', '-5'], ['-8', '-4', '-5', '-3']],
  ])('of %j keep all digits', (numbers, expected) => {
    expect(shown(...numbers)).toEqual(expected);
  });

  it('takes plain numbers', () => {
    expect(String(Number(String(figuresOf([1, 2.25])?.sum)))).toBe('3.25');
  });

  it('have an exponent from the same size on as the numbers of cells', () => {
    const written = (text: string) => String(exactFrom(decimalOf(new LosslessNumber(text))));
    const nines = '9'.repeat(38);
    expect([nines, `-0.${nines}`, '1e38', '1e39', '-12345678901234567890e-57', '1e-39', `1.${nines}e39`, '0e99'].map(written)).toEqual([
      nines, `-0.${nines}`, `1${'0'.repeat(38)}`, '1e39', `-0.${'0'.repeat(37)}12345678901234567890`, '1e-39', `1${nines}e1`, '0',
    ]);
  });

  it('are none of no numbers', () => {
    expect(figuresOf([])).toBeNull();
  });
});
