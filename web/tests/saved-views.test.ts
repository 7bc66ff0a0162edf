import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Api } from '../src/api/client';
import type { Project, SavedView } from '../src/api/types';
import type { Role } from '../src/auth/session';
import { readViews, SavedViews, Unread } from '../src/project/saved-views';
import type { RowHeight } from '../src/view/view';
import { saved } from './views';

const HOME = '/projects/demo';

/** A window with an address, which the router reads and writes. */
const there = vi.hoisted(() => {
  const location = { pathname: '/', search: '' };
  const put = (_: unknown, __: string, target: string) => {
    const url = new URL(target, 'http://x');
    Object.assign(location, { pathname: url.pathname, search: url.search });
  };
  vi.stubGlobal('window', { location, history: { pushState: put, replaceState: put }, addEventListener: () => undefined });
  return location;
});

const { go } = await import('../src/router');

const PROJECT: Project = {
  id: 'demo',
  name: 'Demo',
  states: [{ id: 'o1', value: 'open', color: null }],
  issues: 5,
  history: { enabled: true, days: 90 },
  attributes: [],
  version: 1,
  created: '2023-05-01T12:00:00Z',
  updated: '2023-05-01T12:00:00Z',
  created_by: 'ann',
  updated_by: 'ann',
};

type Answer = readonly [status: number, body: unknown];

/** What the user does before an answer comes. */
let meanwhile = () => undefined as unknown;

function answering(...answers: readonly Answer[]) {
  const left = [...answers];
  const calls: { method: string | undefined; address: string; body: unknown; match: string | null }[] = [];
  const fetch: typeof globalThis.fetch = (address, request) => {
    const body = typeof request?.body === 'string' ? (JSON.parse(request.body) as unknown) : null;
    calls.push({ method: request?.method, address: address as string, body, match: new Headers(request?.headers).get('If-Match') });
    const [status, answer] = left.shift() ?? [500, {}];
    meanwhile();
    const headers = { 'Content-Type': status < 400 ? 'application/json' : 'application/problem+json' };
    return Promise.resolve(new Response(status === 204 ? null : JSON.stringify(answer), { status, headers }));
  };
  return { calls, api: new Api({ sign: () => Promise.resolve(), expired: vi.fn() }, fetch) };
}

function opened(role: Role, listed: readonly SavedView[] | Unread, ...answers: readonly Answer[]) {
  const { api, calls } = answering(...answers);
  return { calls, views: new SavedViews(api, PROJECT, { tenant: 't', user: 'ann', name: 'Ann', role }, listed) };
}

const OPEN = saved('v1', { name: 'Open', query: { sort: [], filter: { field: 'state', op: 'eq', value: 'open' } } });

beforeEach(() => {
  meanwhile = () => undefined;
  go(HOME);
});

describe('the open view', () => {
  it('is the view in the address, without fields that the project does not have', () => {
    const { views } = opened('viewer', [OPEN, saved('v2', { color_by: 'gone' })]);
    expect(views.view.value.filter).toBeNull();
    go(`${HOME}?view=v1`);
    expect(views.view.value.filter).toEqual(OPEN.query.filter);
    go(`${HOME}?view=v2`);
    expect(views.view.value.color).toBeNull();
    go(`${HOME}?view=v3`);
    expect(views.opened.value.missing).toBe(true);
  });

  it('is changed and discarded only in the address', () => {
    const { views, calls } = opened('viewer', [OPEN]);
    go(`${HOME}?view=v1`);
    go(views.addressOf({ ...views.view.value, height: 56 }));
    expect(there.search).toContain('view=v1&edited=1');
    expect(views.opened.value.changed).toBe(true);
    views.discard();
    expect(there.search).toBe('?view=v1');
    expect(calls).toEqual([]);
  });
});

