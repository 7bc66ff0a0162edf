import { describe, expect, it, vi } from 'vitest';
import { Api } from '../src/api/client';
import type { SavedView, Webhook } from '../src/api/types';
import { changesOf, eventsOf, isOutdated, Webhooks } from '../src/project/webhooks';

function webhook(id: string, more: Partial<Webhook> = {}): Webhook {
  return {
    id,
    url: `https://${id}.example.org/`,
    view: null,
    frozen: null,
    columns: null,
    missing: [],
    events: [...eventsOf(null)],
    enabled: true,
    warning: null,
    previous_secret_expires: null,
    version: 3,
    created: '2023-05-01T12:00:00Z',
    updated: '2023-05-01T12:00:00Z',
    created_by: 'ada',
    updated_by: 'ada',
    ...more,
  };
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly match: string | null;
  readonly key: string | null;
}

const PATH = '/v1/projects/p/webhooks';

function webhooksOf(stored: Webhook[], answer: (asked: Asked) => { status: number; body?: unknown }) {
  const asked: Asked[] = [];
  const fetch: typeof globalThis.fetch = (address, request) => {
    const headers = new Headers(request?.headers);
    const body = JSON.parse((request?.body ?? 'null') as string) as unknown;
    const one = { method: request?.method ?? '', path: address as string, body, match: headers.get('If-Match'), key: headers.get('Idempotency-Key') };
    asked.push(one);
    const { status, body: answered } = one.method === 'GET' && one.path === PATH ? { status: 200, body: { items: stored, next: null } } : answer(one);
    return Promise.resolve(new Response(answered === undefined ? null : JSON.stringify(answered), { status, headers: { 'Content-Type': 'application/json' } }));
  };
  return { asked, webhooks: new Webhooks(new Api({ sign: () => Promise.resolve(), expired: vi.fn() }, fetch), 'p') };
}

const FROZEN = { name: 'Open', at: '2023-05-01T12:00:00Z', by: 'ada', query: { sort: [], filter: { field: 'state', op: 'eq', value: 'open' } } } as const;

describe('a webhook of a view', () => {
  const followed = webhook('w1', { view: 'v3', frozen: FROZEN as unknown as Webhook['frozen'], columns: ['name'], events: ['enter'] });
  const { url, view, columns, events, enabled } = followed;
  const draft = { url, view, columns, events, enabled };

  it('sends its view only if another one is chosen, since sending it again would take over edits', () => {
    expect(changesOf(followed, draft)).toEqual({});
    expect(changesOf(followed, { ...draft, url: 'https://w2.example.org/' })).toEqual({ url: 'https://w2.example.org/' });
    expect(changesOf(followed, { ...draft, columns: null })).toEqual({ columns: null });
    expect(changesOf(followed, { ...draft, view: null, columns: null, events: ['create'] })).toEqual({ view: null, columns: null, events: ['create'] });
  });

  it('is outdated if the view’s order or filter has changed', () => {
    const shown = (query: unknown) => ({ id: 'v3', name: 'Open', query }) as unknown as SavedView;
    expect(isOutdated(followed, shown({ ...FROZEN.query }))).toBe(false);
    expect(isOutdated(followed, shown({ ...FROZEN.query, filter: null }))).toBe(true);
    expect(isOutdated(followed, undefined)).toBe(false);
    expect(isOutdated(webhook('w2'), shown(FROZEN.query))).toBe(false);
  });
});

describe('webhooks', () => {
  it('are created under the key of the form, and their secret is shown until it is dismissed', async () => {
    const stored: Webhook[] = [];
    const { webhooks, asked } = webhooksOf(stored, () => {
      stored.push(webhook('w1'));
      return { status: 201, body: { ...webhook('w1'), secret: 'whsec_1' } };
    });
    const draft = { url: 'https://w1.example.org/', view: 'v3', columns: ['name'], events: eventsOf('v3'), enabled: false };
    expect(await webhooks.create(draft, 'key')).toBe(true);
    expect(asked[0]).toEqual({ method: 'POST', path: PATH, body: draft, match: null, key: 'key' });
    expect(webhooks.secret.value).toEqual({ webhook: 'w1', url: 'https://w1.example.org/', secret: 'whsec_1' });
    expect(webhooks.list.value).toEqual(stored);
  });

  it('of all issues send no view', async () => {
    const { webhooks, asked } = webhooksOf([], () => ({ status: 409, body: { title: 'Conflict' } }));
    expect(await webhooks.create({ url: 'https://w.example.org/', view: null, columns: null, events: ['create'], enabled: true }, 'key')).toBe(false);
    expect(asked[0]?.body).toEqual({ url: 'https://w.example.org/', view: null, columns: null, events: ['create'], enabled: true });
    expect(webhooks.refusal.value).toMatchObject({ status: 409 });
    expect(webhooks.secret.value).toBeNull();
  });

  it('are changed and deleted under the version on the screen; after a conflict the current one is shown', async () => {
    const stored = [webhook('w1', { version: 4, enabled: false })];
    const { webhooks, asked } = webhooksOf(stored, ({ method }) => (method === 'DELETE' ? { status: 204 } : { status: 412, body: { title: 'Changed' } }));
    expect(await webhooks.change(webhook('w1'), { enabled: false })).toBe(false);
    expect(asked[0]).toMatchObject({ method: 'PATCH', path: `${PATH}/w1`, body: { enabled: false }, match: '"3"' });
    expect(webhooks.list.value).toEqual(stored);
    expect(webhooks.refusal.value).toMatchObject({ status: 412 });
    expect(await webhooks.remove(webhook('w1', { version: 4 }))).toBe(true);
    expect(asked.at(-2)).toMatchObject({ method: 'DELETE', match: '"4"' });
    expect(webhooks.refusal.value).toBeNull();
  });

  it('get a new secret, and send a message again', async () => {
    const { webhooks, asked } = webhooksOf([], ({ path }) =>
      path.endsWith('/rotate') ? { status: 200, body: { ...webhook('w1'), secret: 'whsec_2' } } : { status: 202, body: {} },
    );
    expect(await webhooks.rotate(webhook('w1'))).toBe(true);
    expect(webhooks.secret.value?.secret).toBe('whsec_2');
    const message = { id: '57_1' } as Parameters<Webhooks['replay']>[1];
    expect(await webhooks.replay(webhook('w1'), message)).toBe(true);
    expect(asked.map(({ path }) => path).filter((path) => path !== PATH)).toEqual([`${PATH}/w1/rotate`, `${PATH}/w1/deliveries/57_1/replay`]);
    expect(asked.every(({ method, key }) => method === 'GET' || key !== null)).toBe(true);
  });
});
