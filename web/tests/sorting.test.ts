import { expect, it } from 'vitest';
import { neighbour } from '../src/ui/sorting';

it('an item moves by one place, and not beyond the ends', () => {
  const keys = ['a', 'b', 'c', 'd'];
  expect(keys.map((key) => neighbour(keys, key, -1))).toEqual([undefined, 'a', 'b', 'c']);
  expect(keys.map((key) => neighbour(keys, key, 1))).toEqual(['c', 'd', null, undefined]);
  expect(neighbour(keys, 'x', 1)).toBeUndefined();
});
