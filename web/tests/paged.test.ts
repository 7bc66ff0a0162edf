import { expect, it } from 'vitest';
import { Paged } from '../src/project/paged';

it('a list is read in pages, and again from its beginning; a failure keeps the loaded items', async () => {
  const pages = new Map<string | null, { items: number[]; next: string | null }>([
    [null, { items: [1, 2], next: 'a' }],
    ['a', { items: [3], next: null }],
  ]);
  const paged = new Paged((cursor) => {
    const page = pages.get(cursor);
    return page ? Promise.resolve(page) : Promise.reject(new Error('away'));
  });
  await paged.load();
  expect([paged.list.value, paged.more.value, paged.isAtStart]).toEqual([[1, 2], true, true]);
  await paged.next();
  await paged.next();
  expect([paged.list.value, paged.more.value, paged.isAtStart]).toEqual([[1, 2, 3], false, false]);
  paged.drop((one) => one === 2);
  pages.clear();
  await paged.load();
  expect(paged.list.value).toEqual([1, 3]);
  expect(paged.error.value).toEqual(new Error('away'));
});
