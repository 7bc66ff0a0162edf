import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Row } from '../src/fields/values';
import { Layout, type Run } from '../src/rows/layout';
import { RowStore, type FetchRows } from '../src/rows/store';

const row = (num: number): Row => ({ num, version: 1, values: { num } });

/** Issues 0, 1, 2 … of a run, which arrive when the test allows it. */
class Server {
  readonly asked: { run: string; offset: number; signal: AbortSignal; answer: (rows?: readonly Row[]) => Promise<void>; fail: (error: Error) => Promise<void> }[] = [];

  readonly fetch: FetchRows = (run, offset, limit, signal) =>
    new Promise((resolve, reject) => {
      const rows = Array.from({ length: limit }, (_, place) => row(offset + place)).slice(0, run.count - offset);
      const settled = () => Promise.resolve().then(() => undefined);
      this.asked.push({
        run: run.key,
        offset,
        signal,
        answer: (given = rows) => (resolve(given), settled()),
        fail: (error) => (reject(error), settled()),
      });
      signal.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
    });

  get offsets(): number[] {
    return this.asked.map(({ offset }) => offset);
  }
}

const run = (key: string, count: number): Run => ({ key, filter: null, count });
const numAt = (store: RowStore, index: number) => {
  const slot = store.at(index);
  return slot.kind === 'issue' ? slot.row.num : slot.kind;
};

describe('the layout', () => {
  const group = (key: string) => ({ key, depth: 0, field: 'state', value: key, values: [key], filter: null, count: 0, open: true, figures: [] });
  const layout = new Layout([
    { kind: 'group', group: group('a') },
    { kind: 'run', run: run('a', 1000) },
    { kind: 'group', group: group('b') },
    { kind: 'group', group: group('c') },
    { kind: 'run', run: run('c', 2) },
  ]);

  it('returns the content of each row', () => {
    const labels = [0, 1, 1000, 1001, 1002, 1003, 1004].map((index) => {
      const place = layout.at(index);
      return place?.kind === 'group' ? place.group.key : place && `${place.run.key}${place.offset}`;
    });
    expect(labels).toEqual(['a', 'a0', 'a999', 'b', 'c', 'c0', 'c1']);
    expect(layout.length).toBe(1005);
    expect(layout.at(1005)).toBeUndefined();
    expect(layout.indexOf('c', 1)).toBe(1004);
  });

  it('handles runs without issues', () => {
    expect(new Layout([{ kind: 'run', run: run('a', 0) }, { kind: 'run', run: run('b', 1) }]).at(0)).toMatchObject({ run: { key: 'b' } });
    expect(Layout.ofOneRun(null, 0).at(0)).toBeUndefined();
  });
});

describe('the store of rows', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  function opened(count: number, maxPages = 4) {
    const server = new Server();
    const store = new RowStore(server.fetch, { pageSize: 10, maxPages, pause: 50 });
    store.reset(Layout.ofOneRun(null, count));
    return { server, store };
  }

  it('requests the pages in view once, and shows their answers', async () => {
    const { server, store } = opened(1000);
    store.show({ first: 20, last: 32 });
    store.show({ first: 20, last: 33 });
    vi.advanceTimersByTime(200);
    expect(server.offsets).toEqual([0, 10, 20, 30]);
    expect(server.asked.map(({ signal }) => signal.aborted)).toEqual([true, false, false, false]);
    expect(numAt(store, 25)).toBe('loading');
    await server.asked[2]?.answer();
    expect(numAt(store, 25)).toBe(25);
    expect(store.indexOf(25)).toBe(25);
  });

  it('requests only pages where a dragged scroll bar rests, and cancels the others', () => {
    const { server, store } = opened(100_000);
    for (let first = 0; first < 50_000; first += 1000) store.show({ first, last: first + 4 });
    vi.advanceTimersByTime(50);
    expect(server.asked.map(({ offset, signal }) => [offset, signal.aborted])).toEqual([
      [0, true],
      [48_990, false],
      [49_000, false],
    ]);
  });

  it('keeps a limited number of pages', async () => {
    const { server, store } = opened(1000);
    for (let first = 0; first < 300; first += 10) {
      store.show({ first, last: first });
      vi.advanceTimersByTime(50);
      await Promise.all(server.asked.map((request) => request.answer()));
    }
    expect([...Array(1000).keys()].filter((index) => numAt(store, index) !== 'loading').length).toBeLessThanOrEqual(40);
    expect(store.indexOf(0)).toBeUndefined();
  });

  it('shows a missing row, and a failed page', async () => {
    const { server, store } = opened(20);
    store.show({ first: 0, last: 19 });
    await server.asked[0]?.answer([row(0), row(1)]);
    await server.asked[1]?.fail(new Error('no'));
    expect([0, 2, 12].map((index) => store.at(index).kind)).toEqual(['issue', 'gone', 'failed']);
    expect(store.at(99).kind).toBe('gone');
  });

  it('shows the old rows until the new ones come', async () => {
    const { server, store } = opened(10);
    store.show({ first: 0, last: 9 });
    await server.asked[0]?.answer();
    expect(store.inView().map(({ num }) => num)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    store.refresh();
    expect(numAt(store, 3)).toBe(3);
    // They are judged when they are read again.
    expect(store.inView()).toEqual([]);
    await server.asked[1]?.answer(Array.from({ length: 10 }, (_, place) => row(place + 100)));
    expect(numAt(store, 3)).toBe(103);
    expect(store.indexOf(3)).toBeUndefined();
  });

  it('forgets the rows of a former query', async () => {
    const { server, store } = opened(10);
    store.show({ first: 0, last: 9 });
    store.reset(Layout.ofOneRun(null, 10));
    expect(server.asked[0]?.signal.aborted).toBe(true);
    await server.asked[0]?.answer();
    expect(numAt(store, 3)).toBe('loading');
    expect(server.asked).toHaveLength(2);
  });

  it('replaces a changed row', async () => {
    const { server, store } = opened(10);
    store.show({ first: 0, last: 9 });
    await server.asked[0]?.answer();
    const changed = vi.fn();
    store.onChange(changed);
    store.replace(4, (held) => ({ ...held, version: 2 }));
    expect(store.held(4)?.version).toBe(2);
    expect(changed).toHaveBeenCalledOnce();
  });
});

