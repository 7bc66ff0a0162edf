import { describe, expect, it } from 'vitest';
import { Api } from '../src/api/client';
import { issuesThatPass, readRows } from '../src/project/queries';
import { wholePage } from '../src/project/whole-page';

/** Places of an order: the number of the issue there, or null for one that has moved. Answers have so many rows at most. */
function orderOf(places: readonly (number | null)[], most: number) {
  const asked: [number, number][] = [];
  const read = (offset: number, limit: number) => {
    asked.push([offset, limit]);
    const rows: { num: number }[] = [];
    let end = offset;
    for (; end < Math.min(offset + limit, places.length) && rows.length < most; end += 1) {
      const num = places[end];
      if (typeof num === 'number') rows.push({ num });
    }
    return Promise.resolve({ rows, end: end === places.length });
  };
  return { asked, read };
}

describe('a page that the API ends early', () => {
  const nums = ({ rows }: { readonly rows: readonly { readonly num: number }[] }) => rows.map(({ num }) => num);

  it('is read on until it is whole, or the order ends', async () => {
    const { asked, read } = orderOf([1, 2, 3, 4, 5, 6, 7], 2);
    expect(nums(await wholePage(read, 1, 5))).toEqual([2, 3, 4, 5, 6]);
    expect(asked).toEqual([[1, 5], [3, 3], [5, 1]]);
    expect(await wholePage(read, 5, 10)).toEqual({ rows: [{ num: 6 }, { num: 7 }], end: true });
    expect(await wholePage(read, 7, 10)).toEqual({ rows: [], end: true });
  });

  it('has each row once, and none of the places after it, if rows have moved', async () => {
    const { asked, read } = orderOf([1, null, 3, null, 5, 6, 7, null, null], 9);
    expect(nums(await wholePage(read, 0, 6))).toEqual([1, 3, 5, 6]);
    expect(asked).toEqual([[0, 6], [4, 2]]);
    const cut = orderOf([1, null, 3, null, 5, 6, 7], 2);
    expect(nums(await wholePage(cut.read, 0, 6))).toEqual([1, 3, 5, 6]);
    const gone = orderOf([1, null, null, 4], 9);
    expect(nums(await wholePage(gone.read, 1, 2))).toEqual([]);
    expect(gone.asked).toEqual([[1, 2]]);
  });

  it('is whole also for issues by their numbers', async () => {
    const fetch: typeof globalThis.fetch = (_, request) => {
      const { offset, limit } = JSON.parse(request?.body as string) as { offset: number; limit: number };
      const rows = [7, 8, 9].slice(offset, offset + Math.min(limit, 2)).map((num) => ({ num, version: 1, fields: {} }));
      return Promise.resolve(Response.json({ rows, next: offset + rows.length < 3 ? 'more' : null }));
    };
    const api = new Api({ sign: () => Promise.resolve(), expired: () => undefined }, fetch);
    expect((await readRows(api, 'p', [7, 8, 9], ['name'])).map(({ num }) => num)).toEqual([7, 8, 9]);
    expect(await issuesThatPass(api, 'p', { field: 'name', op: 'contains', value: 'x' }, [7, 8, 9])).toEqual(new Set([7, 8, 9]));
  });
});
