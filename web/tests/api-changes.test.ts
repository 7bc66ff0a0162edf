import { describe, expect, it } from 'vitest';
import { Api } from '../src/api/client';
import { ApiError, OfflineError } from '../src/api/problem';
import { NO_CHANGE } from '../src/edits/change';
import { Editor } from '../src/edits/editor';
import { ApiChanges } from '../src/project/api-changes';
import type { ProjectModel } from '../src/project/model';

const refusal = (kind: string, status: number) => new ApiError({ type: `x/${kind}`, title: kind, status });

/** A project whose last step is a job, after a step that is undone. Its undo has these outcomes. */
function project(...outcomes: readonly unknown[]) {
  const left = [...outcomes];
  const asked: unknown[] = [];
  const refused = { value: null as unknown, peek: () => refused.value };
  const jobs = {
    refusal: refused,
    undo: (order: unknown) => {
      asked.push(order);
      refused.value = left.shift() ?? null;
      return Promise.resolve(null);
    },
  };
  const api = new Api({ sign: () => Promise.resolve(), expired: () => undefined }, () => Promise.reject(new Error('Nothing else is requested.')));
  const editor = new Editor(api, 'p', [], { held: () => undefined, replace: () => undefined }, () => undefined);
  editor.began('c');
  editor.history.value = { ...editor.history.value, undone: [{ ...NO_CHANGE, undo: 'u' }] };
  const panels = { window: { value: null as string | null } };
  const model = { api, editor, jobs, panels, user: { user: 'ann' } } as unknown as ProjectModel;
  return { changes: new ApiChanges(model), editor, asked, panels, refused };
}

describe('the undo of a step of jobs', () => {
  it.each([refusal('conflict', 409), refusal('history-not-ready', 409), refusal('overloaded', 503), new OfflineError('')])(
    'stays the last step if it may succeed later: %s',
    async (why) => {
      const { changes, editor, asked, panels } = project(why);
      const [step] = editor.history.value.done;
      expect(await changes.undo()).toBeNull();
      expect([editor.history.value.done[0], editor.history.value.undone.length, panels.window.value]).toEqual([step, 1, 'jobs']);
      await changes.undo(step);
      expect(editor.history.value.done).toEqual([]);
      expect(asked).toEqual([{ change: 'c', created_by: 'ann' }, { change: 'c', created_by: 'ann' }]);
    },
  );

  it.each([refusal('history-expired', 410), refusal('history-disabled', 409), refusal('not-found', 404), refusal('forbidden', 403)])(
    'is no step any more if it cannot succeed, and the window of jobs shows why: %s',
    async (why) => {
      const { changes, editor, panels, refused } = project(why);
      await changes.undo();
      expect([editor.history.value.done, panels.window.value, refused.value]).toEqual([[], 'jobs', why]);
    },
  );

  it('is asked for once by the list of jobs, and for a job of another page without a step', async () => {
    const { changes, editor, asked } = project();
    await changes.undoListed({ change: 'c', created_by: 'ann' });
    await changes.undoListed({ change: 'd', created_by: 'ann' });
    expect(editor.history.value.done).toEqual([]);
    expect(asked).toMatchObject([{ change: 'c' }, { change: 'd' }]);
  });
});
