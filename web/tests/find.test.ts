import { describe, expect, it } from 'vitest';
import { Layout, type Piece } from '../src/rows/layout';
import type { Slot } from '../src/rows/store';
import { beforeAll, indexOfMatch, nextCell, nextMatch, runsBefore, type SearchedRows } from '../src/selection/find';

/** Rows of the screen: the columns that match; null: it is loading; a head of a group is no issue. */
function searched(...rows: readonly (readonly number[] | 'loading' | 'head')[]): SearchedRows {
  const at = (row: number): Slot => {
    const one = rows[row];
    if (one === 'loading') return { kind: 'loading' };
    return one === 'head' || !one ? { kind: 'gone' } : { kind: 'issue', row: { num: row, version: 1, values: {} } };
  };
  return { length: rows.length, at, columnsOf: ({ num }) => rows[num] as readonly number[] };
}

describe('the next match among loaded rows', () => {
  const rows = searched([1, 3], [], 'head', [2], 'loading', [0]);

  it('is the next cell of the row, or a cell of a later row', () => {
    expect(nextCell(rows, { row: 0, column: 0 }, 1)).toEqual({ row: 0, column: 1 });
    expect(nextCell(rows, { row: 0, column: 1 }, 1)).toEqual({ row: 0, column: 3 });
    expect(nextCell(rows, { row: 0, column: 3 }, 1)).toEqual({ row: 3, column: 2 });
    expect(nextCell(rows, { row: 3, column: 1 }, -1)).toEqual({ row: 0, column: 3 });
    expect(nextCell(rows, { row: 0, column: 3 }, -1)).toEqual({ row: 0, column: 1 });
  });

  it('is unknown if a row on the way is not loaded, and none at the end', () => {
    expect(nextCell(rows, { row: 3, column: 2 }, 1)).toBeUndefined();
    expect(nextCell(rows, { row: 0, column: 1 }, -1)).toBeNull();
    expect(nextCell(rows, { row: 5, column: 0 }, 1)).toBeNull();
  });

  it('begins at either end', () => {
    expect(nextCell(rows, beforeAll(rows, 1), 1)).toEqual({ row: 0, column: 1 });
    expect(nextCell(rows, beforeAll(rows, -1), -1)).toEqual({ row: 5, column: 0 });
    expect(nextCell(searched(), beforeAll(searched(), 1), 1)).toBeNull();
    expect(nextCell(searched(), beforeAll(searched(), -1), -1)).toBeNull();
  });
});

describe('the next match among all rows', () => {
  it('follows the matches before the issue, and itself if it is one', () => {
    expect(nextMatch([5], { run: 0, before: 2, matches: false }, 1)).toEqual({ run: 0, offset: 2, wrapped: false });
    expect(nextMatch([5], { run: 0, before: 2, matches: true }, 1)).toEqual({ run: 0, offset: 3, wrapped: false });
    expect(nextMatch([5], { run: 0, before: 2, matches: true }, -1)).toEqual({ run: 0, offset: 1, wrapped: false });
    expect(nextMatch([0], { run: 0, before: 0, matches: false }, 1)).toBeNull();
  });

  it('continues from the other end', () => {
    expect(nextMatch([2], { run: 0, before: 2, matches: false }, 1)).toEqual({ run: 0, offset: 0, wrapped: true });
    expect(nextMatch([2], { run: 0, before: 0, matches: true }, -1)).toEqual({ run: 0, offset: 1, wrapped: true });
    expect(nextMatch([1], { run: 0, before: 0, matches: true }, 1)).toEqual({ run: 0, offset: 0, wrapped: true });
  });

  it('is in another group where the own one has no more', () => {
    const counts = [2, 0, 3];
    expect(nextMatch(counts, { run: 0, before: 1, matches: true }, 1)).toEqual({ run: 2, offset: 0, wrapped: false });
    expect(nextMatch(counts, { run: 2, before: 0, matches: true }, -1)).toEqual({ run: 0, offset: 1, wrapped: false });
    expect(nextMatch(counts, { run: 1, before: 0, matches: false }, 1)).toEqual({ run: 2, offset: 0, wrapped: false });
    expect(nextMatch(counts, { run: 3, before: 0, matches: false }, 1)).toEqual({ run: 0, offset: 0, wrapped: true });
    expect(indexOfMatch(counts, { run: 2, before: 1, matches: true })).toBe(3);
  });
});

describe('the runs before a row', () => {
  const head: Piece = { kind: 'group', group: { key: 'a', depth: 0, field: 'kind', value: 'a', values: ['a'], filter: null, count: 2, open: true, figures: [] } };
  const run = (key: string, count: number): Piece => ({ kind: 'run', run: { key, filter: null, count } });

  it('are those of the groups above', () => {
    const layout = new Layout([head, run('/a', 2), head, head, run('/b', 1)]);
    expect([0, 1, 2, 3, 4, 5, 6].map((row) => runsBefore(layout, row))).toEqual([0, 0, 0, 1, 1, 1, 2]);
  });
});
