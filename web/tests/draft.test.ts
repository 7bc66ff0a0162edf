import { describe, expect, it } from 'vitest';
import { begun, clashes, isChanged, onTop, since } from '../src/project/draft';

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

  it('keeps what the user enters while it is saved', () => {
    const sent = draft.value;
    const later = { ...draft, value: { ...sent, indexed: false } };
    // The API has added an id.
    const saved = { ...sent, options: [{ id: 'o1', value: 'a' }] };
    expect(onTop(since(later, sent), 4, saved)).toEqual({ version: 4, base: saved, value: { ...saved, indexed: false } });
    expect(onTop(since(draft, sent), 4, saved)).toEqual(begun(4, saved));
  });
});

it('a draft is changed until it equals the definition again', () => {
  expect([isChanged(draft), isChanged(begun(3, seen)), isChanged({ ...draft, value: { ...seen } })]).toEqual([true, false, false]);
});
