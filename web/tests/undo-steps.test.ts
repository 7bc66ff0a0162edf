import { describe, expect, it } from 'vitest';
import { Api } from '../src/api/client';
import { Editor } from '../src/edits/editor';
import { countTouched } from '../src/edits/revert';

interface Asked {
  readonly change: string;
  readonly by?: string;
  readonly nums?: readonly number[];
  readonly dry_run?: boolean;
}

/** An API that reverts every change, each time under another id. */
function world() {
  const asked: Asked[] = [];
  const answers: (() => Response)[] = [];
  const api = new Api({ sign: () => Promise.resolve(), expired: () => undefined }, (_, request) => {
    const body = JSON.parse(request?.body as string) as Asked;
    asked.push(body);
    const undone = (body.nums ?? [1, 2, 3]).map((num) => ({ num, version: asked.length + 1 }));
    return Promise.resolve(answers.shift()?.() ?? Response.json({ undone, change: `own-${asked.length}`, refused: [] }));
  });
  const written: unknown[] = [];
  const editor = new Editor(api, 'p', [], { held: () => undefined, replace: () => undefined }, (change) => written.push(change));
  return { api, asked, answers, editor, written };
}

describe('an undo from a history', () => {
  it('is a step: undo reverts it by its id, and redo reverts the undo', async () => {
    const { editor, asked, written } = world();
    const outcome = await editor.revert({ change: 'theirs', by: 'bob', nums: [2] });
    expect(outcome).toMatchObject({ issues: 1, problems: [], taken: { undo: 'own-1' } });
    expect(editor.history.value.done).toHaveLength(1);
    expect(editor.owns('own-1')).toBe(true);
    await editor.undo();
    expect(editor.history.value).toMatchObject({ done: [], undone: [{ undo: 'own-2' }] });
    await editor.redo();
    expect(editor.history.value).toMatchObject({ done: [{ undo: 'own-3' }], undone: [] });
    expect(asked).toEqual([{ change: 'theirs', by: 'bob', nums: [2] }, { change: 'own-1' }, { change: 'own-2' }]);
    expect(written).toHaveLength(3);
  });

  it('is no step if it wrote nothing, and reports refused issues', async () => {
    const { editor, answers } = world();
    const problem = { type: 'edit-conflict', title: 'Edit conflict', status: 409, detail: 'The issue was changed since, in version 5.' };
    answers.push(() => Response.json({ undone: [], change: null, refused: [{ num: 2, problem }] }));
    expect((await editor.revert({ change: 'theirs' })).problems).toEqual([problem]);
    expect(editor.history.value.done).toEqual([]);
  });

  it('stays a step if reverting it fails', async () => {
    const { editor, answers } = world();
    await editor.revert({ change: 'theirs' });
    answers.push(() => Response.json({ type: 'x/history-expired', title: 'Too old', status: 410 }, { status: 410 }));
    expect((await editor.undo())?.problems).toHaveLength(1);
    expect(editor.history.value).toMatchObject({ done: [{ undo: 'own-1' }], undone: [] });
  });

  it('first requests the number of issues that the change affected', async () => {
    const { api, asked, answers } = world();
    answers.push(() => Response.json({ undone: [], change: null, refused: [], issues: 12 }));
    answers.push(() => Response.json({ undone: [], change: null, refused: [], issues: null }));
    expect(await countTouched(api, 'p', { change: 'theirs', by: 'bob' })).toBe(12);
    expect(await countTouched(api, 'p', { change: 'theirs' })).toBeNull();
    expect(asked[0]).toEqual({ change: 'theirs', by: 'bob', dry_run: true });
  });
});
