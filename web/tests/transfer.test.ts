import { describe, expect, it, vi } from 'vitest';
import { Api } from '../src/api/client';
import type { ColumnPlan } from '../src/csv/plan';
import { ColumnValues } from '../src/csv/infer';
import { plainField, type Field } from '../src/fields/fields';
import { Export } from '../src/project/exporting';
import { Import, reasonsOf } from '../src/project/importing';

interface Asked {
  readonly path: string;
  readonly key: string | null;
  readonly body: Record<string, unknown>;
}

/** An API that answers by a function, and records its requests. */
function apiOf(answer: (asked: Asked) => { status?: number; body: unknown; headers?: Record<string, string> }) {
  const asked: Asked[] = [];
  const fetch: typeof globalThis.fetch = (address, request) => {
    const one = {
      path: address as string,
      key: new Headers(request?.headers).get('Idempotency-Key'),
      body: JSON.parse(request?.body as string) as Record<string, unknown>,
    };
    asked.push(one);
    const { status = 200, body, headers = {} } = answer(one);
    return Promise.resolve(new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json', ...headers } }));
  };
  return { asked, api: new Api({ sign: () => Promise.resolve(), expired: vi.fn() }, fetch) };
}

const field = (id: string, type: Field['type'], custom: boolean) => plainField(id, id, type, { custom });
const NAME = { ...field('name', 'text', false), name: 'Name' };
const column = (header: string, target: ColumnPlan['target']): ColumnPlan => ({ header, target, isComputed: false, values: new ColumnValues() });
const COLUMNS = [column('name', { kind: 'field', field: 'name' }), column('Trade', { kind: 'new', type: 'enum', options: ['a'] })];

async function* fileOf(rows: string[][]) {
  yield await Promise.resolve([['name', 'Trade']]);
  yield rows;
}

const REASONS = { wide: 'too wide', unsent: 'not sent', unknown: 'unknown' };
const created = { status: 201, num: 1, version: 1 };

describe('an import', () => {
  it('creates fields, sends batches, keeps refused rows, and waits for the index', async () => {
    const totals = [100, 100, 350, 700];
    const { api, asked } = apiOf(({ path, body }) => {
      if (path.endsWith('/grid')) return { body: { rows: [], next: null, total: totals.shift(), matched: 0 } };
      if (path.endsWith('/attributes')) return { status: 201, body: { id: 'trade_2', indexed: true } };
      const operations = body['operations'] as { create: { name: string } }[];
      return {
        body: {
          results: operations.map(({ create }) =>
            create.name === 'bad' ? { status: 400, problem: { detail: 'No.', errors: [{ field: 'name', message: 'is bad' }, { field: 'fields.trade_2', message: 'is no option' }] } } : created,
          ),
        },
      };
    });
    const rows = [...Array.from({ length: 600 }, (_, at) => [`issue ${at}`, 'a']), ['bad', 'b']];
    const one = new Import(api, 'p', [NAME], REASONS, () => Promise.resolve());
    await one.run(COLUMNS, fileOf(rows));
    expect(one.state.value).toMatchObject({ phase: 'done', done: 601, created: 600, indexed: 600, error: null });
    expect(one.state.value.refused).toEqual([{ place: 600, cells: ['bad', 'b'], reason: 'Name is bad; Trade is no option' }]);
    expect(reasonsOf([...one.state.value.refused, { place: 1, cells: [], reason: 'x' }, { place: 2, cells: [], reason: 'x' }])).toEqual([['x', 2], ['Name is bad; Trade is no option', 1]]);
    const batches = asked.filter(({ path }) => path.endsWith('/batch'));
    expect(batches.map(({ body }) => (body['operations'] as unknown[]).length)).toEqual([500, 101]);
    expect(batches[0]?.body['return']).toBe('minimal');
    expect((batches[0]?.body['operations'] as unknown[])[0]).toEqual({ create: { name: 'issue 0', fields: { trade_2: 'a' } } });
    expect(new Set(batches.map(({ key }) => key)).size).toBe(2);
  });

  it('has four batches on the way at once, and lists refused rows in the order of the file', async () => {
    let flying = 0;
    let most = 0;
    const sign = async () => {
      most = Math.max(most, (flying += 1));
      // The first of them is answered last.
      for (let ticks = 40 - 5 * most; ticks > 0; ticks -= 1) await Promise.resolve();
      flying -= 1;
    };
    const fetch: typeof globalThis.fetch = (path, request) => {
      const { operations = [] } = JSON.parse(request?.body as string) as { operations?: unknown[] };
      const results = operations.map((_, at) => (at === 7 ? { status: 400, problem: { detail: 'No.' } } : created));
      const body = (path as string).endsWith('/grid') ? { rows: [], next: null, total: 3493, matched: 0 } : { results };
      return Promise.resolve(new Response(JSON.stringify(body), { headers: { 'Content-Type': 'application/json' } }));
    };
    const one = new Import(new Api({ sign, expired: vi.fn() }, fetch), 'p', [NAME], REASONS, () => Promise.resolve());
    await one.run(COLUMNS.slice(0, 1), fileOf(Array.from({ length: 3500 }, (_, at) => [`row ${at}`])));
    expect(most).toBe(4);
    expect(one.state.value).toMatchObject({ phase: 'done', done: 3500, created: 3493 });
    expect(one.state.value.refused.map(({ cells }) => cells[0])).toEqual([7, 507, 1007, 1507, 2007, 2507, 3007].map((at) => `row ${at}`));
  });

  it('repeats a batch under the same key until it has an answer', async () => {
    const answers = [
      { status: 429, body: { type: 'x/too-many-writes', title: 'Too many' }, headers: { 'Retry-After': '7' } },
      { body: { results: [created, { status: 503, problem: { detail: 'Later.' } }] } },
      { body: { results: [created, created] } },
    ];
    const { api, asked } = apiOf(({ path }) =>
      path.endsWith('/grid') ? { body: { rows: [], next: null, total: 2, matched: 0 } } : (answers.shift() ?? { body: {} }),
    );
    const wait = vi.fn(() => Promise.resolve());
    const one = new Import(api, 'p', [NAME], REASONS, wait);
    await one.run(COLUMNS.slice(0, 1), fileOf([['a'], ['b']]));
    expect(one.state.value).toMatchObject({ created: 2, refused: [] });
    const batches = asked.filter(({ path }) => path.endsWith('/batch'));
    expect(batches).toHaveLength(3);
    expect(new Set(batches.map(({ key }) => key)).size).toBe(1);
    expect(wait).toHaveBeenCalledWith(7);
  });

  it.each([502, 504])('repeats a batch that a gateway refuses with %i', async (status) => {
    const answers = [{ status, body: {} }, { body: { results: [created] } }];
    const { api, asked } = apiOf(({ path }) =>
      path.endsWith('/grid') ? { body: { rows: [], next: null, total: 1, matched: 0 } } : (answers.shift() ?? { body: {} }),
    );
    const one = new Import(api, 'p', [NAME], REASONS, () => Promise.resolve());
    await one.run(COLUMNS.slice(0, 1), fileOf([['a']]));
    expect(one.state.value).toMatchObject({ phase: 'done', created: 1 });
    expect(new Set(asked.filter(({ path }) => path.endsWith('/batch')).map(({ key }) => key)).size).toBe(1);
  });

  it('is done once all rows are written, although the index cannot be read', async () => {
    const totals = [{ status: 200 }, { status: 403 }, { status: 200 }];
    const { api } = apiOf(({ path }) => {
      if (path.endsWith('/batch')) return { body: { results: [created] } };
      return { status: totals.shift()?.status ?? 500, body: { rows: [], next: null, total: 0, matched: 0 } };
    });
    const one = new Import(api, 'p', [NAME], REASONS, () => Promise.resolve());
    await one.run(COLUMNS.slice(0, 1), fileOf([['a']]));
    expect(one.state.value).toMatchObject({ phase: 'done', created: 1, indexed: 0, error: null });
  });

  it('ends if the API refuses it or the user cancels it', async () => {
    const { api } = apiOf(() => ({ status: 403, body: { type: 'x/forbidden', title: 'No' } }));
    const refused = new Import(api, 'p', [NAME], REASONS);
    await refused.run(COLUMNS, fileOf([['a']]));
    expect(refused.state.value.phase).toBe('failed');

    const cancelled: Import = new Import(
      apiOf(({ path }) => {
        if (path.endsWith('/batch')) cancelled.cancel();
        return { body: path.endsWith('/batch') ? { results: Array.from({ length: 500 }, () => created) } : { rows: [], next: null, total: 0, matched: 0 } };
      }).api,
      'p',
      [NAME],
      REASONS,
    );
    await cancelled.run(COLUMNS.slice(0, 1), fileOf(Array.from({ length: 1500 }, () => ['a'])));
    expect(cancelled.state.value).toMatchObject({ phase: 'cancelled', created: 500 });
    expect(cancelled.state.value.unsent.map(({ place }) => place)).toEqual(Array.from({ length: 1000 }, (_, at) => 500 + at));
    expect(cancelled.state.value.unsent[0]).toEqual({ place: 500, cells: ['a'], reason: 'not sent' });
  });

  const named = (count: number, name = 'a') => Array.from({ length: count }, () => [name]);
  const answering = (batch: (time: number) => { status?: number; body: unknown }) => {
    let times = 0;
    return apiOf(({ path }) => (path.endsWith('/batch') ? batch((times += 1)) : { body: { rows: [], next: null, total: 9999, matched: 0 } }));
  };

  it('waits for the server as long as it does not answer', async () => {
    const stalled: boolean[] = [];
    const { api } = answering((time) => (time < 40 ? { status: 503, body: {} } : { body: { results: [created] } }));
    const one: Import = new Import(api, 'p', [NAME], REASONS, () => Promise.resolve(void stalled.push(one.state.peek().stalled)));
    await one.run(COLUMNS.slice(0, 1), fileOf(named(1)));
    expect(one.state.value).toMatchObject({ phase: 'done', created: 1, stalled: false });
    expect(stalled.slice(0, 3)).toEqual([false, true, true]);
  });

  it('counts the rows of a batch that was sent before the user cancelled', async () => {
    const late = { status: 503, problem: { detail: 'Later.' } };
    const { api } = answering((time) => {
      one.cancel();
      return { body: { results: [created, time < 3 ? late : created] } };
    });
    const one: Import = new Import(api, 'p', [NAME], REASONS, () => Promise.resolve());
    await one.run(COLUMNS.slice(0, 1), fileOf(named(2)));
    expect(one.state.value).toMatchObject({ phase: 'cancelled', created: 2, refused: [], unsent: [] });
  });

  it('lists the rows that may exist if the server does not answer a cancelled import', async () => {
    const { api } = answering(() => {
      one.cancel();
      return { status: 503, body: {} };
    });
    const one: Import = new Import(api, 'p', [NAME], REASONS, () => Promise.resolve());
    await one.run(COLUMNS.slice(0, 1), fileOf(named(1)));
    expect(one.state.value).toMatchObject({ phase: 'cancelled', created: 0, refused: [{ place: 0, reason: 'unknown' }] });
  });

  it('lists all rows that were not sent if the API refuses a batch', async () => {
    const { api } = answering(() => ({ status: 403, body: { type: 'x/forbidden', title: 'No' } }));
    const one = new Import(api, 'p', [NAME], REASONS, () => Promise.resolve());
    await one.run(COLUMNS.slice(0, 1), fileOf(named(2600)));
    expect(one.state.value.phase).toBe('failed');
    expect(new Set(one.state.value.unsent.map(({ place }) => place)).size).toBe(2600);
  });

  it('sends no more characters in a batch than the API takes, and refuses rows that are too wide', async () => {
    const { api, asked } = apiOf(({ path, body }) =>
      path.endsWith('/batch')
        ? { body: { results: (body['operations'] as unknown[]).map(() => created) } }
        : { body: { rows: [], next: null, total: 9999, matched: 0 } },
    );
    const one = new Import(api, 'p', [NAME], REASONS, () => Promise.resolve());
    await one.run(COLUMNS.slice(0, 1), fileOf([['a', '', 'b'], ...named(25, 'x'.repeat(100_000)), ['last', ' ']]));
    const sizes = asked.filter(({ path }) => path.endsWith('/batch')).map(({ body }) => JSON.stringify(body).length);
    expect(sizes.length).toBe(3);
    expect(Math.max(...sizes)).toBeLessThan(1_050_000);
    expect(one.state.value).toMatchObject({ done: 27, created: 26, refused: [{ place: 0, reason: 'too wide' }] });
  });
});

describe('an export', () => {
  const pages = [
    { rows: [{ num: 1, version: 1, name: '=1+1', fields: { cost: 5 } }], next: 'c1' },
    { rows: [{ num: 2, version: 1, name: 'b', fields: {} }], next: null },
  ];
  const query = { sort: [], filter: null, fields: [field('num', 'number', false), NAME, field('cost', 'number', true)] };

  /** A file that records the calls on it. */
  function file() {
    const written: string[] = [];
    const note = (what: string) => Promise.resolve(void written.push(what));
    return { written, sink: { write: note, close: () => note('closed'), abort: () => note('aborted') } };
  }
  const paged = () => apiOf(({ body }) => ({ body: pages[body['cursor'] === 'c1' ? 1 : 0] }));

  it('reads all pages by their cursors, and writes each as it arrives', async () => {
    const { api, asked } = paged();
    const { written, sink } = file();
    const one = new Export(api, 'p');
    await one.run({ ...query, raw: false }, sink);
    expect(one.state.value).toMatchObject({ phase: 'done', rows: 2 });
    expect(written).toEqual(['num,Name,cost\r\n', "1,'=1+1,5\r\n", '2,b,\r\n', 'closed']);
    expect(asked.map(({ body }) => body['cursor'])).toEqual([undefined, 'c1']);
  });

  it('does not change formulas if it is raw', async () => {
    const { written, sink } = file();
    await new Export(paged().api, 'p').run({ ...query, raw: true }, sink);
    expect(written[1]).toBe('1,=1+1,5\r\n');
  });

  it('leaves no file if it is cancelled or refused', async () => {
    const { written, sink } = file();
    const one: Export = new Export(paged().api, 'p');
    await one.run({ ...query, raw: true }, { ...sink, write: async (text) => { await sink.write(text); if (written.length === 2) one.cancel(); } });
    expect(one.state.value).toMatchObject({ phase: 'cancelled', rows: 0 });
    expect(written.slice(2)).toEqual(['aborted']);
    const full = new Error('The disk is full.');
    const other = new Export(paged().api, 'p');
    await other.run({ ...query, raw: true }, { ...sink, write: () => Promise.reject(full) });
    expect(other.state.value).toMatchObject({ phase: 'failed', error: full });
  });
});
