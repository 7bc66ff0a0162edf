import { describe, expect, it, vi } from 'vitest';
import { Api } from '../src/api/client';
import type { IssueComment } from '../src/api/types';
import { Comments } from '../src/project/comments';
import { begun, completed, fitting, mentionedIn, pieces } from '../src/project/mentions';
import { People } from '../src/project/people';

const ANN = { id: 'a1', name: 'Ann' };
const ARROL = { id: 'a2', name: 'Ann Arrol' };
const NOBODY = { id: 'n', name: '' };

describe('a mention', () => {
  it.each([
    ['@', 1, { at: 0, prefix: '' }],
    ['see @ann', 8, { at: 4, prefix: 'ann' }],
    ['see @Ann Ar', 11, { at: 4, prefix: 'Ann Ar' }],
    ['(@b', 3, { at: 1, prefix: 'b' }],
    ['@ann and @b', 11, { at: 9, prefix: 'b' }],
    ['@ann rest', 4, { at: 0, prefix: 'ann' }],
    ['mail@example', 12, null],
    ['@ann\nnext', 9, null],
    [`@${'x'.repeat(41)}`, 42, null],
    ['nobody', 6, null],
  ])('is recognized in %j at %d', (text, caret, expected) => {
    expect(begun(text, caret)).toEqual(expected);
  });

  it('is completed in place, with the caret after it', () => {
    expect(completed('see @an, now', 7, 4, ARROL)).toEqual({ text: 'see @Ann Arrol , now', caret: 15 });
    expect(completed('see @an now', 7, 4, ANN)).toEqual({ text: 'see @Ann now', caret: 9 });
  });

  it('is the longest matching name, and each user counts once', () => {
    const text = '@Ann Arrol, tell @Ann and @Ann Arrol; not ann@example, nor @Bob';
    const found = pieces(text, [ANN, ARROL, NOBODY]);
    expect(found.map((piece) => piece.text).join('')).toBe(text);
    expect(found.flatMap(({ user }) => (user ? [user.id] : []))).toEqual(['a2', 'a1', 'a2']);
    expect(mentionedIn(text, [ANN, ARROL])).toEqual(['a2', 'a1']);
    expect(mentionedIn(text, [])).toEqual([]);
    expect(pieces('', [ANN])).toEqual([]);
    expect(pieces('@Ann', [ANN])).toEqual([{ text: '@Ann', user: ANN }]);
  });
});

function comment(id: number, more: Partial<IssueComment> = {}): IssueComment {
  const at = '2023-05-01T12:00:00Z';
  return { id, num: 7, text: `${id}`, mentions: [], version: 1, created: at, updated: at, created_by: 'ann', updated_by: 'ann', ...more };
}

/** An API that gives these answers, one after the other. */
function answering(...answers: readonly (readonly [status: number, body: unknown])[]) {
  const left = [...answers];
  const fetch = vi.fn<typeof globalThis.fetch>(() => {
    const [status, body] = left.shift() ?? [500, {}];
    const headers = { 'Content-Type': status < 400 ? 'application/json' : 'application/problem+json' };
    return Promise.resolve(new Response(status === 204 ? null : JSON.stringify(body), { status, headers }));
  });
  return { fetch, api: new Api({ sign: () => Promise.resolve(), expired: vi.fn() }, fetch) };
}

const asked = (fetch: ReturnType<typeof answering>['fetch'], place: number) => {
  const [address, request] = fetch.mock.calls[place] ?? [];
  return { address, method: request?.method, headers: new Headers(request?.headers), body: request?.body };
};

const ids = (comments: Comments) => comments.list.value?.map(({ id }) => id);

