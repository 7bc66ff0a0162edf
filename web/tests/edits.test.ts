import { LosslessNumber } from 'lossless-json';
import { describe, expect, it, vi } from 'vitest';
import { fieldOfError, newIssue, NO_CHANGE, patchOf, reverted, type Change } from '../src/edits/change';
import { changeId } from '../src/edits/change-id';
import type { Editor } from '../src/edits/editor';
import { did, NO_HISTORY, redid, redoing, undid, undoing } from '../src/edits/history';
import { readKept } from '../src/edits/writes';
import { keyOf } from '../src/edits/marks';
import { computed, field } from './fields';
import { edit, FIELDS, Issues } from './issues';

describe('an edit', () => {
  it('is shown at once and written under the version on the screen', async () => {
    const issues = new Issues(1);
    const { editor, written } = issues.editor();
    const done = editor.apply({ edits: [edit(1, 'city', null, 'Rome')] });
    expect(issues.held.get(1)?.values['city']).toBe('Rome');
    expect(editor.marks.value.get(keyOf(1, 'city'))).toEqual({ kind: 'pending' });
    await done;
    expect(issues.held.get(1)).toMatchObject({ version: 2, values: { city: 'Rome' } });
    expect(editor.marks.value.size).toBe(0);
    expect(written).toHaveBeenCalledOnce();
  });

  it('is not sent if it changes nothing', async () => {
    const issues = new Issues(1);
    await issues.editor().editor.apply({ edits: [edit(1, 'name', 'n1', 'n1')] });
    expect(issues.requests).toEqual([]);
  });

  it('is rolled back if it is refused, with the reason', async () => {
    const issues = new Issues(1);
    const { editor } = issues.editor();
    await editor.apply({ edits: [edit(1, 'city', null, 'Atlantis')] });
    expect(issues.held.get(1)?.values['city']).toBeNull();
    expect(editor.marks.value.get(keyOf(1, 'city'))).toEqual({ kind: 'refused', text: 'Atlantis', message: 'sunk' });
    expect(editor.history.value.done).toEqual([]);
  });

  it('is applied on top of other users’ changes to other fields', async () => {
    const issues = new Issues(1);
    issues.other(1, 'name', 'theirs');
    await issues.editor().editor.apply({ edits: [edit(1, 'city', null, 'Rome')] });
    expect(issues.stored.get(1)?.values).toMatchObject({ name: 'theirs', city: 'Rome' });
    expect(issues.held.get(1)?.values).toMatchObject({ name: 'theirs', city: 'Rome' });
  });

  it.each([true, false])('waits for a choice if another user changed the same field (refusal has the current issue: %s)', async (hasCurrent) => {
    const issues = new Issues(1);
    issues.hasCurrent = hasCurrent;
    issues.other(1, 'city', 'Oslo');
    const { editor } = issues.editor();
    await editor.apply({ edits: [edit(1, 'city', null, 'Rome')] });
    expect(editor.marks.value.get(keyOf(1, 'city'))).toMatchObject({ kind: 'conflict', yours: 'Rome', theirs: 'Oslo', by: 'bob' });
    expect(issues.held.get(1)?.values['city']).toBe('Oslo');
    await editor.resolve(1, 'city', 'yours');
    expect(issues.stored.get(1)?.values['city']).toBe('Rome');
    expect(editor.marks.value.size).toBe(0);
    expect(issues.requests.filter((request) => request.startsWith('GET'))).toHaveLength(hasCurrent ? 0 : 1);
  });

  it('asks again if the other value has changed since the question', async () => {
    const issues = new Issues(1);
    issues.other(1, 'city', 'Oslo');
    const { editor } = issues.editor();
    await editor.apply({ edits: [edit(1, 'city', null, 'Rome')] });
    issues.deliver(1, 'city', 'Bonn');
    await editor.resolve(1, 'city', 'yours');
    expect(editor.marks.value.get(keyOf(1, 'city'))).toMatchObject({ kind: 'conflict', yours: 'Rome', theirs: 'Bonn' });
    await editor.apply({ edits: [edit(1, 'name', 'n1', 'mine')] });
    await editor.resolve(1, 'city', 'yours');
    expect([issues.stored.get(1)?.values, editor.marks.value.size]).toMatchObject([{ city: 'Rome', name: 'mine' }, 0]);
  });

  it('uses the version that the former edit of the issue returned', async () => {
    const issues = new Issues(1);
    const { editor } = issues.editor();
    await Promise.all([editor.apply({ edits: [edit(1, 'city', null, 'Rome')] }), editor.apply({ edits: [edit(1, 'name', 'n1', 'new')] })]);
    expect(issues.stored.get(1)).toMatchObject({ version: 3, values: { city: 'Rome', name: 'new' } });
    expect(issues.requests).toHaveLength(2);
  });
});

