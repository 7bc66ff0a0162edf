import { LosslessNumber } from 'lossless-json';
import { describe, expect, it } from 'vitest';
import type { Filter } from '../src/api/types';
import type { Field } from '../src/fields/fields';
import type { CellValue } from '../src/fields/values';
import { filterOfSought, soughtIn, withText } from '../src/selection/sought';
import { field } from './fields';

const PRICE: Field = { ...field('price', 'number'), format: { as: 'percent' } };
const one = (of: Field, text: string, match: 'part' | 'words' = 'part') => soughtIn([of], text, match, null)?.[0];
const exact = (decimal: string) => new LosslessNumber(decimal);

describe('a text in a field', () => {
  it.each<[Field, string, Filter | null]>([
    [field('note'), 'Pier', { field: 'note', op: 'contains', value: 'Pier' }],
    [field('kind', 'enum', ['beam', 'Steel beam', 'plate']), 'BEAM', { field: 'kind', op: 'in', value: ['beam', 'Steel beam'] }],
    [field('tags', 'multi_enum', ['old', 'new']), 'ol', { field: 'tags', op: 'has_any', value: ['old'] }],
    [field('tags', 'multi_enum', ['old', 'new']), 'pier', null],
    [field('cost', 'number'), '1,234.50', { field: 'cost', op: 'eq', value: exact('1234.50') }],
    [PRICE, '25%', { field: 'price', op: 'eq', value: exact('0.25') }],
    [field('cost', 'number'), '12 m', null],
    [field('due', 'date'), '2026-11-27', { field: 'due', op: 'eq', value: '2026-11-27' }],
    [field('due', 'date'), 'nov 27, 2026', { field: 'due', op: 'eq', value: '2026-11-27' }],
    [field('due', 'date'), 'girder 5', null],
    [field('owner', 'user'), ' grace ', { field: 'owner', op: 'eq', value: 'grace' }],
  ])('is found in all rows by this filter: %#', (of, text, filter) => {
    expect(one(of, text)?.filter).toEqual(filter);
  });

  it('is found on a day of the reader in points in time', () => {
    const at = one(field('at', 'datetime'), '2026-11-27');
    const noon = new Date('2026-11-27T12:00:00').toISOString();
    const next = new Date('2026-11-28T00:00:00').toISOString();
    expect([noon, next].map((time) => at?.matches(time))).toEqual([true, false]);
    expect(at?.filter).toMatchObject({ and: [{ op: 'gte' }, { op: 'lt', value: next }] });
  });

  it.each<[Field, string, CellValue, matches: boolean, shows: boolean]>([
    [field('cost', 'number'), '1234.5', exact('1234.50'), true, false],
    [field('cost', 'number'), '1,23', exact('1234.5'), false, true],
    [PRICE, '5%', exact('0.25'), false, true],
    [field('kind', 'enum', ['beam']), 'ea', 'beam', true, true],
    [field('tags', 'multi_enum', ['old', 'new']), 'ol', ['old', 'new'], true, true],
    [field('due', 'date'), 'nov', '2026-11-27', false, true],
    [field('owner', 'user'), 'gra', 'grace', false, true],
    [field('note'), 'pier', null, false, false],
  ])('matches a value as the API does, or is shown by its cell: %#', (of, text, value, matches, shows) => {
    const found = one(of, text);
    expect([found?.matches(value), found?.shows(value)]).toEqual([matches, shows]);
  });

  it('is found only in loaded rows of a large project, but for indexed words', () => {
    expect(one({ ...field('note'), search: true }, 'pier', 'words')?.filter).toEqual({ field: 'note', op: 'has_words', value: 'pier' });
    expect(one(field('note'), 'pier', 'words')).toMatchObject({ filter: null });
    expect(one(field('note'), 'pier', 'words')?.shows('a pier')).toBe(true);
    expect(one(field('kind', 'enum', ['beam']), 'beam', 'words')?.filter).toBeNull();
  });
});

describe('a text in several fields', () => {
  it('has one filter, with the conditions for which there is room', () => {
    const fields = [field('note'), field('safe', 'bool'), field('cost', 'number'), field('kind', 'enum', ['12'])];
    expect(withText(fields).map(({ id }) => id)).toEqual(['note', 'cost', 'kind']);
    expect(soughtIn(fields, ' ', 'part', null)).toBeNull();
    expect(filterOfSought(soughtIn(fields, '12', 'part', null) ?? [])).toMatchObject({ or: [{ op: 'contains' }, { op: 'eq' }, { op: 'in' }] });
    const full = { and: new Array<Filter>(49).fill({ field: 'due', op: 'is_empty' }) };
    expect(filterOfSought(soughtIn(fields, '12', 'part', full) ?? [])).toMatchObject({ op: 'contains' });
    expect(filterOfSought(soughtIn(fields.slice(2), 'x', 'part', null) ?? [])).toBeNull();
  });
});
