import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Api } from '../src/api/client';
import type { BackgroundJob, Filter } from '../src/api/types';
import { isOpen, Jobs, merged } from '../src/project/jobs';
import { Layout, type Piece } from '../src/rows/layout';
import { countOf, targetsOf } from '../src/rows/targets';
import { reasonOf } from '../src/ui/refusal';
import { words } from '../src/words';

const filterOf = (value: string): Filter => ({ field: 'state', op: 'eq', value });
const run = (key: string, count: number): Piece => ({ kind: 'run', run: { key, filter: filterOf(key), count } });
const head = (key: string, count: number): Piece => ({
  kind: 'group',
  group: { key, depth: 0, field: 'state', value: key, values: [key], filter: null, count, open: true, figures: [] },
});

describe('the target of a job for rows of the screen', () => {
  it('is the filter for all rows, and a range in the order for some', () => {
    const layout = Layout.ofOneRun(null, 1_000);
    expect(targetsOf(layout, 0, 999)).toEqual([{ filter: null, rows: null, count: 1_000 }]);
    expect(targetsOf(layout, 10, 999)).toEqual([{ filter: null, rows: { from: 10, to: 999 }, count: 990 }]);
    expect(targetsOf(layout, 0, 998)).toEqual([{ filter: null, rows: { from: 0, to: 998 }, count: 999 }]);
    expect(targetsOf(layout, 5, 5)).toEqual([{ filter: null, rows: { from: 5, to: 5 }, count: 1 }]);
  });

  it('excludes heads of groups, and counts rows within each group', () => {
    const layout = new Layout([head('open', 3), run('open', 3), head('closed', 4), run('closed', 4)]);
    expect(targetsOf(layout, 2, 6)).toEqual([
      { filter: filterOf('open'), rows: { from: 1, to: 2 }, count: 2 },
      { filter: filterOf('closed'), rows: { from: 0, to: 1 }, count: 2 },
    ]);
    expect(targetsOf(layout, 0, 4)).toEqual([{ filter: filterOf('open'), rows: null, count: 3 }]);
    expect(targetsOf(layout, 4, 4)).toEqual([]);
    expect(countOf(targetsOf(layout, 0, 8))).toBe(7);
  });
});

function job(id: string, more: Partial<BackgroundJob> = {}): BackgroundJob {
  return {
    id,
    kind: 'update',
    state: 'running',
    done: 0,
    total: 10,
    refused: 0,
    changed: null,
    examples: null,
    change: 'c',
    url: null,
    created: '2023-05-01T12:00:00Z',
    created_by: 'ada',
    ended: null,
    problem: null,
    ...more,
  };
}

const done = (id: string, more: Partial<BackgroundJob> = {}) => job(id, { state: 'done', done: 10, ...more });

describe('the known state of jobs', () => {
  it('is the last answer, newest job first; an ended job stays ended', () => {
    const known = [job('2'), done('1')];
    expect(merged(known, [job('3'), job('2', { done: 5 }), job('1', { done: 9 })])).toEqual([job('3'), job('2', { done: 5 }), done('1')]);
  });

  it('is described in words', () => {
    expect(words.jobs.state(job('1', { done: 1_200, total: 12_345, refused: 3 }))).toBe('Running: 1,200 of 12,345 issues, 3 refused.');
    expect(words.jobs.state(job('1', { state: 'waiting', total: null }))).toBe('Waiting: 0 issues.');
    expect(words.jobs.state(done('1', { kind: 'export', total: 10 }))).toBe('Done: 10 of 10 rows.');
  });
});

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly change: string | null;
  readonly key: string | null;
}