describe('comments', () => {
  it('are read in pages', async () => {
    const { api, fetch } = answering([200, { items: [comment(1), comment(2)], next: 'c' }], [200, { items: [comment(3)], next: null }]);
    const comments = new Comments(api, 'p', 7);
    await comments.load();
    expect([ids(comments), comments.more.value]).toEqual([[1, 2], true]);
    await comments.next();
    expect([ids(comments), comments.more.value]).toEqual([[1, 2, 3], false]);
    expect(asked(fetch, 1).address).toBe('/v1/projects/p/issues/7/comments?limit=100&cursor=c');
  });

  it('are created, changed and deleted under the version on the screen', async () => {
    const { api, fetch } = answering(
      [200, { items: [comment(1)], next: null }],
      [201, comment(2, { mentions: ['bob'] })],
      [200, comment(1, { version: 2, text: 'other' })],
      [204, null],
    );
    const comments = new Comments(api, 'p', 7);
    await comments.load();
    expect(await comments.add('Look', ['bob'], 'key')).toBe(true);
    expect(asked(fetch, 1)).toMatchObject({ method: 'POST', body: '{"text":"Look","mentions":["bob"]}' });
    expect(asked(fetch, 1).headers.get('Idempotency-Key')).toBe('key');
    expect(await comments.change(comment(1), 'other', [])).toBe(true);
    expect(asked(fetch, 2).headers.get('If-Match')).toBe('"1"');
    expect(comments.list.value?.map(({ text }) => text)).toEqual(['other', '2']);
    expect(await comments.remove(comment(2))).toBe(true);
    expect(asked(fetch, 3)).toMatchObject({ method: 'DELETE', address: '/v1/projects/p/issues/7/comments/2' });
    expect(ids(comments)).toEqual([1]);
  });

  it('are changed one at a time: another request would name an outdated version', async () => {
    const { api, fetch } = answering([200, comment(1, { version: 2 })], [412, {}]);
    const comments = new Comments(api, 'p', 7);
    const first = comments.change(comment(1), 'once', []);
    expect(await comments.change(comment(1), 'once', [])).toBe(false);
    expect([await first, comments.refusal.value, fetch.mock.calls.length]).toEqual([true, null, 1]);
  });

  it('read a new comment together with the unread ones', async () => {
    const { api } = answering([200, { items: [comment(1)], next: 'c' }], [201, comment(9)]);
    const comments = new Comments(api, 'p', 7);
    await comments.load();
    await comments.add('x', [], 'key');
    expect(ids(comments)).toEqual([1]);
  });

  it('are read again after a conflict, and the refusal is shown', async () => {
    const stale = { type: 'version-mismatch', title: 'Version mismatch', status: 412 };
    const { api } = answering([200, { items: [comment(1)], next: null }], [412, stale], [200, { items: [comment(1, { version: 2 })], next: null }]);
    const comments = new Comments(api, 'p', 7);
    await comments.load();
    expect(await comments.change(comment(1), 'mine', [])).toBe(false);
    expect(comments.list.value).toMatchObject([{ version: 2 }]);
    expect(comments.refusal.value).toMatchObject({ status: 412 });
    expect(comments.busy.value).toBe(false);
  });
});

describe('people', () => {
  it('are shown by the names in the tenant, or by their ids', async () => {
    const { api, fetch } = answering([200, { items: [ANN], next: 'c' }], [200, { items: [ARROL], next: null }]);
    const people = new People(api);
    expect(people.nameOf('a1')).toBe('a1');
    await Promise.all([people.load(), people.load()]);
    await people.load();
    expect(fetch).toHaveBeenCalledTimes(2);
    expect(people.of(['a2', 'x'])).toEqual([ARROL, { id: 'x', name: 'x' }]);
  });

  it('are requested again after a failure', async () => {
    const { api } = answering([500, {}], [200, { items: [ANN], next: null }]);
    const people = new People(api);
    await people.load();
    expect(people.nameOf('a1')).toBe('a1');
    await people.load();
    expect(people.nameOf('a1')).toBe('Ann');
  });

  it('are found by prefixes of their names', async () => {
    const { api, fetch } = answering([200, { items: [ANN], next: null }]);
    const people = new People(api);
    expect(await people.find('an')).toEqual([ANN]);
    expect(asked(fetch, 0).address).toBe('/v1/users?limit=8&prefix=an');
    expect(people.nameOf('a1')).toBe('Ann');
  });
});

it('no offer is left that does not begin like the typed text', () => {
  const users = ['ada', 'Adele', 'a.macleod'].map((name) => ({ id: name, name }));
  expect(fitting(users, 'AD').map(({ name }) => name)).toEqual(['ada', 'Adele']);
  expect(fitting(users, '')).toEqual(users);
});
