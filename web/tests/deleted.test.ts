import { describe, expect, it, vi } from 'vitest';
import { Api } from '../src/api/client';
import { OfflineError } from '../src/api/problem';
import type { DeletedAttribute } from '../src/api/types';
import { deletedFieldsOf } from '../src/project/deleted-fields';
import { Projects } from '../src/project/projects';
import { trashOf } from '../src/project/trash';

const field = (id: string, version = 2): DeletedAttribute => ({
  id,
  name: id.toUpperCase(),
  type: 'text',
  required: false,
  indexed: true,
  search: false,
  description: null,
  format: null,
  default: null,
  build: null,
  position: 0,
  version,
  created: '2024-04-01T00:00:00Z',
  updated: '2024-05-01T00:00:00Z',
  deleted: '2024-05-01T00:00:00Z',
  deleted_by: 'bob',
  expires: '2024-05-08T00:00:00Z',
});

/**
 * The API with these deleted fields, and the requests that it received. `refuses` answers instead if it is a status; if
 * it is null, no answer comes.
 */
function fields(...ids: string[]) {
  const state = { listed: ids.map((id) => field(id)), refuses: undefined as number | null | undefined };
  const asked: string[] = [];
  const headers: Headers[] = [];
  const fetch: typeof globalThis.fetch = (address, request) => {
    const method = request?.method ?? 'GET';
    asked.push(`${method} ${address as string}`);
    headers.push(new Headers(request?.headers));
    if (method === 'GET') return Promise.resolve(Response.json({ items: state.listed, next: null }));
    if (state.refuses === null) return Promise.reject(new TypeError('away'));
    if (state.refuses) return Promise.resolve(Response.json({ title: 'No', status: state.refuses }, { status: state.refuses }));
    return Promise.resolve(method === 'DELETE' ? new Response(null, { status: 204 }) : Response.json(field('due', 3)));
  };
  const restored = vi.fn();
  const api = new Api({ sign: () => Promise.resolve(), expired: vi.fn() }, fetch);
  const deleted = deletedFieldsOf(api, 'p', restored);
  const left = () => deleted.items.list.value?.map(({ id }) => id);
  return { deleted, state, asked, headers, restored, ids: left };
}

describe('deleted fields', () => {
  it('are listed, and restored one by one', async () => {
    const { deleted, asked, headers, restored, ids } = fields('due', 'cost');
    await deleted.items.load();
    expect(ids()).toEqual(['due', 'cost']);
    expect(await deleted.restore(field('due'))).toBe(true);
    expect(asked).toEqual(['GET /v1/projects/p/deleted-attributes', 'POST /v1/projects/p/deleted-attributes/due/restore']);
    expect(headers[1]?.get('Idempotency-Key')).toMatch(/^[0-9a-f-]{36}$/);
    expect([ids(), restored.mock.calls.length, deleted.refusal.value, deleted.busy.value]).toEqual([['cost'], 1, null, false]);
  });

  it('are deleted permanently under the version on the screen', async () => {
    const { deleted, asked, headers, restored, ids } = fields('due', 'cost');
    await deleted.items.load();
    expect(await deleted.purge(field('cost', 7))).toBe(true);
    expect(asked.at(-1)).toBe('DELETE /v1/projects/p/deleted-attributes/cost');
    expect(headers.at(-1)?.get('If-Match')).toBe('"7"');
    expect([ids(), restored.mock.calls]).toEqual([['due'], []]);
  });

  it('are offered after the delete, until restored or dismissed', async () => {
    const { deleted, state } = fields('due');
    await deleted.expect(({ id }) => id === 'due');
    expect(deleted.latest.value?.expires).toBe('2024-05-08T00:00:00Z');
    // The list was read once more meanwhile.
    state.listed = [field('due')];
    await deleted.items.load();
    expect(await deleted.restore(field('due'))).toBe(true);
    expect([deleted.latest.value, deleted.items.list.value]).toEqual([null, []]);
    await deleted.expect(({ id }) => id === 'due');
    deleted.dismiss();
    expect([deleted.latest.value, deleted.items.list.value?.length]).toEqual([null, 1]);
    await deleted.expect(({ id }) => id === 'gone');
    expect(deleted.latest.value).toBeNull();
  });

  it('leave the list if another user restored them, with the reason', async () => {
    const { deleted, state, restored, ids } = fields('due', 'cost');
    await deleted.expect(({ id }) => id === 'due');
    state.refuses = 404;
    expect(await deleted.restore(field('due'))).toBe(false);
    expect(deleted.refusal.value).toMatchObject({ status: 404 });
    expect([ids(), deleted.latest.value, restored.mock.calls]).toEqual([['cost'], null, []]);
  });

  it('stay in the list if they cannot be restored, with the reason and a retry', async () => {
    const { deleted, state, asked, ids } = fields('due');
    await deleted.items.load();
    for (const [refuses, reads] of [
      [409, 2],
      [412, 2],
      [422, 1],
    ] as const) {
      const before = asked.length;
      state.refuses = refuses;
      expect(await deleted.restore(field('due'))).toBe(false);
      expect(deleted.refusal.value).toMatchObject({ status: refuses });
      expect([ids(), asked.length - before]).toEqual([['due'], reads]);
    }
    state.refuses = null;
    expect(await deleted.restore(field('due'))).toBe(false);
    expect(deleted.refusal.value).toBeInstanceOf(OfflineError);
    state.refuses = undefined;
    expect(await deleted.restore(field('due'))).toBe(true);
    expect([ids(), deleted.refusal.value]).toEqual([[], null]);
  });

  it('are restored one after the other', async () => {
    const { deleted, asked } = fields('due', 'cost');
    await deleted.items.load();
    const [first, second] = await Promise.all([deleted.restore(field('due')), deleted.restore(field('cost'))]);
    expect([first, second, asked.length]).toEqual([true, false, 2]);
  });
});