describe('the jobs of a project', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const PATH = '/v1/projects/p/jobs';

  /** An API that has these jobs; `answer` may answer instead. */
  function apiOf(stored: Map<string, BackgroundJob>, answer: (asked: Asked) => { status: number; body?: unknown } | null = () => null) {
    const asked: Asked[] = [];
    const fetch: typeof globalThis.fetch = (address, request) => {
      const headers = new Headers(request?.headers);
      const path = address as string;
      const text = (request?.body ?? 'null') as string;
      const one = { method: request?.method ?? '', path, body: JSON.parse(text) as unknown, change: headers.get('X-Change-Id'), key: headers.get('Idempotency-Key') };
      asked.push(one);
      const listed = { items: [...stored.values()], next: null };
      const { status, body } = answer(one) ?? { status: 200, body: path.startsWith(`${PATH}?`) ? listed : stored.get(path.slice(PATH.length + 1)) };
      return Promise.resolve(new Response(body === undefined ? null : JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } }));
    };
    const ended = vi.fn();
    const jobs = new Jobs(new Api({ sign: () => Promise.resolve(), expired: vi.fn() }, fetch), 'p', ended);
    return { asked, jobs, ended };
  }

  it('are listed, and open ones are polled until they end', async () => {
    const stored = new Map([['2', job('2')], ['1', done('1')]]);
    const { jobs, ended, asked } = apiOf(stored);
    await jobs.load();
    expect(jobs.list.value.map(({ id }) => id)).toEqual(['2', '1']);
    stored.set('2', job('2', { done: 4 }));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(jobs.open.value).toEqual([job('2', { done: 4 })]);
    stored.set('2', done('2'));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(jobs.open.value).toEqual([]);
    expect(ended).toHaveBeenCalledTimes(1);
    expect(jobs.announcement.value).toBe('Change of many issues. Done: 10 of 10 issues.');
    const requests = asked.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked.length).toBe(requests);
  });

  it('are polled after a failed request, and no longer after the page is closed', async () => {
    const stored = new Map([['1', job('1')]]);
    let away = false;
    const { jobs, asked } = apiOf(stored, () => (away ? { status: 500, body: { title: 'Down' } } : null));
    await jobs.load();
    away = true;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(jobs.error.value).toMatchObject({ status: 500 });
    expect(jobs.open.value.length).toBe(1);
    away = false;
    stored.set('1', job('1', { done: 3 }));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(jobs.error.value).toBeNull();
    expect(jobs.open.value[0]?.done).toBe(3);
    jobs.close();
    const requests = asked.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked.length).toBe(requests);
  });

  it('begin one for each target, as one change, with the order if rows are counted', async () => {
    const begun = [job('1'), job('2')];
    const { jobs, asked } = apiOf(new Map(), ({ path }) => (path.endsWith('-matching') ? { status: 202, body: begun.shift() } : null));
    const sort = [{ field: 'due', direction: 'asc', nulls: 'last' }] as const;
    const targets = [
      { filter: filterOf('open'), rows: null, count: 3 },
      { filter: null, rows: { from: 0, to: 9 }, count: 10 },
    ];
    expect(await jobs.begin({ targets, sort, set: { state: 'closed' } }, 'c')).toBe(true);
    expect(asked.map(({ path, body }) => [path, body])).toEqual([
      ['/v1/projects/p/issues/update-matching', { filter: filterOf('open'), set: { state: 'closed' } }],
      ['/v1/projects/p/issues/update-matching', { filter: null, rows: { sort, from: 0, to: 9 }, set: { state: 'closed' } }],
    ]);
    expect(new Set(asked.map(({ change }) => change))).toEqual(new Set(['c']));
    expect(new Set(asked.map(({ key }) => key)).size).toBe(2);
    expect(jobs.list.value.map(({ id }) => id)).toEqual(['2', '1']);
    expect(jobs.list.value.every(isOpen)).toBe(true);
    jobs.close();
  });

  it('preview a change for each target, under no change, and end without a new look at the rows', async () => {
    const stored = new Map<string, BackgroundJob>();
    const { jobs, asked, ended } = apiOf(stored, ({ path }) => (path.endsWith('-matching') ? { status: 202, body: job('1', { change: null, changed: 0, examples: [] }) } : null));
    const replace = { fields: ['name'], find: 'a', with: 'b' };
    expect(await jobs.preview({ targets: [{ filter: filterOf('open'), rows: null, count: 3 }], sort: [], replace })).toEqual(['1']);
    expect(asked).toMatchObject([{ path: '/v1/projects/p/issues/update-matching', body: { filter: filterOf('open'), replace, dry_run: true }, change: null }]);
    stored.set('1', done('1', { change: null, changed: 2, examples: [] }));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(jobs.announcement.value).toBe('Preview of a change. Done: 10 of 10 issues.');
    expect(ended).not.toHaveBeenCalled();
    jobs.close();
  });

  it('begin with a replacement, or a copy', async () => {
    const { jobs, asked } = apiOf(new Map(), () => ({ status: 202, body: job('1') }));
    const copy = { from: 'size', to: 'cost' };
    await jobs.begin({ targets: [{ filter: null, rows: null, count: 3 }], sort: [], copy }, 'c');
    expect(asked).toMatchObject([{ path: '/v1/projects/p/issues/update-matching', body: { filter: null, copy }, change: 'c' }]);
    jobs.close();
  });

  it('write the rows of the grid to a file', async () => {
    const { jobs, asked } = apiOf(new Map(), () => ({ status: 202, body: job('1', { kind: 'export' }) }));
    const sort = [{ field: 'due', direction: 'desc', nulls: 'last' }] as const;
    expect(await jobs.export({ sort, filter: filterOf('open'), columns: ['num', 'due'], raw: false })).toBe('1');
    expect(asked).toMatchObject([
      { path: '/v1/projects/p/export', body: { query: { sort, filter: filterOf('open'), columns: ['num', 'due'] }, format: 'csv', formula_guard: true } },
    ]);
    expect(jobs.open.value.map(({ kind }) => kind)).toEqual(['export']);
    jobs.close();
  });

  it('are not retried if too many are open, and the refusal says what to do', async () => {
    const paths = ['/v1/projects/p/jobs/1', '/v1/projects/p/jobs/2', '/v1/projects/p/jobs/3'];
    const problem = { type: 'too-many-jobs', title: 'Too many jobs', status: 429, jobs: paths.map((path) => ({ kind: 'export', path })) };
    const { jobs, asked } = apiOf(new Map(), () => ({ status: 429, body: problem }));
    expect(await jobs.export({ sort: [], filter: null, columns: ['num'], raw: false })).toBe(null);
    expect(asked).toHaveLength(1);
    expect(reasonOf(jobs.refusal.value)).toBe('You have 3 open exports, the most that you can have. Wait until one ends, or cancel one under “Background jobs”.');
  });

  it('delete if no field is set; a refusal is kept for the window', async () => {
    const { jobs, asked } = apiOf(new Map(), () => ({ status: 403, body: { title: 'Forbidden' } }));
    expect(await jobs.begin({ targets: [{ filter: null, rows: null, count: 2 }], sort: [], set: null }, 'c')).toBe(false);
    expect(asked).toMatchObject([{ path: '/v1/projects/p/issues/delete-matching', body: { filter: null } }]);
    expect(jobs.refusal.value).toMatchObject({ status: 403 });
    expect(jobs.busy.value).toBe(false);
    expect(jobs.list.value).toEqual([]);
  });

  it('are cancelled, and undone at once or by another job', async () => {
    const stored = new Map([['1', job('1')]]);
    const undone = { undone: [{ num: 1, version: 3 }], change: 'd', refused: [] };
    const answers: unknown[] = [undone, job('2', { kind: 'undo', change: 'd' })];
    const { jobs, asked, ended } = apiOf(stored, ({ method, path }) => {
      if (path.endsWith('/undo')) return { status: 200, body: answers.shift() };
      if (method !== 'DELETE') return null;
      stored.set('1', job('1', { state: 'cancelled', done: 4 }));
      return { status: 204 };
    });
    await jobs.load();
    await jobs.cancel(job('1'));
    expect(jobs.open.value).toEqual([]);
    expect(ended).toHaveBeenCalledTimes(1);
    expect(await jobs.undo(job('1'))).toEqual(undone);
    expect(jobs.undone.value).toBe('Undone in 1 issue.');
    expect(asked.at(-1)?.body).toEqual({ change: 'c', by: 'ada' });
    expect(await jobs.undo(job('1'))).toBeNull();
    expect(jobs.open.value.map(({ id, kind }) => [id, kind])).toEqual([['2', 'undo']]);
    jobs.close();
  });
});
