/** Series that a fill continues. */
import { LosslessNumber } from 'lossless-json';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { FieldType } from '../src/api/types';
import { isExact } from '../src/api/json';
import type { CellValue } from '../src/fields/values';
import { seriesOf } from '../src/selection/series';

const plain = (value: CellValue) => (isExact(value) ? String(value) : value);
const numbers = (...digits: readonly string[]) => digits.map((one) => new LosslessNumber(one));

afterEach(() => vi.unstubAllEnvs());

describe('a series', () => {
  it.each<[FieldType, readonly CellValue[], readonly CellValue[]]>([
    ['number', [1, 2], ['3', '4']],
    ['number', [10, 7.5, 5], ['2.5', '0']],
    ['number', numbers('0.1', '0.2'), ['0.3', '0.4']],
    ['number', numbers('99999999999999999999', '100000000000000000001'), ['100000000000000000003', '100000000000000000005']],
    ['number', [-1, 1], ['3', '5']],
    ['date', ['2024-02-28', '2024-02-29'], ['2024-03-01', '2024-03-02']],
    ['date', ['2024-11-15', '2024-12-15'], ['2025-01-15', '2025-02-15']],
    ['date', ['2024-01-01', '2025-01-01'], ['2026-01-01', '2027-01-01']],
    ['date', ['2024-01-31', '2024-02-29'], ['2024-03-29', '2024-04-27']],
    ['date', ['9999-12-30', '9999-12-31'], [null, null]],
    ['datetime', ['2024-01-01T23:00:00Z', '2024-01-01T23:30:00Z'], ['2024-01-02T00:00:00.000Z', '2024-01-02T00:30:00.000Z']],
    ['text', ['Part 8', 'Part 9'], ['Part 10', 'Part 11']],
    ['text', ['A-07', 'A-08', 'A-09'], ['A-10', 'A-11']],
    ['text', ['2', '1'], ['0', null]],
  ])('of %s %j goes on with %j', (type, values, next) => {
    const series = seriesOf(type, values);
    expect(next.map((_, place) => plain(series?.(values.length + place) ?? null))).toEqual(next);
    // And is what was given.
    expect(values.map((_, place) => Date.parse(String(plain(series?.(place) ?? null))))).toEqual(values.map((one) => Date.parse(String(plain(one)))));
  });

  // In New York the clock changed on 10 March 2024, from UTC-5 to UTC-4, and back on 3 November.
  it.each<[string, readonly string[], readonly (string | null)[]]>([
    ['09:00 of each day', ['2024-03-08T14:00:00Z', '2024-03-09T14:00:00Z'], ['2024-03-10T13:00:00.000Z', '2024-03-11T13:00:00.000Z']],
    ['09:00 across the change', ['2024-03-09T14:00:00Z', '2024-03-10T13:00:00Z', '2024-03-11T13:00:00Z'], ['2024-03-12T13:00:00.000Z']],
    ['09:00 of each week, backward', ['2024-11-10T14:00:00Z', '2024-11-03T14:00:00Z'], ['2024-10-27T13:00:00.000Z']],
    ['02:30, which one day does not have', ['2024-03-08T07:30:00Z', '2024-03-09T07:30:00Z'], ['2024-03-10T07:30:00.000Z', '2024-03-11T06:30:00.000Z']],
    ['24 hours across the change', ['2024-03-09T14:00:00Z', '2024-03-10T14:00:00Z'], ['2024-03-11T14:00:00.000Z']],
    ['hours across the change', ['2024-03-10T05:00:00Z', '2024-03-10T06:00:00Z'], ['2024-03-10T07:00:00.000Z', '2024-03-10T08:00:00.000Z']],
    ['the end of the calendar', ['9999-12-30T14:00:00Z', '9999-12-31T14:00:00Z'], [null]],
  ])('of points in time keeps the time of day: %s', (_, values, next) => {
    vi.stubEnv('TZ', 'America/New_York');
    const series = seriesOf('datetime', values);
    expect(next.map((_one, place) => series?.(values.length + place))).toEqual(next);
  });

  it('goes on before its first value, too', () => {
    expect(plain(seriesOf('number', [3, 5])?.(-1) ?? null)).toBe('1');
    expect(seriesOf('date', ['2024-03-01', '2024-03-02'])?.(-1)).toBe('2024-02-29');
  });

  it.each<[FieldType, readonly CellValue[]]>([
    ['number', [1]],
    ['number', [1, 1]],
    ['number', [1, 2, 4]],
    ['number', [1, null]],
    ['text', ['Part', 'Part']],
    ['text', ['A 1', 'B 2']],
    ['date', ['2024-01-01', '2024-01-01']],
    ['datetime', ['2024-01-01T00:00:00.000001Z', '2024-01-01T00:00:01.000001Z']],
    ['enum', ['1', '2']],
    ['bool', [true, false]],
  ])('is none of %s %j', (type, values) => {
    expect(seriesOf(type, values)).toBeNull();
  });
});