describe('unanswered edits', () => {
  /** Make changes while the server is away, and then send them. */
  async function afterwards(issues: Issues, act: (editor: Editor) => readonly Promise<unknown>[], meanwhile: () => void = () => undefined, away: 'lost' | 'yes' = 'yes') {
    const { editor } = issues.editor();
    issues.away = away;
    const acts = act(editor);
    await vi.waitFor(() => expect(issues.writeQueue.state.value).toBe('waiting'));
    meanwhile();
    issues.away = 'no';
    issues.writeQueue.retry();
    await Promise.all(acts);
    expect([issues.writeQueue.unsent.value, issues.writeQueue.state.value]).toEqual([0, 'empty']);
    return editor;
  }

  it('wait, are shown on top of the rows that are read, and are written in order', async () => {
    const issues = new Issues(2);
    const acts = (editor: Editor) => [
      editor.apply({ edits: [edit(1, 'city', null, 'Rome')] }),
      editor.apply({ edits: [edit(1, 'city', 'Rome', 'Oslo'), edit(2, 'city', null, 'Bonn')] }),
      editor.apply({ made: [newIssue({ name: 'new' })] }),
    ];
    let seen: unknown[] = [];
    const { editor } = issues.editor();
    issues.away = 'yes';
    const done = acts(editor);
    await vi.waitFor(() => expect(issues.writeQueue.state.value).toBe('waiting'));
    seen = [issues.writeQueue.unsent.value, editor.onTop({ num: 1, version: 1, values: { city: 'Kyiv', name: 'n1' } }).values, editor.marks.value.get(keyOf(1, 'city'))];
    expect(seen).toEqual([4, { city: 'Oslo', name: 'n1' }, { kind: 'pending' }]);
    issues.away = 'no';
    issues.writeQueue.retry();
    await Promise.all(done);
    expect([1, 2, 3].map((num) => issues.stored.get(num))).toMatchObject([
      { version: 3, values: { city: 'Oslo' } },
      { version: 2, values: { city: 'Bonn' } },
      { values: { name: 'new' } },
    ]);
    expect([issues.held.get(1)?.values['city'], editor.marks.value.size, editor.history.value.done.length]).toEqual(['Oslo', 0, 3]);
    await editor.undo();
    await editor.undo();
    expect(issues.stored.get(1)?.values['city']).toBe('Rome');
  });

  it('take effect once if only the answer was lost', async () => {
    const issues = new Issues(2);
    await afterwards(issues, (editor) => [editor.apply({ made: [newIssue({ name: 'new' })] })], undefined, 'lost');
    expect(issues.stored.size).toBe(3);
    await afterwards(issues, (editor) => [editor.apply({ edits: [1, 2].map((num) => edit(num, 'city', null, 'Rome')) })], undefined, 'lost');
    expect(issues.stored.get(1)?.version).toBe(2);
  });

  it('ask if another user changed the same field, even after an edit of another field', async () => {
    const issues = new Issues(1);
    const editor = await afterwards(
      issues,
      (editor) => [editor.apply({ edits: [edit(1, 'name', 'n1', 'mine')] }), editor.apply({ edits: [edit(1, 'city', null, 'Rome')] })],
      () => issues.other(1, 'city', 'Oslo'),
    );
    expect(issues.stored.get(1)?.values).toEqual({ name: 'mine', city: 'Oslo' });
    expect(editor.marks.value.get(keyOf(1, 'city'))).toMatchObject({ kind: 'conflict', yours: 'Rome', theirs: 'Oslo' });
  });

  it('stay on the screen while an earlier one is answered or refused', async () => {
    const issues = new Issues(1);
    const { editor } = issues.editor();
    const done = [editor.apply({ edits: [edit(1, 'city', null, 'Atlantis')] }), editor.apply({ edits: [edit(1, 'name', 'n1', 'x')] })];
    const shown: unknown[] = [];
    editor.marks.subscribe(() => shown.push(issues.held.get(1)?.values['name']));
    await Promise.all(done);
    expect(new Set(shown)).toEqual(new Set(['x']));
    expect(editor.marks.value.get(keyOf(1, 'city'))).toMatchObject({ kind: 'refused', text: 'Atlantis' });
    editor.forgetRefusal(1, 'city');
    expect(editor.marks.value.size).toBe(0);
  });
});