it('an issue in two stores changes in both', async () => {
  const server = new Server();
  const store = new RowStore(server.fetch, { pageSize: 10 });
  const added = run('added', 1);
  store.reset(new Layout([{ kind: 'run', run: run('', 5) }, { kind: 'run', run: added }]));
  store.seed(added, [row(4)]);
  store.show({ first: 0, last: 5 });
  await server.asked[0]?.answer();
  store.replace(4, (held) => ({ ...held, version: 2 }));
  expect([4, 5].map((index) => store.at(index))).toMatchObject([{ row: { version: 2 } }, { row: { version: 2 } }]);
});

describe('rows that are read again while they are shown', () => {
  const shownFrom = async (numbers: readonly number[]) => {
    const server = new Server();
    const store = new RowStore(server.fetch, { pageSize: 2, pause: 0 });
    store.reset(Layout.ofOneRun(null, numbers.length));
    store.show({ first: 0, last: 3 });
    for (const [place, request] of server.asked.entries()) await request.answer(numbers.slice(2 * place, 2 * place + 2).map(row));
    server.asked.length = 0;
    return { server, store };
  };

  it('are replaced in one step that reports the moves of the rows in view', async () => {
    const { server, store } = await shownFrom([1, 2, 3, 4]);
    const seen: unknown[] = [];
    store.onMove((now) => seen.push([0, 1, 2, 3].map(now)));
    const renewed = store.renew(() => true);
    await server.asked[0]?.answer([9, 1].map(row));
    expect([0, 1, 2, 3].map((index) => numAt(store, index))).toEqual([1, 2, 3, 4]);
    await server.asked[1]?.answer([2, 3].map(row));
    expect(await renewed).toBe(true);
    expect([0, 1, 2, 3].map((index) => numAt(store, index))).toEqual([9, 1, 2, 3]);
    expect(seen).toEqual([[1, 2, 3, undefined]]);
  });

  it('stay if they may not move, cannot be read, or are replaced by another query', async () => {
    const { server, store } = await shownFrom([1, 2, 3, 4]);
    const kept = store.renew(() => false);
    for (const request of server.asked) await request.answer([8, 9].map(row));
    expect(await kept).toBe(false);
    server.asked.length = 0;
    const failed = store.renew(() => true);
    await server.asked[0]?.fail(new Error('away'));
    expect(await failed).toBe(false);
    server.asked.length = 0;
    const late = store.renew(() => true);
    store.refresh();
    expect(server.asked[0]?.signal.aborted).toBe(true);
    expect(await late).toBe(false);
    expect([0, 1, 2, 3].map((index) => numAt(store, index))).toEqual([1, 2, 3, 4]);
  });
});

describe('rows in several windows', () => {
  const two = (a: number, b: number) => new Layout([{ kind: 'run', run: run('a', a) }, { kind: 'run', run: run('b', b) }]);
  const asked = (server: Server) => server.asked.map(({ run: key, offset }) => `${key}${offset}`);

  it('are requested run by run, without the rows beside the windows', async () => {
    const server = new Server();
    const store = new RowStore(server.fetch, { pageSize: 10, pause: 0 });
    store.reset(two(1_000, 5));
    server.asked.length = 0;
    store.show([{ run: 'a', first: 498, last: 503 }, { run: 'b', first: 0, last: 20 }, { run: 'none', first: 0, last: 20 }]);
    expect(asked(server)).toEqual(['a490', 'a500', 'b0']);
    for (const request of server.asked) await request.answer();
    expect(store.inView().map(({ num }) => num)).toEqual([498, 499, 500, 501, 502, 503, 0, 1, 2, 3, 4]);
    expect(store.inRun('a', 501)).toMatchObject({ kind: 'issue', row: { num: 501 } });
    expect(store.inRun('a', 7).kind).toBe('loading');
    expect([...store.entries()].filter(({ run: { key } }) => key === 'b').map(({ offset }) => offset)).toEqual([0, 1, 2, 3, 4]);
    // A run that the layout no longer has holds no rows.
    store.relayout(new Layout([{ kind: 'run', run: run('a', 1_000) }]));
    expect([...store.entries()].every(({ run: { key } }) => key === 'a')).toBe(true);
  });

  it('are renewed together with another layout', async () => {
    const server = new Server();
    const store = new RowStore(server.fetch, { pageSize: 10, pause: 0 });
    store.reset(two(3, 0));
    store.show([{ run: 'a', first: 0, last: 20 }, { run: 'b', first: 0, last: 20 }]);
    for (const request of server.asked) await request.answer([1, 2, 3].map(row));
    server.asked.length = 0;
    const renewed = store.renew(() => true, server.fetch, two(2, 1));
    expect(asked(server)).toEqual(['a0', 'b0']);
    await server.asked[0]?.answer([1, 3].map(row));
    expect(store.layout.length).toBe(3);
    await server.asked[1]?.answer([2].map(row));
    expect(await renewed).toBe(true);
    expect(store.layout.run('b')?.count).toBe(1);
    expect([0, 1, 2].map((index) => numAt(store, index))).toEqual([1, 3, 2]);
  });
});
