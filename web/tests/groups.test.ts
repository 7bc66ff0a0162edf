import { describe, expect, it, vi } from 'vitest';
import { allClosed, type CountedGroup, haveSameRows, keyOfGroup, layoutOfGroups, toggled } from '../src/rows/groups';
import type { Layout } from '../src/rows/layout';
import { Api } from '../src/api/client';
import { formatPeriod, formatRange } from '../src/cells/format';
import { byOf, Groups, type GroupsQuery } from '../src/project/groups';
import { field } from './fields';
import { LosslessNumber } from 'lossless-json';
import type { GroupOrder } from '../src/view/view';
import type { GroupValue } from '../src/fields/values';

const group = (count: number, ...values: GroupValue[]): CountedGroup => ({
  values,
  count,
  filter: { field: 'state', op: 'eq', value: keyOfGroup(values) },
  figures: [],
});
const LEVELS = [
  [group(5, 'open'), group(2, null)],
  [group(3, 'open', 'High'), group(2, 'open', null), group(2, null, 'Low')],
];
const labels = (layout: Layout) =>
  layout.pieces.map((piece) => (piece.kind === 'group' ? `${'-'.repeat(piece.group.depth)}${keyOfGroup([piece.group.value])} ${piece.group.count}` : `run ${piece.run.count}`));

describe('the layout of groups', () => {
  it('has the issues of the innermost groups below the heads', () => {
    const layout = layoutOfGroups(LEVELS, ['state', 'priority'], new Set());
    expect(labels(layout)).toEqual(['open 5', '-High 3', 'run 3', '-+ 2', 'run 2', '+ 2', '-Low 2', 'run 2']);
    expect(layout.length).toBe(5 + 3 + 2 + 2);
    expect(layout.at(2)).toMatchObject({ kind: 'issue', run: { filter: { value: 'open/High' } }, offset: 0 });
  });

  it('leaves out closed groups at any level', () => {
    expect(labels(layoutOfGroups(LEVELS, ['state', 'priority'], new Set(['open'])))).toEqual(['open 5', '+ 2', '-Low 2', 'run 2']);
    const inner = new Set([keyOfGroup(['open', null]), keyOfGroup([null])]);
    expect(labels(layoutOfGroups(LEVELS, ['state', 'priority'], inner))).toEqual(['open 5', '-High 3', 'run 3', '-+ 2', '+ 2']);
  });

  it('shows heads before their inner groups are known, and only the head of a group without a filter', () => {
    expect(labels(layoutOfGroups(LEVELS.slice(0, 1), ['state', 'priority'], new Set()))).toEqual(['open 5', '+ 2']);
    expect(labels(layoutOfGroups([[{ ...group(4, 'gone'), filter: null }]], ['state'], new Set()))).toEqual(['gone 4']);
  });
});

