import { describe, expect, it } from 'vitest';
import { begun, clashes, isChanged, onTop } from '../src/project/draft';

const seen = { name: 'Due', indexed: true, options: [{ value: 'a' }] };
const draft = { ...begun(3, seen), value: { ...seen, name: 'Due date' } };

describe('a draft of a definition that another user changed', () => {
  it('adopts the parts that the user did not change, and keeps the others', () => {
    const theirs = { ...seen, indexed: false, options: [{ value: 'a' }, { value: 'b' }] };
    expect(clashes(draft, theirs)).toEqual([]);
    expect(onTop(draft, 4, theirs)).toEqual({ version: 4, base: theirs, value: { ...theirs, name: 'Due date' } });
  });

  it('has a clash if both changed the same part to different values', () => {
    expect(clashes(draft, { ...seen, name: 'Deadline' })).toEqual(['name']);
    expect(onTop(draft, 4, { ...seen, name: 'Deadline' }).value.name).toBe('Due date');
    expect(clashes(draft, { ...seen, name: 'Due date' })).toEqual([]);
  });

  it('is unchanged after it is saved', () => {
    expect(onTop(draft, 4, draft.value)).toEqual(begun(4, draft.value));
    expect(clashes(begun(3, seen), { ...seen, name: 'x' })).toEqual([]);
  });
});

it('a draft is changed until it equals the definition again', () => {
  expect([isChanged(draft), isChanged(begun(3, seen)), isChanged({ ...draft, value: { ...seen } })]).toEqual([true, false, false]);
});