it('deleted issues are listed in pages, restored under their numbers and deleted permanently', async () => {
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = (address, request) => {
    asked.push(`${request?.method ?? ''} ${address as string}`);
    const isFirst = !(address as string).includes('cursor');
    const issue = (num: number) => ({ ...field('x'), num });
    if (request?.method === 'GET') return Promise.resolve(Response.json({ items: [issue(isFirst ? 1 : 2)], next: isFirst ? 'c' : null }));
    return Promise.resolve(request?.method === 'POST' ? Response.json(issue(1)) : new Response(null, { status: 204 }));
  };
  const restored = vi.fn();
  const trash = trashOf(new Api({ sign: () => Promise.resolve(), expired: vi.fn() }, fetch), 'p', restored);
  await trash.items.load();
  await trash.items.next();
  const [one, two] = trash.items.list.value ?? [];
  if (!one || !two) throw new Error('The trash has two issues.');
  expect([await trash.restore(one), await trash.purge(two)]).toEqual([true, true]);
  expect(asked).toEqual([
    'GET /v1/projects/p/trash',
    'GET /v1/projects/p/trash?cursor=c',
    'POST /v1/projects/p/trash/1/restore',
    'DELETE /v1/projects/p/trash/2',
  ]);
  expect([restored.mock.calls.length, trash.items.list.value]).toEqual([1, []]);
});

describe('deleted projects', () => {
  /** The tenant's projects, of which some are deleted, and the requests to the API. */
  function tenant(living: string[], gone: string[]) {
    const state = { living, gone };
    const asked: string[] = [];
    const project = (id: string) => ({ ...field(id), states: [], issues: null });
    const fetch: typeof globalThis.fetch = (address, request) => {
      const path = address as string;
      asked.push(`${request?.method ?? ''} ${path} ${new Headers(request?.headers).get('If-Match') ?? ''}`.trim());
      if (request?.method === 'DELETE') return Promise.resolve(new Response(null, { status: 204 }));
      if (request?.method === 'POST') {
        state.living = [...state.living, ...state.gone.splice(0, 1)];
        return Promise.resolve(Response.json(project('a')));
      }
      const listed = path.startsWith('/v1/deleted-projects') ? state.gone : state.living;
      const from = path.includes('cursor=c') ? 1 : 0;
      const paged = path.startsWith('/v1/deleted-projects') && listed.length > 1;
      const items = (paged ? listed.slice(from, from + 1) : listed).map(project);
      return Promise.resolve(Response.json({ items, next: paged && from === 0 ? 'c' : null }));
    };
    const api = new Api({ sign: () => Promise.resolve(), expired: vi.fn() }, fetch);
    const projects = new Projects(api);
    const ids = () => (projects.listed.value.kind === 'ready' ? projects.listed.value.projects.map(({ id }) => id) : null);
    return { projects, deleted: projects.deleted, asked, ids };
  }

  it('are listed in pages, restored to the list of projects, and deleted permanently', async () => {
    const { projects, deleted, asked, ids } = tenant(['z'], ['a', 'b']);
    await projects.load();
    await deleted.items.load();
    await deleted.items.next();
    const [one, two] = deleted.items.list.value ?? [];
    if (!one || !two) throw new Error('Two projects are deleted.');
    expect([one.id, two.id]).toEqual(['a', 'b']);
    asked.length = 0;
    expect(await deleted.restore(one)).toBe(true);
    await vi.waitFor(() => expect(ids()).toEqual(['z', 'a']));
    expect(await deleted.purge(two)).toBe(true);
    expect(asked).toEqual([
      'POST /v1/deleted-projects/a/restore',
      'GET /v1/projects?limit=500',
      'DELETE /v1/deleted-projects/b "2"',
    ]);
    expect(deleted.items.list.value).toEqual([]);
  });

  it('are offered after the delete, and the list is read without them', async () => {
    const { projects, deleted, ids } = tenant(['z'], ['a']);
    await projects.gone('a');
    expect([deleted.latest.value?.name, ids()]).toEqual(['A', ['z']]);
    await projects.gone('nothing');
    expect(deleted.latest.value).toBeNull();
  });
});
