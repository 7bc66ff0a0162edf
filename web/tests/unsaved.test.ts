import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import { UserDrafts } from '../src/project/comment-drafts';
import { mayClose, unsaved } from '../src/ui/unsaved';
import { maySignOut, wouldLose } from '../src/screens/leaving';

/** A part of the page with a form that has these attributes. */
function partWith(attributes: ReturnType<typeof unsaved>): ParentNode {
  const mark = attributes['data-unsaved'];
  return { querySelector: () => (mark === undefined ? null : { getAttribute: () => mark }) } as unknown as ParentNode;
}

const confirm = vi.fn<(question: string) => boolean>();
beforeEach(() => {
  confirm.mockReset();
  vi.stubGlobal('window', { confirm });
});

afterAll(() => vi.unstubAllGlobals());

it('a part of the page closes without a question only if nothing in it is unsaved', () => {
  expect(mayClose(partWith(unsaved(false, 'Stop the import?')))).toBe(true);
  expect(confirm).not.toHaveBeenCalled();
  confirm.mockReturnValueOnce(false).mockReturnValueOnce(true);
  expect([mayClose(partWith(unsaved(true))), mayClose(partWith(unsaved(true, 'Stop the import?')))]).toEqual([false, true]);
  expect(confirm.mock.calls).toEqual([['Your entries here are not saved. Discard them?'], ['Stop the import?']]);
});

it('work that runs in a window is lost with the page and by signing out', () => {
  const drafts = new UserDrafts();
  vi.stubGlobal('document', partWith({}));
  expect([wouldLose(drafts), maySignOut(drafts)]).toEqual([false, true]);
  vi.stubGlobal('document', partWith(unsaved(true, 'Stop the import?')));
  confirm.mockReturnValue(false);
  expect([wouldLose(drafts), maySignOut(drafts)]).toEqual([true, false]);
  expect(confirm.mock.calls).toEqual([['Stop the import?']]);
});