describe('a batch in which single operations find the API busy', () => {
  it.each([false, true])('is sent again under its key, and written once (the operation was carried out: %s)', async (late) => {
    const issues = new Issues(3);
    issues.busy.add(2);
    issues.late = late;
    const { editor } = issues.editor();
    const done = editor.apply({ edits: [1, 2, 3].map((num) => edit(num, 'city', null, num === 3 ? 'Atlantis' : 'Rome')) });
    await vi.waitFor(() => expect(issues.writeQueue.state.value).toBe('waiting'));
    expect([1, 2, 3].map((num) => editor.marks.value.get(keyOf(num, 'city'))?.kind)).toEqual(['pending', 'pending', 'pending']);
    issues.writeQueue.retry();
    await done;
    expect([1, 2, 3].map((num) => issues.stored.get(num))).toMatchObject([
      { version: 2, values: { city: 'Rome' } },
      { version: 2, values: { city: 'Rome' } },
      { version: 1 },
    ]);
    expect([...editor.marks.value.keys()]).toEqual([keyOf(3, 'city')]);
    expect([issues.sent.length, new Set(issues.sent).size]).toEqual([2, 1]);
  });
});

describe('two edits of one cell, of which the first has no answer yet', () => {
  /** Edit the city of issue 1 twice, both before the first edit is sent. */
  async function twice(issues: Issues, first: string, second: string | null) {
    const { editor } = issues.editor();
    await Promise.all([editor.apply({ edits: [edit(1, 'city', null, first)] }), editor.apply({ edits: [edit(1, 'city', first, second)] })]);
    return { editor, city: () => issues.held.get(1)?.values['city'] ?? null, mark: () => editor.marks.value.get(keyOf(1, 'city')) };
  }

  it('leave the stored value on the screen if both are refused', async () => {
    const issues = new Issues(1);
    issues.sunk.add('Lemuria');
    const { editor, city, mark } = await twice(issues, 'Atlantis', 'Lemuria');
    expect(city()).toBeNull();
    expect(mark()).toMatchObject({ kind: 'refused', text: 'Lemuria' });
    expect(editor.history.value.done).toEqual([]);
  });

  it('are undone to the stored value if only the first is refused', async () => {
    const issues = new Issues(1);
    const { editor, city } = await twice(issues, 'Atlantis', 'Rome');
    expect(city()).toBe('Rome');
    expect(editor.history.value.done).toMatchObject([{ edits: [{ before: null, after: 'Rome' }] }]);
    await editor.undo();
    expect([issues.stored.get(1)?.values['city'], city()]).toEqual([null, null]);
  });

  it('are no step of undo if the second restores what the refused one was to replace', async () => {
    const { editor, city, mark } = await twice(new Issues(1), 'Atlantis', null);
    expect([city(), mark()]).toEqual([null, undefined]);
    expect(editor.history.value.done).toEqual([]);
  });

  it('ask once if another user changed the cell, and the other value is what an undo restores', async () => {
    const issues = new Issues(1);
    issues.other(1, 'city', 'Oslo');
    const { editor, city, mark } = await twice(issues, 'Rome', 'Bonn');
    expect(city()).toBe('Oslo');
    expect(mark()).toMatchObject({ kind: 'conflict', yours: 'Bonn', theirs: 'Oslo' });
    expect(issues.requests).toHaveLength(1);
    await editor.resolve(1, 'city', 'yours');
    await editor.undo();
    expect(issues.stored.get(1)?.values['city']).toBe('Oslo');
  });

  it('do not ask if the second is the value of the other user', async () => {
    const issues = new Issues(1);
    issues.other(1, 'city', 'Oslo');
    const { editor, city, mark } = await twice(issues, 'Rome', 'Oslo');
    expect([city(), mark()]).toEqual(['Oslo', undefined]);
    expect(editor.history.value.done).toEqual([]);
  });
});