describe('keys of groups', () => {
  it('distinguish groups with any values', () => {
    const keys = [['a/b'], ['a', 'b'], [null, 'b'], ['a', null], ['%2F'], ['+'], [null], [true]].map(keyOfGroup);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('of ranges have their bounds', () => {
    const ranges = [[0, 100], [null, 0], [0, null], [-0.5, 0]].map(([from = null, to = null]) => [{ from, to }]);
    expect(ranges.map(keyOfGroup)).toEqual(['0~100', '~0', '0~', '-0.5~0']);
    expect(keyOfGroup(['open', { from: new LosslessNumber('12345678901234567890'), to: null }])).toBe('open/12345678901234567890~');
    const level = [group(2, { from: 0, to: 50 }), group(1, null)];
    expect(layoutOfGroups([level], ['cost'], new Set(['0~50'])).pieces.map(({ kind }) => kind)).toEqual(['group', 'group', 'run']);
  });

  it('are closed and opened one by one, or all', () => {
    expect(toggled(toggled([], 'a'), 'b')).toEqual(['a', 'b']);
    expect(toggled(['a', 'b'], 'a')).toEqual(['b']);
    expect(labels(layoutOfGroups(LEVELS, ['state', 'priority'], new Set(allClosed(LEVELS))))).toEqual(['open 5', '+ 2']);
  });
});

describe('requests for groups', () => {
  /** Groups a, b, c … in pages of two; their figures are refused while that `isDear`. */
  function groupsOf(isDear: () => boolean) {
    const fetch: typeof globalThis.fetch = (_, request) => {
      const body = JSON.parse(request?.body as string) as { by: unknown[]; cursor?: string; aggregates: unknown[] };
      if (isDear() && body.aggregates.length) return Promise.resolve(new Response('{"title":"Too many"}', { status: 422 }));
      const start = Number(body.cursor ?? 0);
      const groups = ['a', 'b', 'c'].slice(start, start + 2).map((value) => ({
        values: [value, 'x'].slice(0, body.by.length),
        count: 1,
        filter: null,
        ...(body.aggregates.length ? { aggregates: [{ field: 'cost', function: 'sum', value: 7 }] } : {}),
      }));
      return Promise.resolve(Response.json({ groups, more: start === 0, next: start === 0 ? '2' : null }));
    };
    const groups = new Groups(new Api({ sign: () => Promise.resolve(), expired: vi.fn() }, fetch), 'p');
    groups.start({ by: ['state', 'priority'], filter: null, aggregates: [{ field: 'cost', function: 'sum' }], order: null });
    return groups;
  }
  const names = (groups: Groups) => groups.levels.value.map((level) => level.map(({ values }) => keyOfGroup(values)).join(' '));

  it('continue with the next page at each level, and add the figures', async () => {
    const groups = groupsOf(() => false);
    await vi.waitFor(() => expect(names(groups)).toEqual(['a b', 'a/x b/x']));
    expect(groups.more.value).toBe(true);
    groups.next();
    await vi.waitFor(() => expect(groups.levels.value[1]?.[2]?.figures).toEqual([{ field: 'cost', fn: 'sum', value: 7 }]));
    expect(names(groups)).toEqual(['a b c', 'a/x b/x c/x']);
    expect(groups.more.value).toBe(false);
  });

  it('show groups without figures, with the reason, if the figures are refused', async () => {
    const groups = groupsOf(() => true);
    await vi.waitFor(() => expect(groups.figuresError.value).not.toBeNull());
    expect(names(groups)[0]).toBe('a b');
    expect(groups.error.value).toBeNull();
  });

  it('report a refusal of their figures until these arrive, also of ones that were there before', async () => {
    let isDear = true;
    const groups = groupsOf(() => isDear);
    await vi.waitFor(() => expect(groups.figuresError.value).not.toBeNull());
    isDear = false;
    await groups.renew();
    expect([groups.figuresError.value, groups.levels.value[0]?.[0]?.figures.length]).toEqual([null, 1]);
    isDear = true;
    await groups.renew();
    expect([groups.figuresError.value, groups.levels.value[0]?.[0]?.figures.length]).toEqual([expect.anything(), 0]);
  });

  it('that were requested before a change of their counts are not shown', async () => {
    const groups = groupsOf(() => false);
    await vi.waitFor(() => expect(groups.levels.value[0]?.[0]?.figures).toHaveLength(1));
    const before = groups.read();
    const counted = groups.levels.value.map((level) => level.map((group) => ({ ...group, count: 2 })));
    groups.recount(counted);
    const read = await before;
    expect(read?.levels[0]?.[0]?.count).toBe(1);
    expect(read?.areLatest()).toBe(false);
    await groups.renew();
    expect(groups.levels.value[0]?.[0]?.count).toBe(1);
    const renewal = groups.renew();
    groups.recount(counted);
    await renewal;
    expect(groups.levels.value).toEqual(counted);
  });

  /** Groups a, b … of which the test decides when each answer comes, and its counts. */
  function answering({ aggregates = [] as GroupsQuery['aggregates'] } = {}) {
    const asked: ((count: number | null, next?: string) => Promise<void>)[] = [];
    const fetch: typeof globalThis.fetch = (_, request) =>
      new Promise((resolve) => {
        const { cursor } = JSON.parse(request?.body as string) as { cursor?: string };
        asked.push(async (count, next) => {
          const groups = [{ values: [cursor ?? 'a'], count, filter: null, aggregates: [{ field: 'cost', function: 'sum', value: count }] }];
          resolve(count === null ? new Response('{}', { status: 503 }) : Response.json({ groups, next: next ?? null }));
          await new Promise((done) => setTimeout(done));
        });
      });
    const groups = new Groups(new Api({ sign: () => Promise.resolve(), expired: vi.fn() }, fetch), 'p');
    groups.start({ by: ['state'], filter: null, aggregates, order: null });
    const request = async (place: number) => vi.waitFor(() => asked[place] ?? expect.fail(`There is no request ${place}.`));
    const shown = () => groups.levels.value[0]?.map(({ values, count }) => `${keyOfGroup(values)} ${count}`);
    return { groups, request, shown };
  }

  it('are not shown after newer ones, and must be requested once more if the newer ones fail', async () => {
    const { groups, request, shown } = answering();
    await (await request(0))(3);
    const first = groups.renew();
    await request(1);
    const second = groups.renew();
    const read = groups.read();
    await (await request(3))(1);
    await (await request(2))(2);
    await (await request(1))(3);
    expect([await first, await second]).toEqual([true, true]);
    expect(shown()).toEqual(['a 3']);
    expect((await read)?.areLatest()).toBe(true);
    (await read)?.show();
    expect(shown()).toEqual(['a 1']);
    const failed = groups.renew();
    await (await request(4))(null);
    expect(await failed).toBe(false);
    const replaced = groups.renew();
    groups.stop();
    await (await request(5))(null);
    expect(await replaced).toBe(true);
  });

  it('are not replaced by a page that was requested before them', async () => {
    const { groups, request, shown } = answering({ aggregates: [{ field: 'cost', function: 'sum' }] });
    await (await request(0))(3);
    const renewed = groups.renew();
    await (await request(2))(2);
    expect(await renewed).toBe(true);
    await (await request(1))(3);
    expect(shown()).toEqual(['a 2']);
  });

  it('get all of their figures if an answer holds fewer groups with these', async () => {
    const fetch: typeof globalThis.fetch = (_, request) => {
      const { cursor, aggregates } = JSON.parse(request?.body as string) as { cursor?: string; aggregates: unknown[] };
      const start = Number(cursor ?? 0);
      const end = Math.min(start + (aggregates.length ? 2 : 3), 5);
      const groups = ['a', 'b', 'c', 'd', 'e'].slice(start, end).map((value) => ({
        ...{ values: [value], count: 1, filter: null },
        ...(aggregates.length && { aggregates: [{ field: 'cost', function: 'sum', value: 7 }] }),
      }));
      return Promise.resolve(Response.json({ groups, next: end < 5 ? String(end) : null }));
    };
    const groups = new Groups(new Api({ sign: () => Promise.resolve(), expired: vi.fn() }, fetch), 'p');
    groups.start({ by: ['state'], filter: null, aggregates: [{ field: 'cost', function: 'sum' }], order: null });
    await vi.waitFor(() => expect(groups.levels.value[0]?.map(({ figures }) => figures.length)).toEqual([1, 1, 1]));
  });

  it('are followed by the next page if that was requested before them, or are requested once more after it', async () => {
    const { groups, request, shown } = answering();
    await (await request(0))(3, 'b');
    groups.next();
    await request(1);
    const renewed = groups.renew();
    await (await request(2))(2, 'c');
    expect(await renewed).toBe(true);
    await (await request(1))(3, 'x');
    await (await request(3))(1, 'd');
    expect(shown()).toEqual(['a 2', 'c 1']);
    groups.next();
    const early = groups.renew();
    await (await request(4))(1);
    for (const place of [5, 6]) await (await request(place))(9, 'c');
    expect(await early).toBe(false);
    expect(shown()).toEqual(['a 2', 'c 1', 'd 1']);
  });

  it('that were read again are shown only if they may be', async () => {
    const groups = groupsOf(() => false);
    await vi.waitFor(() => expect(groups.levels.value[0]?.[0]?.figures).toHaveLength(1));
    const shown = groups.levels.value;
    expect(await groups.renew(() => false)).toBe(false);
    expect(groups.levels.value).toBe(shown);
    expect(await groups.renew((levels) => haveSameRows(levels, shown))).toBe(true);
    expect(groups.levels.value).not.toBe(shown);
  });

  it('have the same rows if only their figures differ', () => {
    const group = { values: ['a'], count: 2, filter: null, figures: [] };
    expect(haveSameRows([[group]], [[{ ...group, figures: [{ field: 'cost', fn: 'sum', value: '7' }] }]])).toBe(true);
    expect(haveSameRows([[group]], [[{ ...group, count: 3 }]])).toBe(false);
    expect(haveSameRows([[group]], [[{ ...group, values: ['b'] }]])).toBe(false);
  });

  it('name an order, and compute what orders them with the first answer', async () => {
    const asked: unknown[] = [];
    const parts: string[] = [];
    const fetch: typeof globalThis.fetch = (_, request) => {
      const { aggregates, order } = JSON.parse(request?.body as string) as { aggregates: { field: string; function: string }[]; order?: unknown };
      asked.push([aggregates.map((one) => `${one.function} ${one.field}`).join(), order]);
      return Promise.resolve(Response.json({ groups: [], next: null }));
    };
    const groups = new Groups(new Api({ sign: () => Promise.resolve(), expired: vi.fn() }, fetch), 'p', (part) => {
      parts.push(part);
      return () => undefined;
    });
    const start = async (order: GroupOrder | null, requests: number) => {
      asked.length = parts.length = 0;
      groups.start({ by: ['state'], filter: null, aggregates: [{ field: 'size', function: 'median' }], order });
      await vi.waitFor(() => expect(asked).toHaveLength(requests));
    };
    await start({ field: 'cost', fn: 'sum', direction: 'desc' }, 2);
    const byCost = { by: 0, direction: 'desc' };
    expect(asked).toEqual([['sum cost', byCost], ['sum cost,median size', byCost]]);
    expect(parts).toEqual(['places', 'figures']);
    await start({ field: null, fn: 'count', direction: 'asc' }, 2);
    const byCount = { by: 'count', direction: 'asc' };
    expect(asked).toEqual([['', byCount], ['median size', byCount]]);
    await start(null, 2);
    expect(asked[0]).toEqual(['', undefined]);
  });

  it('send widths and bounds with all their digits, only for numbers', () => {
    const fields = [field('cost', 'number'), field('size', 'number'), field('name')];
    const digits = '0.12345678901234567890123';
    const keys = [
      { field: 'cost', unit: null, width: digits },
      { field: 'size', unit: null, bins: ['0', '50'] },
      { field: 'name', unit: null, width: '5' },
    ];
    expect(byOf(keys, fields, 'UTC')).toEqual([{ field: 'cost', width: new LosslessNumber(digits) }, { field: 'size', bins: [0, 50] }, 'name']);
  });

  it('send the time zone if the groups depend on it', () => {
    const fields = [field('due', 'date'), field('seen', 'datetime'), field('state', 'enum')];
    const keys = fields.map(({ id }) => ({ field: id, unit: 'month' as const }));
    expect(byOf(keys, fields, 'Europe/London')).toEqual([
      { field: 'due', unit: 'month' },
      { field: 'seen', unit: 'month', timezone: 'Europe/London' },
      'state',
    ]);
    const zoned = [{ field: 'seen', unit: 'day', timezone: 'Asia/Tokyo' }] as const;
    expect(byOf(zoned, fields, 'Europe/London')).toEqual(zoned);
  });

  it('a range has a readable name', () => {
    expect(formatRange({ from: 0, to: 100 })).toBe('0 – 100');
    expect(formatRange({ from: null, to: 0 })).toBe('< 0');
    expect(formatRange({ from: 1000, to: null })).toBe('≥ 1,000');
  });

  it('a period has a readable name', () => {
    expect(formatPeriod('year', '2024')).toBe('2024');
    expect(formatPeriod('month', '2024-05')).toContain('2024');
    expect(formatPeriod('day', '2024-05-31')).toContain('31');
  });
});
