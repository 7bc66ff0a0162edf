import { describe, expect, it, vi } from 'vitest';
import type { Editor } from '../src/edits/editor';
import { keyOf } from '../src/edits/marks';
import { edit, Issues } from './issues';

describe('an answer that comes after a later change of another user', () => {
  it('takes no value back that the feed has delivered', async () => {
    const issues = new Issues(1);
    issues.meanwhile = () => issues.deliver(1, 'name', 'theirs');
    const { editor } = issues.editor();
    await editor.apply({ edits: [edit(1, 'city', null, 'Rome')] });
    expect(issues.held.get(1)).toMatchObject({ version: 3, values: { name: 'theirs', city: 'Rome' } });
    expect(editor.marks.value.size).toBe(0);
  });

  it('shows all of a change that waited for the cell being written', async () => {
    const issues = new Issues(1);
    issues.meanwhile = () => {
      issues.deliver(1, 'name', 'theirs');
      issues.deliver(1, 'city', 'Oslo');
    };
    const { editor } = issues.editor();
    await editor.apply({ edits: [edit(1, 'city', null, 'Rome')] });
    expect(issues.held.get(1)).toMatchObject({ version: 4, values: { name: 'theirs', city: 'Oslo' } });
  });

  it('takes no value back that a read has shown, below the edit on its way', async () => {
    const issues = new Issues(1);
    const { editor } = issues.editor();
    issues.meanwhile = () => {
      issues.other(1, 'name', 'theirs');
      issues.other(1, 'city', 'Oslo');
      issues.read(1, (row) => editor.onTop(row));
    };
    await editor.apply({ edits: [edit(1, 'city', null, 'Rome')] });
    expect(issues.held.get(1)).toMatchObject({ version: 4, values: { name: 'theirs', city: 'Oslo' } });
  });

  it('asks with the latest value of a conflict', async () => {
    const issues = new Issues(1);
    issues.other(1, 'city', 'Oslo');
    issues.meanwhile = () => issues.deliver(1, 'city', 'Bonn');
    const { editor } = issues.editor();
    await editor.apply({ edits: [edit(1, 'city', null, 'Rome')] });
    expect(editor.marks.value.get(keyOf(1, 'city'))).toMatchObject({ kind: 'conflict', theirs: 'Bonn', version: 3 });
    expect(issues.held.get(1)).toMatchObject({ version: 3, values: { city: 'Bonn' } });
  });
});

describe('an undo that waits for earlier changes', () => {
  /** Edit the city of issue 1 and undo that while the server is away, edit again, and then send all. */
  async function afterwards(then: (editor: Editor) => readonly Promise<unknown>[]) {
    const issues = new Issues(2);
    const { editor } = issues.editor();
    issues.away = 'yes';
    const acts = [editor.apply({ edits: [edit(1, 'city', null, 'Rome')] }), editor.undo(), ...then(editor)];
    await vi.waitFor(() => expect(issues.writeQueue.state.value).toBe('waiting'));
    const shown = issues.held.get(1)?.values;
    issues.away = 'no';
    issues.writeQueue.retry();
    await Promise.all(acts);
    expect([editor.marks.value.size, editor.turns.value, editor.isIdle]).toEqual([0, 0, true]);
    return { issues, editor, shown, stored: (num = 1) => issues.stored.get(num)?.values };
  }

  it('undoes the last of them, and not a later edit', async () => {
    const { editor, stored, issues } = await afterwards((editor) => [editor.apply({ edits: [edit(2, 'name', 'n2', 'later')] })]);
    expect([stored(), stored(2)]).toMatchObject([{ city: null }, { name: 'later' }]);
    // As if it had not waited: the later edit is the last step, and nothing can be redone.
    expect(editor.history.value).toMatchObject({ done: [{ edits: [{ num: 2 }] }], undone: [] });
    expect(issues.held.get(1)?.values['city']).toBeNull();
  });

  it('stays below a later edit of the same cell, which its own undo takes back', async () => {
    const { editor, shown, stored, issues } = await afterwards((editor) => [
      editor.apply({ edits: [edit(1, 'city', 'Rome', 'Oslo')] }),
      editor.apply({ edits: [edit(1, 'name', 'n1', 'later')] }),
    ]);
    expect(shown).toMatchObject({ city: 'Oslo', name: 'later' });
    expect([stored(), issues.held.get(1)?.values]).toMatchObject([{ city: 'Oslo', name: 'later' }, { city: 'Oslo', name: 'later' }]);
    await editor.undo();
    await editor.undo();
    expect(stored()).toMatchObject({ city: null, name: 'n1' });
    expect(editor.history.value.done).toEqual([]);
  });

  it('and another undo after a later edit undo one step each', async () => {
    const { editor, stored } = await afterwards((editor) => [editor.apply({ edits: [edit(1, 'name', 'n1', 'later')] }), editor.undo(), editor.redo()]);
    expect(stored()).toMatchObject({ city: null, name: 'later' });
    expect(editor.history.value).toMatchObject({ done: [{ edits: [{ field: 'name' }] }], undone: [] });
  });
});