describe('edits of many issues', () => {
  const paste = Array.from({ length: 1000 }, (_, place) => edit(place + 1, 'city', null, place === 700 ? 'Atlantis' : 'Rome'));

  it('are sent in batches of 500; refused ones are marked, and the others are written', async () => {
    const issues = new Issues(1000);
    const { editor } = issues.editor();
    await editor.apply({ edits: [...paste, edit(701, 'name', 'n701', 'kept')] });
    expect(issues.requests.filter((request) => request.includes('batch'))).toHaveLength(2);
    expect([...editor.marks.value.keys()]).toEqual([keyOf(701, 'city')]);
    expect(issues.stored.get(701)?.values).toEqual({ name: 'kept' });
    expect(issues.stored.get(1000)?.values['city']).toBe('Rome');
    expect(editor.progress.value).toBeNull();
  });

  it('merge with other users’ changes; a row that does not show them keeps the version on the screen', async () => {
    const issues = new Issues(2);
    issues.other(1, 'name', 'theirs');
    const { editor } = issues.editor();
    await editor.apply({ edits: [edit(1, 'city', null, 'Rome'), edit(2, 'city', null, 'Rome')] });
    expect([1, 2].map((num) => issues.held.get(num)?.version)).toEqual([1, 2]);
    await editor.apply({ edits: [edit(1, 'name', 'n1', 'mine')] });
    expect(editor.marks.value.get(keyOf(1, 'name'))).toMatchObject({ kind: 'conflict', yours: 'mine', theirs: 'theirs' });
    await editor.undo();
    expect([1, 2].map((num) => issues.stored.get(num)?.values)).toEqual([{ name: 'theirs', city: null }, { name: 'n2', city: null }]);
  });

  it('are undone and redone as one step', async () => {
    const issues = new Issues(1000);
    const { editor } = issues.editor();
    await editor.apply({ edits: paste });
    await editor.undo();
    expect(issues.stored.get(5)?.values['city']).toBeNull();
    expect(issues.held.get(999)?.values['city']).toBeNull();
    await editor.redo();
    expect(issues.stored.get(5)?.values['city']).toBe('Rome');
    await editor.redo();
    expect(editor.history.value.undone).toEqual([]);
  });
});

describe('undo and redo of a cell that another user has changed since', () => {
  /** Another user changes a field, and the page shows it at once. */
  function live(issues: Issues, num: number, id: string, value: string): void {
    issues.other(num, id, value);
    const row = issues.held.get(num) ?? { num, version: 0, values: {} };
    issues.held.set(num, { ...row, version: issues.stored.get(num)?.version ?? 0, values: { ...row.values, [id]: value } });
  }

  const cityMark = (editor: Editor) => editor.marks.value.get(keyOf(1, 'city'));

  it('ask which value to keep, and write the other edits of the step', async () => {
    const issues = new Issues(1);
    const { editor } = issues.editor();
    await editor.apply({ edits: [edit(1, 'city', null, 'Rome'), edit(1, 'name', 'n1', 'mine')] });
    live(issues, 1, 'city', 'Oslo');
    await editor.undo();
    expect(issues.stored.get(1)?.values).toMatchObject({ name: 'n1', city: 'Oslo' });
    expect(cityMark(editor)).toMatchObject({ kind: 'conflict', yours: null, theirs: 'Oslo', by: null });
    expect(editor.history.value.undone).toMatchObject([{ edits: [{ field: 'name' }] }]);
    await editor.resolve(1, 'city', 'theirs');
    expect([issues.stored.get(1)?.values['city'], editor.marks.value.size]).toEqual(['Oslo', 0]);
  });

  it('write the own value if the user keeps it, as a step of its own', async () => {
    const issues = new Issues(1);
    const { editor } = issues.editor();
    await editor.apply({ edits: [edit(1, 'city', null, 'Rome')] });
    await editor.undo();
    live(issues, 1, 'city', 'Oslo');
    await editor.redo();
    expect(cityMark(editor)).toMatchObject({ kind: 'conflict', yours: 'Rome', theirs: 'Oslo' });
    await editor.resolve(1, 'city', 'yours');
    expect(issues.stored.get(1)?.values['city']).toBe('Rome');
    await editor.undo();
    expect(issues.stored.get(1)?.values['city']).toBe('Oslo');
  });

  it('do not ask about another field, the value to be restored, or another form of the own value', async () => {
    const issues = new Issues(2);
    const { editor } = issues.editor();
    const cost = (num: number) => ({ num, field: 'cost', before: null, after: new LosslessNumber('1.50') });
    await editor.apply({ edits: [edit(1, 'city', null, 'Rome'), cost(1), cost(2)] });
    live(issues, 1, 'name', 'theirs');
    for (const [num, row] of issues.held) issues.held.set(num, { ...row, values: { ...row.values, cost: 1.5 } });
    await editor.undo();
    expect([1, 2].map((num) => issues.stored.get(num)?.values['cost'])).toEqual([null, null]);
    live(issues, 1, 'city', 'Rome');
    await editor.redo();
    expect([editor.marks.value.size, issues.stored.get(1)?.values['city']]).toEqual([0, 'Rome']);
  });

  it('compare with the value as the API has written it', async () => {
    const issues = new Issues(1);
    const { editor } = issues.editor();
    issues.spelled.set('rome', 'Rome');
    await editor.apply({ edits: [edit(1, 'city', null, 'rome')] });
    expect(issues.held.get(1)?.values['city']).toBe('Rome');
    await editor.undo();
    expect([editor.marks.value.size, issues.stored.get(1)?.values['city']]).toEqual([0, null]);
  });

  it('write an issue that is not held on top of the own version', async () => {
    const issues = new Issues(1);
    const { editor } = issues.editor();
    await editor.apply({ edits: [edit(1, 'city', null, 'Rome')] });
    issues.held.delete(1);
    issues.other(1, 'city', 'Oslo');
    await editor.undo();
    expect(cityMark(editor)).toMatchObject({ kind: 'conflict', yours: null, theirs: 'Oslo', by: 'bob' });
  });
});

