import { describe, expect, it } from 'vitest';
import type { Filter } from '../src/api/types';
import { fittingBeside, matcherOf, searchable, textFilter, withSearch } from '../src/view/text-search';
import { field } from './fields';

const NAME = { ...field('name'), search: true };
const NOTE = { ...field('note'), search: true };
const PLAIN = field('plain');
const FIELDS = [field('cost', 'number'), PLAIN, NOTE, NAME];
const DUE: Filter = { field: 'due', op: 'is_empty' };

describe('a search', () => {
  it('is for the name and all fields with an index of words, as whole words in large projects', () => {
    expect(withSearch(null, ' ', 5, FIELDS)).toBeNull();
    expect(withSearch(null, ' Pier ', 5, [])).toEqual({ field: 'name', op: 'contains', value: 'Pier' });
    const either = (op: 'contains' | 'has_words'): Filter => ({ or: [{ field: 'name', op, value: 'pier' }, { field: 'note', op, value: 'pier' }] });
    expect(withSearch(null, 'pier', 10_000, FIELDS)).toEqual(either('contains'));
    expect(withSearch(DUE, 'pier', 10_001, FIELDS)).toEqual({ and: [DUE, either('has_words')] });
    expect(withSearch({ and: [DUE, DUE] }, 'pier', 5, [])).toEqual({ and: [DUE, DUE, { field: 'name', op: 'contains', value: 'pier' }] });
  });

  it.each([49, 50])('leaves fields out for which the filter has no room, but not the name: %s', (conditions) => {
    const full = { and: new Array<Filter>(conditions).fill(DUE) };
    expect(withSearch(full, 'pier', 5, FIELDS)).toEqual({ and: [...full.and, { field: 'name', op: 'contains', value: 'pier' }] });
    expect(fittingBeside(null, FIELDS)).toEqual(FIELDS);
  });
});

describe('a text in fields', () => {
  it('is looked for in texts; as whole words, only where words are indexed', () => {
    expect(searchable(FIELDS, 'part')).toEqual([PLAIN, NOTE, NAME]);
    expect(searchable(FIELDS, 'words')).toEqual([NOTE, NAME]);
    expect(textFilter([], 'pier', 'part')).toBeNull();
  });

  it.each<[string, string, boolean]>([
    ['ère b', 'Rivière blanche', true],
    ['RIVIERE', 'rivière', true],
    ['blanche r', 'Rivière blanche', false],
  ])('is in a value as the API decides it: %s in %s', (text, value, expected) => {
    expect(matcherOf(text, 'part')?.(value)).toBe(expected);
  });

  it('has all its words in a value, in any order', () => {
    const found = matcherOf('Blanche, rivière', 'words');
    expect(found?.('Rivière (blanche)')).toBe(true);
    expect(found?.('Rivières blanches')).toBe(false);
    expect(found?.(null)).toBe(false);
    expect(found?.(['rivière', 'blanche'])).toBe(false);
  });

  it('is in no value if it is blank, or has no word', () => {
    expect(matcherOf(' ', 'part')).toBeNull();
    expect(matcherOf('--', 'words')).toBeNull();
    expect(matcherOf('--', 'part')?.('a--b')).toBe(true);
  });
});
