import { expect, it } from 'vitest';
import { neighbourRow } from '../src/rows/neighbours';
import type { Slot } from '../src/rows/store';

it('an issue has a neighbour beyond heads of groups and rows that are gone, also before it is loaded', () => {
  const rows: readonly Slot['kind'][] = ['group', 'issue', 'gone', 'group', 'issue', 'loading', 'group'];
  const from = (row: number, by: -1 | 1) => neighbourRow((at) => rows[at] ?? 'gone', rows.length, row, by);
  expect([from(1, -1), from(1, 1), from(4, -1), from(4, 1), from(5, 1)]).toEqual([undefined, 4, 1, 5, undefined]);
});