describe('issues', () => {
  const names = (issues: Issues) => [...issues.stored].map(([num, { values }]) => `${num} ${String(values['name'])}`);

  it('that were created are deleted by undo, and created again by redo under a number that later steps use', async () => {
    const issues = new Issues(1);
    const { editor, written } = issues.editor();
    const { taken } = await editor.apply({ edits: [edit(1, 'name', 'n1', 'x')], made: [newIssue({ name: 'new' })] });
    expect(taken.made).toEqual([{ num: 2, version: 1, body: { name: 'new' } }]);
    expect(written).toHaveBeenLastCalledWith(taken);
    await editor.apply({ edits: [edit(2, 'city', null, 'Rome')] });
    await editor.undo();
    await editor.undo();
    expect(names(issues)).toEqual(['1 n1']);
    await editor.redo();
    expect(names(issues)).toEqual(['1 x', '3 new']);
    await editor.redo();
    expect(issues.stored.get(3)?.values['city']).toBe('Rome');
    expect(editor.history.value.undone).toEqual([]);
  });

  it.each([
    ['shown', (issues: Issues) => issues.read(2)],
    ['not shown', () => undefined],
    ['merged with an own edit', async (_: Issues, editor: Editor) => {
      await editor.apply({ edits: [edit(2, 'cost', null, '7')] });
      await editor.undo();
    }],
  ])('that were created stay if another user has written into them since, with a reason (%s)', async (_, meanwhile) => {
    const issues = new Issues(1);
    const { editor } = issues.editor();
    await editor.apply({ made: [newIssue({ name: 'new' })] });
    issues.read(2);
    issues.other(2, 'city', 'Oslo');
    await meanwhile(issues, editor);
    const outcome = await editor.undo();
    expect(issues.stored.get(2)?.values['city']).toBe('Oslo');
    expect(outcome?.problems.map(({ detail }) => detail)).toEqual(['It has changed.']);
    expect(editor.history.value.done).toEqual([]);
  });

  it('that were created again by redo are deleted by undo, also after own edits of them', async () => {
    const issues = new Issues(1);
    const { editor } = issues.editor();
    await editor.apply({ made: [newIssue({ name: 'new' })] });
    await editor.undo();
    await editor.redo();
    issues.read(3);
    await editor.apply({ edits: [edit(3, 'city', null, 'Rome')] });
    await editor.apply({ edits: [1, 3].map((num) => edit(num, 'cost', null, '7')) });
    await editor.undo();
    await editor.undo();
    await editor.undo();
    expect(names(issues)).toEqual(['1 n1']);
  });

  it('have the new number in the second of two steps that are redone at once', async () => {
    const issues = new Issues(1);
    const { editor } = issues.editor();
    await editor.apply({ made: [newIssue({ name: 'new' })] });
    await editor.apply({ edits: [edit(2, 'city', null, 'Rome')] });
    await Promise.all([editor.undo(), editor.undo()]);
    expect(names(issues)).toEqual(['1 n1']);
    await Promise.all([editor.redo(), editor.redo()]);
    expect(names(issues)).toEqual(['1 n1', '3 new']);
    expect(issues.stored.get(3)?.values['city']).toBe('Rome');
    expect([editor.marks.value.size, editor.history.value.done.length]).toEqual([0, 2]);
  });

  it('that were deleted are restored by undo under their numbers, as soon as the history has the delete', async () => {
    const issues = new Issues(3);
    issues.lagging = 1;
    const { editor, written } = issues.editor();
    const deleted = await readKept(issues.api, 'p', [3, 2]);
    await editor.apply({ deleted });
    expect(names(issues)).toEqual(['1 n1']);
    await editor.undo();
    expect(names(issues)).toEqual(['1 n1', '3 n3', '2 n2']);
    expect(written.mock.lastCall?.[0]).toMatchObject({ made: [{ num: 3, version: 3 }, { num: 2, version: 3 }] });
    expect(editor.owns('c2')).toBe(true);
    expect(issues.requests.filter((one) => one.endsWith('/undo'))).toHaveLength(2);
    await editor.redo();
    expect(names(issues)).toEqual(['1 n1']);
    await editor.undo();
    expect(names(issues)).toEqual(['1 n1', '3 n3', '2 n2']);
  }, 10_000);

  it('that are created again get no default where they had no value', async () => {
    const issues = new Issues(2);
    const [kept] = await readKept(issues.api, 'p', [2], [{ ...field('note'), default: 'wet' }, { ...field('city'), default: 'Rome' }, field('kind')]);
    expect(kept?.body).toMatchObject({ fields: { note: null, city: null } });
    expect(kept?.body['fields']).not.toHaveProperty('kind');
  });

  it('that are created again get no computed values', async () => {
    const issues = new Issues(2);
    issues.other(2, 'city', 'Rome');
    const [kept] = await readKept(issues.api, 'p', [2], [computed('city', ['note'])]);
    expect(kept?.body['fields']).not.toHaveProperty('city');
  });

  it('that all left the trash are not restored: the undo writes nothing and is no change', async () => {
    const issues = new Issues(2);
    issues.purged.add(2);
    const { editor } = issues.editor();
    await editor.apply({ deleted: await readKept(issues.api, 'p', [2]) });
    const outcome = await editor.undo();
    expect(outcome?.taken.made).toEqual([]);
    expect(outcome?.problems.map(({ detail }) => detail)).toEqual(['It is gone.']);
    expect(editor.owns(null)).toBe(false);
    expect(editor.owns('c2')).toBe(false);
  });

  it('that partly left the trash are restored as far as possible, with the reason for the others', async () => {
    const issues = new Issues(3);
    issues.purged.add(3);
    const { editor } = issues.editor();
    await editor.apply({ deleted: await readKept(issues.api, 'p', [2, 3]) });
    const outcome = await editor.undo();
    expect(outcome?.taken.made.map(({ num }) => num)).toEqual([2]);
    expect(outcome?.problems.map(({ detail }) => detail)).toEqual(['It is gone.']);
  });

  it('that a job changed are a step, undone by the change id', async () => {
    const { editor } = new Issues(1).editor();
    await editor.apply({ edits: [edit(1, 'city', null, 'Rome')] });
    editor.began('c');
    expect(editor.history.value.done.length).toBe(2);
    const reverted: string[] = [];
    const undoJobs = (over: boolean) => (job: string) => Promise.resolve(reverted.push(`${job} ${over}`)).then(() => over);
    expect(await editor.undo(undefined, undoJobs(false))).toBeNull();
    expect(editor.history.value.done).toHaveLength(2);
    // The second waits for its turn: its step is the edit.
    const [byJobs, outcome] = await Promise.all([editor.undo(undefined, undoJobs(true)), editor.undo(undefined, undoJobs(true))]);
    expect(byJobs).toBeNull();
    expect(outcome).toMatchObject({ taken: { edits: [{ field: 'city', after: null }] } });
    expect(reverted).toEqual(['c false', 'c true']);
  });

  it('that a job changed are undone beside later edits', async () => {
    const issues = new Issues(1);
    const { editor } = issues.editor();
    editor.began('c');
    let end: (isOver: boolean) => void = () => undefined;
    const undone = editor.undo(undefined, () => new Promise((resolve) => (end = resolve)));
    await editor.apply({ edits: [edit(1, 'city', null, 'Rome')] });
    expect(editor.turns.value).toBe(1);
    end(true);
    expect(await undone).toBeNull();
    expect(editor.history.value.done).toHaveLength(1);
  });

  it('that are many are restored by a job, and the page waits for it', async () => {
    const issues = new Issues(3);
    issues.byJob = true;
    const { editor } = issues.editor();
    await editor.apply({ deleted: await readKept(issues.api, 'p', [2, 3]) });
    const outcome = await editor.undo();
    expect(outcome?.taken.made.map(({ num, version }) => [num, version])).toEqual([[2, 3], [3, 3]]);
    expect(issues.looks).toBe(2);
  }, 10_000);

  it('that were deleted are created again by undo, with all fields and new numbers, if there is no history', async () => {
    const issues = new Issues(3);
    issues.remembers = false;
    issues.other(3, 'city', 'Oslo');
    const { editor } = issues.editor();
    const deleted = await readKept(issues.api, 'p', [3, 2, 7]);
    expect(deleted.map(({ num, version }) => [num, version])).toEqual([[3, 2], [2, 1]]);
    issues.held.delete(3);
    await editor.apply({ deleted });
    expect(names(issues)).toEqual(['1 n1']);
    await editor.undo();
    expect(names(issues)).toEqual(['1 n1', '4 n3', '5 n2']);
    expect(issues.stored.get(4)?.values['city']).toBe('Oslo');
    await editor.redo();
    expect(names(issues)).toEqual(['1 n1']);
    expect(issues.changes.size).toBe(3);
  });

  it('that other users changed are not deleted, and undo does not create them twice', async () => {
    const issues = new Issues(2);
    issues.remembers = false;
    const { editor } = issues.editor();
    const deleted = await readKept(issues.api, 'p', [1, 2]);
    issues.other(1, 'city', 'Oslo');
    const { taken, problems } = await editor.apply({ deleted });
    expect(taken.deleted.map(({ num }) => num)).toEqual([2]);
    expect(problems.map(({ detail }) => detail)).toEqual(['It has changed.']);
    await editor.undo();
    expect(names(issues)).toEqual(['1 n1', '3 n2']);
  });

  it('are one step with the edits of the same paste, and undo waits for pending writes', async () => {
    const issues = new Issues(1);
    const { editor } = issues.editor();
    void editor.apply({ edits: [edit(1, 'name', 'n1', 'x')], made: [newIssue({ name: 'new' })] });
    await editor.undo();
    expect(names(issues)).toEqual(['1 n1']);
    expect(editor.history.value.done).toEqual([]);
    expect(await editor.undo()).toBeNull();
  });
});

