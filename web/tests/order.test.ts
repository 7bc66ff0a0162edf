import { expect, it } from 'vitest';
import { parseJson } from '../src/api/json';
import type { CellValue, Row } from '../src/fields/values';
import { compareRows } from '../src/view/order';
import { field } from './fields';

const FIELDS = [
  field('number', 'number'),
  field('text'),
  field('state', 'enum', ['open', 'closed']),
  field('many', 'multi_enum', ['x', 'y', 'z']),
  field('time', 'datetime'),
  field('flag', 'bool'),
];
let num = 0;
const row = (values: Record<string, CellValue>): Row => ({ num: (num += 1), version: 1, values });
const exact = (digits: string) => parseJson(digits) as CellValue;

it.each<[string, CellValue, CellValue]>([
  ['number', exact('9'), exact('10')],
  ['number', exact('12345678901234567890123456789012345677'), exact('12345678901234567890123456789012345678')],
  ['number', exact('-12345678901234567890123456789012345678'), exact('-12345678901234567890123456789012345677')],
  ['text', 'Éclair', 'ecru'],
  ['state', 'open', 'closed'],
  ['many', ['x', 'z'], ['y']],
  ['many', ['x'], ['x', 'y']],
  ['time', '2024-01-01T00:00:00Z', '2024-01-01T00:00:00.5Z'],
  ['flag', false, true],
  ['number', exact('5'), null],
])('by %s, %j precedes %j', (id, first, second) => {
  const sort = [{ field: id, direction: 'asc', nulls: 'last' }] as const;
  expect(Math.sign(compareRows(row({ [id]: first }), row({ [id]: second }), sort, FIELDS))).toBe(-1);
  expect(Math.sign(compareRows(row({ [id]: second }), row({ [id]: first }), sort, FIELDS))).toBe(1);
});

it('nulls stay last in a descending order, and numbers break ties in the direction of the last key', () => {
  const sort = [{ field: 'text', direction: 'desc', nulls: 'last' }] as const;
  const [a, b] = [row({ text: 'a' }), row({ text: 'a' })];
  expect(compareRows(row({}), a, sort, FIELDS)).toBeGreaterThan(0);
  expect(compareRows(a, b, sort, FIELDS)).toBeGreaterThan(0);
  expect(compareRows(a, b, [], FIELDS)).toBeLessThan(0);
});
