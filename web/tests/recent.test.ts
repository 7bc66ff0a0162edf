import { describe, expect, it, vi } from 'vitest';
import { Api } from '../src/api/client';
import { RecentWrites } from '../src/api/recent';

const GRID = '/v1/projects/p/grid';

function recent() {
  const time = { now: 0 };
  return { time, writes: new RecentWrites(() => time.now) };
}

describe('tokens of writes', () => {
  it('are sent with each read of the project’s index, newest first', () => {
    const { writes } = recent();
    writes.keep('/v1/projects/p/issues/7', 'one', 1);
    writes.keep('/v1/projects/p/issues/batch', 'two', 20);
    writes.keep('/v1/projects/q/issues', 'other', 1);
    for (const path of ['grid', 'grid?sort=-num', 'groups', 'summary', 'issues/7/row-number?sort=name', 'undo', 'export', 'issues/update-matching', 'issues/delete-matching'])
      expect(writes.headerOf(`/v1/projects/p/${path}`)).toBe('two,one');
    expect(writes.headerOf('/v1/projects/q/grid')).toBe('other');
  });

  it('are sent with no other request', () => {
    const { writes } = recent();
    writes.keep('/v1/projects/p/issues/7', 'one', 1);
    for (const address of ['/v1/projects', '/v1/projects/p', '/v1/projects/p/issues/7', '/v1/projects/p/issues/batch', '/v1/users'])
      expect(writes.headerOf(address)).toBeNull();
  });

  it('are kept from writes, changes and single issues, not from reads of many issues', () => {
    const { writes } = recent();
    const many = ['grid', 'grid?sort=-num', 'groups', 'summary', 'activity?by=bob', 'trash', 'issues/7/row-number', 'issues/7/history'];
    for (const path of many) writes.keep(`/v1/projects/p/${path}`, path, 1);
    expect(writes.headerOf(GRID)).toBeNull();
    for (const path of ['issues/7', 'changes?since=x', 'trash/7/restore', 'undo']) writes.keep(`/v1/projects/p/${path}`, path, 1);
    expect(writes.headerOf(GRID)).toBe('undo,trash/7/restore,changes?since=x,issues/7');
  });

  it('are sent with the last cursor if rows and counts are read', () => {
    const { writes, time } = recent();
    writes.keep('/v1/projects/p/issues/7', 'one', 1);
    writes.continueFrom('p', 'before');
    writes.continueFrom('p', 'cursor');
    expect(writes.headerOf(GRID)).toBe('one,cursor');
    expect(writes.headerOf('/v1/projects/p/undo')).toBe('one');
    expect(writes.headerOf('/v1/projects/q/grid')).toBeNull();
    time.now += 60_000;
    expect(writes.headerOf(GRID)).toBeNull();
  });

  it('are sent without the cursor if it may name too many issues', () => {
    const { writes } = recent();
    const ahead = (issues: number) => 'x'.repeat(60 + 3 * issues);
    writes.keep('/v1/projects/p/issues/batch', 'many', 400);
    writes.continueFrom('p', ahead(100));
    expect(writes.headerOf(GRID)).toBe(`many,${ahead(100)}`);
    writes.continueFrom('p', ahead(101));
    expect(writes.headerOf(GRID)).toBe('many');
  });

  it('are valid for a minute', () => {
    const { writes, time } = recent();
    writes.keep('/v1/projects/p/issues/7', 'one', 1);
    time.now = 59_999;
    writes.keep('/v1/projects/p/issues/8', 'two', 1);
    expect(writes.headerOf(GRID)).toBe('two,one');
    time.now = 60_000;
    expect(writes.headerOf(GRID)).toBe('two');
    time.now = 119_999;
    expect(writes.headerOf(GRID)).toBeNull();
  });

  it('name at most the last 500 written issues', () => {
    const { writes } = recent();
    writes.keep('/v1/projects/p/issues/7', 'old', 1);
    writes.keep('/v1/projects/p/issues/batch', 'paste', 499);
    writes.keep('/v1/projects/p/issues/8', 'new', 1);
    expect(writes.headerOf(GRID)).toBe('new,paste');
  });

  it('fit into the headers of a request', () => {
    const { writes } = recent();
    for (let num = 1; num <= 200; num += 1) writes.keep(`/v1/projects/p/issues/${num}`, 'x'.repeat(60), 1);
    expect((writes.headerOf(GRID) ?? '').length).toBeLessThanOrEqual(5_000);
    expect((writes.headerOf(GRID) ?? '').split(',').length).toBeGreaterThan(70);
  });
});

describe('the client', () => {
  it('keeps the token from a write, and sends it with the next read', async () => {
    const fetch = vi.fn<typeof globalThis.fetch>(() =>
      Promise.resolve(new Response('{}', { headers: { 'X-Consistency-Token': 'token' } })),
    );
    const api = new Api({ sign: () => Promise.resolve(), expired: vi.fn() }, fetch);
    const sent = (call: number) => new Headers(fetch.mock.calls[call]?.[1]?.headers).get('X-Consistency-Token');
    await api.request('PATCH', '/v1/projects/p/issues/7', { body: { name: 'x' } });
    await api.request('POST', GRID, { body: {} });
    await api.request('GET', '/v1/projects/p', {});
    expect([sent(0), sent(1), sent(2)]).toEqual([null, 'token', null]);
  });

  it.each([
    ['/v1/projects/p/issues/batch', { operations: new Array(400).fill({}) }, {}],
    ['/v1/projects/p/views/v1/order', {}, { items: new Array(400).fill({}) }],
    ['/v1/projects/p/undo', {}, { undone: new Array(400).fill({}), refused: [] }],
  ])('counts all issues that the token of %s names', async (address, body, answer) => {
    const api = new Api({ sign: () => Promise.resolve(), expired: vi.fn() }, (asked, request) => {
      sent.push(new Headers(request?.headers).get('X-Consistency-Token'));
      return Promise.resolve(Response.json(asked === address ? answer : {}, { headers: { 'X-Consistency-Token': asked as string } }));
    });
    const sent: (string | null)[] = [];
    await api.request('POST', '/v1/projects/p/issues/batch', { body: { operations: new Array(101).fill({}) } });
    await api.request('POST', address, { body });
    await api.request('POST', GRID, { body: {} });
    expect(sent.at(-1)).toBe(address);
  });
});