describe('the history', () => {
  const change = (id: string): Change => ({ ...NO_CHANGE, edits: [edit(1, id, null, 'x')] });

  it('forgets undone steps after a new step', () => {
    const two = did(did(NO_HISTORY, change('a')), change('b'));
    const [last, rest] = undoing(two);
    expect(last).toEqual(change('b'));
    const back = undid(rest, change('b'));
    const [again, without] = redoing(back);
    expect(redid(without, again ?? NO_CHANGE)).toEqual(two);
    expect(did(back, change('c'))).toEqual({ done: [change('a'), change('c')], undone: [] });
    expect(undoing(NO_HISTORY)).toEqual([undefined, NO_HISTORY]);
    expect(did(back, NO_CHANGE)).toEqual(back);
  });
});

it('edits are taken back to the former values', () => {
  expect(reverted([edit(1, 'a', 'x', 'y')])).toEqual([edit(1, 'a', 'y', 'x')]);
});

it('a patch has attributes among the fields, and null to clear one', () => {
  expect(patchOf([edit(1, 'name', '', 'n'), edit(1, 'cost', '1', null)], FIELDS)).toEqual({ name: 'n', fields: { cost: null } });
});

it('an error belongs to the field in its path', () => {
  expect(['fields.cost', 'fields.trades.0', 'name', 'operations.3.update.fields.city', 'version'].map(fieldOfError)).toEqual(['cost', 'trades', 'name', 'city', '']);
});

describe('the id of a change', () => {
  it('is a UUID of version 7 that begins with its milliseconds', () => {
    const made = changeId(0x0193_5a2b_4c6d);
    expect(made).toMatch(/^01935a2b-4c6d-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(changeId(0x0193_5a2b_4c6d)).not.toBe(made);
  });
});
