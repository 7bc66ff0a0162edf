import { describe, expect, it } from 'vitest';
import { CommentDrafts, UserDrafts } from '../src/project/comment-drafts';

const ANN = { id: 'a1', name: 'Ann' };

describe('the draft of a comment', () => {
  it('is dropped when it was sent', async () => {
    const drafts = new CommentDrafts();
    drafts.put('7', { text: 'one', chosen: [ANN] });
    expect(await drafts.send('7', () => Promise.resolve(true))).toBe(true);
    expect([drafts.at('7'), drafts.isEmpty]).toEqual([undefined, true]);
  });

  it('keeps what the user types while it is sent', async () => {
    const drafts = new CommentDrafts();
    drafts.put('7', { text: 'one', chosen: [] });
    const sent = drafts.send('7', () => Promise.resolve(true));
    drafts.put('7', { text: 'one, and two', chosen: [ANN] });
    expect(await sent).toBe(false);
    expect(drafts.at('7')).toEqual({ text: 'one, and two', chosen: [ANN] });
  });

  it('stays after a refusal, and is sent again under the same key', async () => {
    const drafts = new CommentDrafts();
    drafts.put('7', { text: 'one', chosen: [] });
    const key = drafts.keyOf('7', 'one');
    expect(await drafts.send('7', () => Promise.resolve(false))).toBe(false);
    expect([drafts.at('7')?.text, drafts.keyOf('7', 'one')]).toEqual(['one', key]);
    expect(drafts.keyOf('7', 'two')).not.toBe(key);
  });

  it('has another key after it was sent', async () => {
    const drafts = new CommentDrafts();
    const key = drafts.keyOf('7', 'one');
    await drafts.send('7', () => Promise.resolve(true));
    expect(drafts.keyOf('7', 'one')).not.toBe(key);
  });

  it('stays with its project and its issue', () => {
    const all = new UserDrafts();
    all.of('p').put('7', { text: 'one', chosen: [] });
    expect([all.of('p').at('7')?.text, all.of('p').at('8'), all.of('q').at('7'), all.isEmpty]).toEqual(['one', undefined, undefined, false]);
    all.of('p').drop('7');
    expect(all.isEmpty).toBe(true);
  });
});
