import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Api } from '../src/api/client';
import type { Judged, Row } from '../src/fields/values';
import { Judging } from '../src/project/judging';
import { fetchRows, judge } from '../src/project/queries';
import { rulingOf, type Rule, type Ruling } from '../src/view/rules';
import { field } from './fields';

const FIELDS = [field('cost', 'number'), field('kind')];
const DEAR: Rule = { filter: { field: 'cost', op: 'gt', value: 5 }, color: 'red', field: null };
const BEAM: Rule = { filter: { field: 'kind', op: 'eq', value: 'beam' }, color: 'blue', field: 'kind' };
const DEAR_TEXT = '{"field":"cost","op":"gt","value":5}';

/** Rows in view that a judge with a copy of the issues judges, 100 ms later. */
function judged() {
  const rows = new Map<number, Row>();
  const stored = new Map<number, { version: number; cost: number }>();
  const listeners = new Set<() => void>();
  const asked: (readonly number[])[] = [];
  const state = { ruling: rulingOf([DEAR], FIELDS), fails: false };
  const replace = (num: number, change: (row: Row) => Row) => {
    const row = rows.get(num);
    if (row) rows.set(num, change(row));
    for (const listener of listeners) listener();
  };
  const onChange = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const judging = new Judging({ inView: () => [...rows.values()], replace, onChange }, () => state.ruling, async (_, nums) => {
    asked.push(nums);
    const found = new Map(stored);
    await new Promise((resolve) => setTimeout(resolve, 100));
    if (state.fails) throw new Error('offline');
    return new Map(
      nums.flatMap((num): [number, Judged][] => {
        const issue = found.get(num);
        return issue ? [[num, { version: issue.version, values: { cost: issue.cost }, matches: issue.cost > 5 ? [DEAR_TEXT] : [] }]] : [];
      }),
    );
  });
  const put = (num: number, version: number, cost: number) => {
    rows.set(num, { ...rows.get(num), num, version, values: { cost } });
    stored.set(num, { version, cost });
  };
  const write = (num: number, version: number, cost: number) => {
    stored.set(num, { version, cost });
    replace(num, (row) => ({ ...row, version, values: { cost } }));
  };
  return { rows, stored, asked, state, judging, put, write, replace };
}

describe('rows in view', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('are judged together, and again after a change of a field that a rule uses', async () => {
    const { rows, asked, judging, put, write, replace } = judged();
    for (const num of [1, 2, 3]) put(num, 1, num);
    judging.look();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(asked).toEqual([[1, 2, 3]]);
    write(1, 2, 9);
    write(2, 2, 8);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(asked.flat().sort()).toEqual([1, 1, 2, 2, 3]);
    expect([1, 2, 3].map((num) => rows.get(num)?.judged?.matches.length)).toEqual([1, 1, 0]);
    replace(3, (row) => ({ ...row, version: 2, values: { ...row.values, kind: 'new' } }));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(asked.flat()).toHaveLength(5);
  });

  it('are judged again if the answer is older than the row, a limited number of times', async () => {
    const { rows, stored, asked, judging, put, replace } = judged();
    put(1, 1, 1);
    judging.look();
    await vi.advanceTimersByTimeAsync(5_000);
    // The row shows a change before the API does.
    replace(1, (row) => ({ ...row, version: 2, values: { cost: 9 } }));
    await vi.advanceTimersByTimeAsync(700);
    expect(rows.get(1)?.judged?.matches).toEqual([]);
    stored.set(1, { version: 2, cost: 9 });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(rows.get(1)?.judged).toMatchObject({ version: 2, matches: [DEAR_TEXT] });
    asked.length = 0;
    stored.delete(1);
    replace(1, (row) => ({ ...row, version: 3, values: { cost: 1 } }));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toHaveLength(5);
  });

  it('wait for the next look after a failure, and none is asked without rules', async () => {
    const { asked, judging, put, state, rows } = judged();
    put(1, 1, 9);
    state.fails = true;
    judging.look();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(asked).toHaveLength(1);
    state.fails = false;
    judging.look();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(rows.get(1)?.judged?.matches).toEqual([DEAR_TEXT]);
    asked.length = 0;
    put(2, 1, 9);
    state.ruling = rulingOf([], FIELDS);
    judging.look();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(asked).toEqual([]);
  });

  it('do not take an answer for other rules', async () => {
    const { judging, put, state, rows } = judged();
    put(1, 1, 9);
    judging.look();
    state.ruling = rulingOf([BEAM], FIELDS);
    await vi.advanceTimersByTimeAsync(150);
    expect(rows.get(1)?.judged).toBeUndefined();
    judging.stop();
  });
});

describe('requests for judged rows', () => {
  const bodies: unknown[] = [];
  const fetch: typeof globalThis.fetch = (_, request) => {
    bodies.push(JSON.parse(request?.body as string));
    const rows = [{ num: 7, version: 3, name: 'a', matches: [1], fields: { cost: 9, kind: 'beam' } }];
    return Promise.resolve(Response.json({ rows, next: null, index: { lag_ms: 0, pending: 0 }, changes_cursor: null }));
  };
  const api = new Api({ sign: () => Promise.resolve(), expired: () => undefined }, fetch);
  const ruling: Ruling = rulingOf([DEAR, BEAM, { ...DEAR, color: 'pink' }], FIELDS);

  it('have each filter once, and the fields by which rows are judged', async () => {
    bodies.length = 0;
    const { rows } = await fetchRows(api, 'p', { sort: [], filter: null, columns: ['name', 'cost'], offset: 0, limit: 10, ruling });
    expect(bodies).toEqual([{ sort: [], filter: null, columns: ['name', 'cost', 'kind'], offset: 0, limit: 10, rules: [DEAR.filter, BEAM.filter] }]);
    expect(rows[0]).toMatchObject({ values: { name: 'a', cost: 9 }, judged: { version: 3, matches: ['{"field":"kind","op":"eq","value":"beam"}'] } });
    expect(rows[0]?.values).not.toHaveProperty('matches');
  });

  it('have no rules in a view without any', async () => {
    bodies.length = 0;
    const { rows } = await fetchRows(api, 'p', { sort: [], filter: null, columns: ['name'], offset: 0, limit: 10, ruling: rulingOf([], FIELDS) });
    expect(bodies[0]).not.toHaveProperty('rules');
    expect(rows[0]).not.toHaveProperty('judged');
  });

  it('of single issues name them, 200 at once', async () => {
    bodies.length = 0;
    const found = await judge(api, 'p', ruling, Array.from({ length: 201 }, (_, at) => at + 1));
    expect(bodies).toHaveLength(2);
    expect(bodies[1]).toEqual({ filter: { field: 'num', op: 'in', value: [201] }, columns: ['num', 'cost', 'kind'], offset: 0, limit: 200, rules: [DEAR.filter, BEAM.filter] });
    expect(found.get(7)).toMatchObject({ version: 3, values: { cost: 9, kind: 'beam' } });
  });
});