describe('a view', () => {
  it('is saved as shown, and opened', async () => {
    const made = saved('v2', { name: 'New', row_height: 56, place: 1 });
    const { views, calls } = opened('editor', [OPEN], [201, made]);
    go(`${HOME}?height=56&search=paint`);
    expect(await views.create('New', 'shared', 'key')).toBe(true);
    expect(calls[0]).toMatchObject({
      method: 'POST',
      address: '/v1/projects/demo/views',
      body: {
        name: 'New',
        visibility: 'shared',
        query: { sort: [], filter: { field: 'name', op: 'contains', value: 'paint' } },
        columns: null,
        row_height: 56,
      },
    });
    expect(there.search).toBe('?view=v2');
    expect(views.list.value.map(({ id }) => id)).toEqual(['v1', 'v2']);
  });

  it('is overwritten with the view on the screen, under the version on the screen', async () => {
    const after = saved('v1', { name: 'Open', version: 2, row_height: 56 });
    const { views, calls } = opened('editor', [OPEN], [200, after]);
    go(`${HOME}?view=v1&edited=1&height=56`);
    expect(await views.overwrite()).toBe(true);
    expect(calls[0]).toMatchObject({ method: 'PATCH', address: '/v1/projects/demo/views/v1', match: '"1"', body: { row_height: 56, color_by: null } });
    expect(calls[0]?.body).not.toHaveProperty('name');
    expect(there.search).toBe('?view=v1');
    expect(views.opened.value).toMatchObject({ changed: false, base: { version: 2 } });
  });

  it('stays grouped as it was when it is saved: closed groups stay closed', async () => {
    const grouped = { groups: [{ field: 'state', unit: null, timezone: null, bins: null, width: null }] };
    const { views } = opened('editor', [OPEN], [200, saved('v1', { ...grouped, version: 2 })], [201, saved('v2', { ...grouped, place: 1 })]);
    go(`${HOME}?view=v1&edited=1&group=state&closed=open`);
    await views.overwrite();
    expect(there.search).toBe('?view=v1&closed=open');
    await views.create('New', 'shared', 'key');
    expect(there.search).toBe('?view=v2&closed=open');
  });

  it('is saved, made or deleted without a step of the page if the user has gone elsewhere meanwhile', async () => {
    const after = saved('v1', { version: 2, row_height: 56 });
    const actions: readonly (readonly [Answer, (views: SavedViews) => Promise<boolean>])[] = [
      [[200, after], (views) => views.overwrite()],
      [[201, saved('v3', { place: 2 })], (views) => views.create('New', 'shared', 'key')],
      [[204, null], (views) => views.remove(OPEN)],
    ];
    for (const [answer, act] of actions) {
      for (const address of [`${HOME}?view=v2`, '/projects/other?view=v1']) {
        const { views } = opened('editor', [OPEN, saved('v2', { place: 1 })], answer);
        go(`${HOME}?view=v1&edited=1&height=56`);
        meanwhile = () => go(address);
        expect(await act(views)).toBe(true);
        expect(there.pathname + there.search).toBe(address);
      }
    }
  });

  it('keeps what the user changes while it is saved or deleted', async () => {
    const { views } = opened('editor', [OPEN], [200, saved('v1', { version: 2, row_height: 56 })], [204, null]);
    const change = (height: RowHeight) => () => go(views.addressOf({ ...views.view.value, height }));
    go(`${HOME}?view=v1&edited=1&height=56`);
    meanwhile = change(24);
    await views.overwrite();
    expect(views.opened.value).toMatchObject({ changed: true, base: { version: 2 }, view: { height: 24 } });
    meanwhile = change(56);
    await views.remove(views.list.value[0] ?? OPEN);
    expect([views.opened.value.missing, views.view.value.height]).toEqual([false, 56]);
  });

  it('becomes the default; the former default is shared, so all views are read again', async () => {
    const before = saved('v2', { visibility: 'default' });
    const after = saved('v1', { visibility: 'default', version: 2 });
    const { views } = opened('admin', [before, OPEN], [200, after], [200, { items: [after, { ...before, visibility: 'shared', place: 1 }], next: null }]);
    expect(await views.patch(OPEN, { visibility: 'default' })).toBe(true);
    expect(views.list.value.map(({ id, visibility }) => [id, visibility])).toEqual([
      ['v1', 'default'],
      ['v2', 'shared'],
    ]);
  });

  it('keeps its rows on the screen after it is deleted', async () => {
    const { views, calls } = opened('editor', [OPEN], [204, null]);
    go(`${HOME}?view=v1`);
    expect(await views.remove(OPEN)).toBe(true);
    expect(calls[0]).toMatchObject({ method: 'DELETE', match: '"1"' });
    expect(views.list.value).toEqual([]);
    expect(there.search).not.toContain('view=');
    expect(views.view.value.filter).toEqual(OPEN.query.filter);
  });

  it('is moved at once on the screen, and the moves are sent one after the other', async () => {
    const first = saved('v1', { place: 0 });
    const third = saved('v3', { place: 2 });
    const { views, calls } = opened('editor', [first, saved('v2', { place: 1 }), third], [200, first], [200, third]);
    const shown = () => views.list.value.map(({ id }) => id);
    const moves = [views.move(first, null), views.move(third, 'v2'), views.move(third, 'v2')];
    expect(shown()).toEqual(['v3', 'v2', 'v1']);
    expect(await Promise.all(moves)).toEqual([true, true, true]);
    expect(calls.map(({ address, body, match }) => [address, body, match])).toEqual([
      ['/v1/projects/demo/views/v1', { place: 2 }, null],
      ['/v1/projects/demo/views/v3', { place: 0 }, null],
    ]);
    expect(shown()).toEqual(['v3', 'v2', 'v1']);
  });

  it('is where it was if its move is refused', async () => {
    const first = saved('v1', { place: 0 });
    const two = [first, saved('v2', { place: 1 })];
    const refused = { type: 'forbidden', title: 'Forbidden', status: 403 };
    const { views } = opened('editor', two, [403, refused], [200, { items: two, next: null }]);
    expect(await views.move(first, null)).toBe(false);
    await vi.waitFor(() => expect(views.list.value).toEqual(two));
    expect(views.refusal.value).toMatchObject({ status: 403 });
  });

  it('is not overwritten if another user changed it, and is shown as it is now', async () => {
    const theirs = saved('v1', { name: 'Theirs', version: 2 });
    const stale = { type: 'version-mismatch', title: 'Version mismatch', status: 412 };
    const { views } = opened('editor', [OPEN], [412, stale], [200, { items: [theirs], next: null }]);
    expect(await views.patch(OPEN, { name: 'Mine' })).toBe(false);
    expect(views.list.value).toEqual([theirs]);
    expect(views.refusal.value).toMatchObject({ status: 412 });
  });
});

it('a role can write as far as the API allows', () => {
  const may = (role: Role) => (['private', 'shared', 'default'] as const).map((one) => opened(role, []).views.mayWrite(one));
  expect([may('viewer'), may('editor'), may('admin')]).toEqual([
    [true, false, false],
    [true, true, false],
    [true, true, true],
  ]);
  expect(opened('editor', []).views.mayWrite('shared', 'default')).toBe(false);
});

it('a project is usable while its views cannot be read', async () => {
  const { views } = opened('viewer', new Unread('away'), [200, { items: [OPEN], next: null }]);
  expect([views.error.value, views.list.value]).toEqual(['away', []]);
  await views.load();
  expect([views.error.value, views.list.value]).toEqual([null, [OPEN]]);
});

it('all pages of views are read', async () => {
  const { api, calls } = answering([200, { items: [OPEN], next: 'c' }], [200, { items: [saved('v2')], next: null }]);
  expect((await readViews(api, 'demo')).map(({ id }) => id)).toEqual(['v1', 'v2']);
  expect(calls[1]?.address).toBe('/v1/projects/demo/views?limit=500&cursor=c');
});
