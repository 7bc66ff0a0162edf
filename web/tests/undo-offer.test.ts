import { signal } from '@preact/signals';
import { describe, expect, it } from 'vitest';
import type { BackgroundJob } from '../src/api/types';
import { NO_CHANGE, type Change } from '../src/edits/change';
import { did, NO_HISTORY, undoing, without } from '../src/edits/history';
import { UndoOffer } from '../src/project/undo-offer';

const issue = (num: number) => ({ num, version: 1, body: {} });
const deletion: Change = { ...NO_CHANGE, deleted: [issue(1), issue(2)], id: 'd' };
const bulk: Change = { ...NO_CHANGE, job: 'c' };
const edit: Change = { ...NO_CHANGE, edits: [{ num: 3, field: 'name', before: 'a', after: 'b' }] };

function begun(...steps: readonly Change[]) {
  const history = signal(steps.reduce(did, NO_HISTORY));
  return { history, offer: new UndoOffer(history) };
}

const job = (id: string, more: Partial<BackgroundJob> = {}) =>
  ({ id, kind: 'update', state: 'done', done: 300, changed: null, change: 'c', ...more }) as BackgroundJob;

describe('the offer to undo', () => {
  it('is about a deletion, until that is undone in any way', () => {
    const { history, offer } = begun(deletion);
    expect(offer.deleted(deletion)).toBe(true);
    expect(offer.current.value).toMatchObject({ text: 'Deleted 2 issues.', step: deletion });
    history.value = did(history.value, edit);
    expect(offer.current.value).not.toBeNull();
    history.value = without(history.value, 'd');
    expect(offer.current.value).toBeNull();
  });

  it('is not made for what undo does not take back', () => {
    const { offer } = begun(edit);
    expect([offer.deleted(deletion), offer.deleted(edit)]).toEqual([false, false]);
    expect(offer.current.value).toBeNull();
  });

  it('comes when all jobs of a step of this page have ended', () => {
    const { offer } = begun(bulk);
    const [first, second] = [job('1'), job('2')];
    offer.jobEnded(first, [first, job('2', { state: 'running' })]);
    expect(offer.current.value).toBeNull();
    offer.jobEnded(second, [first, second, job('3', { change: 'other', done: 9 })]);
    expect(offer.current.value?.text).toBe('Changed 600 issues.');
    offer.dismiss();
    expect(offer.current.value).toBeNull();
    const theirs = job('4', { change: 'theirs' });
    offer.jobEnded(theirs, [theirs]);
    expect(offer.current.value).toBeNull();
  });

  it('is not made if the jobs changed nothing, and names deletions', () => {
    const { offer } = begun(bulk);
    const failed = job('1', { state: 'failed', done: 0 });
    offer.jobEnded(failed, [failed]);
    expect(offer.current.value).toBeNull();
    const cancelled = job('1', { kind: 'delete', state: 'cancelled', done: 20 });
    offer.jobEnded(cancelled, [cancelled]);
    expect(offer.current.value?.text).toBe('Deleted 20 issues.');
  });
});

it('a step before the last is undone by itself', () => {
  const history = [deletion, edit].reduce(did, NO_HISTORY);
  expect(undoing(history, deletion)).toEqual([deletion, { done: [edit], undone: [] }]);
  expect(undoing(history)).toEqual([edit, { done: [deletion], undone: [] }]);
  expect(undoing(history, bulk)).toEqual([undefined, history]);
});
