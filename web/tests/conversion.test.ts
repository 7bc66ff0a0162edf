import { expect, it } from 'vitest';
import { converts, targetsFor } from '../src/fields/conversion';
import { field } from './fields';

it('a copy is offered to the fields that can take the values', () => {
  const [size, count, due, seen] = [field('size'), field('count', 'number'), field('due', 'date'), field('seen', 'datetime')];
  const created = { ...field('created', 'datetime'), editable: false };
  const all = [size, count, due, seen, created];
  const ids = (from: typeof size) => targetsFor(from, all).map(({ id }) => id);
  expect(ids(size)).toEqual(['count', 'due', 'seen']);
  expect(ids(count)).toEqual(['size']);
  expect(ids(created)).toEqual(['size', 'due', 'seen']);
  expect(converts('enum', 'multi_enum')).toBe(true);
  expect(converts('multi_enum', 'bool')).toBe(false);
});
