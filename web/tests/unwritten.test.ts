import { describe, expect, it, vi } from 'vitest';
import { newIssue, type Change } from '../src/edits/change';
import type { Editor } from '../src/edits/editor';
import { Unwritten } from '../src/edits/unwritten';
import { UserDrafts } from '../src/project/comment-drafts';
import { edit, FIELDS, Issues } from './issues';

/** Changes that were made without a connection, before their project was closed. `meanwhile` others change issues. */
async function left(changes: readonly Partial<Change>[], { meanwhile, before }: { meanwhile?: (issues: Issues) => void; before?: (editor: Editor) => Promise<unknown> } = {}) {
  const issues = new Issues(2);
  const { editor } = issues.editor();
  await before?.(editor);
  issues.away = 'yes';
  const done = changes.map((change) => editor.apply(change));
  await vi.waitFor(() => expect(issues.writeQueue.state.value).toBe('waiting'));
  const unwritten = new Unwritten();
  unwritten.follow('Bridges', FIELDS, editor);
  expect(unwritten.isEmpty).toBe(true);
  meanwhile?.(issues);
  issues.away = 'no';
  issues.writeQueue.retry();
  await Promise.all(done);
  return { unwritten, texts: unwritten.texts.value };
}

const city = (after: string) => ({ edits: [edit(1, 'city', null, after)] });

describe('changes of a closed project', () => {
  it('are not listed once they are written', async () => {
    const { texts } = await left([city('Rome'), { made: [newIssue({ name: 'new' })] }]);
    expect(texts).toEqual([]);
  });

  it('are listed if they are refused, with their texts and the reason', async () => {
    const { texts } = await left([city('Atlantis')]);
    expect(texts).toEqual([{ project: 'Bridges', num: 1, field: 'city', text: 'Atlantis', reason: 'sunk' }]);
  });

  it('are listed if another user has changed the cell, with both values', async () => {
    const { texts } = await left([city('Rome')], { meanwhile: (issues) => issues.other(1, 'city', 'Oslo') });
    expect(texts).toEqual([{ project: 'Bridges', num: 1, field: 'city', text: 'Rome', reason: 'bob has changed it to “Oslo”.' }]);
  });

  it('are listed as issues that were not deleted, or not created', async () => {
    const deleted = [{ num: 2, version: 1, body: { name: 'n2', fields: { cost: null, city: 'Bonn' } } }];
    const { texts } = await left([{ deleted }], { meanwhile: (issues) => issues.other(2, 'city', 'Oslo') });
    expect(texts).toEqual([{ project: 'Bridges', num: 2, field: null, text: 'n2, Bonn', reason: 'It has changed.' }]);
  });

  it('are not listed if the user saw them refused before', async () => {
    const { texts } = await left([{ edits: [edit(2, 'city', null, 'Rome')] }], { before: (editor) => editor.apply(city('Atlantis')) });
    expect(texts).toEqual([]);
  });

  it('stay until the user dismisses them; later ones are listed still', async () => {
    const { unwritten } = await left([city('Atlantis')]);
    unwritten.dismiss();
    expect(unwritten.texts.value).toEqual([]);
    const issues = new Issues(1);
    issues.away = 'yes';
    const { editor } = issues.editor();
    const done = editor.apply(city('Atlantis'));
    await vi.waitFor(() => expect(issues.writeQueue.state.value).toBe('waiting'));
    unwritten.follow('Roads', FIELDS, editor);
    unwritten.dismiss();
    issues.away = 'no';
    issues.writeQueue.retry();
    await done;
    expect(unwritten.texts.value).toMatchObject([{ project: 'Roads', text: 'Atlantis' }]);
    // Closing another project keeps them.
    unwritten.follow('Paths', FIELDS, new Issues(1).editor().editor);
    expect(unwritten.texts.value).toHaveLength(1);
  });

  it('are asked about before the page is left', async () => {
    const drafts = new UserDrafts();
    expect(drafts.isEmpty).toBe(true);
    const { editor } = new Issues(1).editor();
    drafts.unwritten.follow('Bridges', FIELDS, editor);
    await editor.apply(city('Atlantis'));
    expect(drafts.isEmpty).toBe(false);
    drafts.unwritten.dismiss();
    expect(drafts.isEmpty).toBe(true);
  });
});
