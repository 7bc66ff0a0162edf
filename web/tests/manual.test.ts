import { describe, expect, it } from 'vitest';
import { Api } from '../src/api/client';
import type { ChangeEvent } from '../src/api/types';
import { anchorBeyond, gapBeyond } from '../src/board/steps';
import { placeAt } from '../src/board/viewport';
import { inverse, isEmpty, NO_CHANGE, renumbered } from '../src/edits/change';
import { Editor, type HeldRows } from '../src/edits/editor';
import { WriteQueue } from '../src/edits/write-queue';
import { rowOf, type Row } from '../src/fields/values';
import { applied, effectOf, isPlacement } from '../src/live/events';
import { placingsBack } from '../src/manual/back';
import { anchorClearOf, targetAt, targetBeyond, type Screen } from '../src/manual/target';
import { showPlaced } from '../src/project/placing';
import { layoutOfGroups, recounted, type CountedGroup } from '../src/rows/groups';
import { Layout, type Group } from '../src/rows/layout';
import { RowStore, type Slot } from '../src/rows/store';
import { transferred } from '../src/rows/transfer';
import { fromAddress, toAddress } from '../src/view/address';
import { addressOf, lookOf, openedAt, viewOf } from '../src/view/saved';
import { DEFAULT_VIEW, orderOf } from '../src/view/view';
import { saved } from './views';

const json = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } });

const row = (num: number): Row => ({ num, version: 1, values: { num } });

describe('a view in a manual order', () => {
  const view = saved('v3', { visibility: 'shared', manual_order: 'ready', query: { sort: [{ manual: 'v3' }], filter: null } });

  it('is saved and requested by that order', () => {
    expect(viewOf(view)).toMatchObject({ sort: [], manual: 'v3' });
    expect(orderOf(viewOf(view))).toEqual([{ manual: 'v3' }]);
    expect(lookOf(viewOf(view), 0, []).query.sort).toEqual([{ manual: 'v3' }]);
  });

  it('keeps it in its address, with changes of other parts', () => {
    const edited = { ...viewOf(view), search: '', height: 56 } as const;
    const address = addressOf(edited, view, [view]);
    expect(address).toBe('view=v3&edited=1&sort=manual.v3&height=56');
    expect(openedAt(address, [view])).toMatchObject({ changed: true, view: { manual: 'v3', sort: [], height: 56 } });
    expect(fromAddress(toAddress({ ...DEFAULT_VIEW, manual: 'v12' })).manual).toBe('v12');
    expect(fromAddress('sort=manual.w1').manual).toBeNull();
  });

  it('is in the order of the numbers once that order is gone', () => {
    const gone = { ...view, manual_order: null };
    expect(openedAt('view=v3&edited=1&sort=manual.v3', [gone]).view.manual).toBeNull();
    expect(openedAt('sort=manual.v9', [view]).view.manual).toBeNull();
  });
});

describe('placements that put rows back', () => {
  const nums = [11, 12, 13, 14, 15];
  const at = (run: string, offset: number) => (run === 'a' ? (nums[offset] ?? null) : null);
  const spot = (offset: number) => ({ num: nums[offset] ?? 0, run: 'a', offset });

  it('place each block after the row before it, and the first one before the row after it', () => {
    expect(placingsBack([spot(3), spot(1), spot(2)], at)).toEqual([{ nums: [12, 13, 14], anchor: { after: 11 } }]);
    expect(placingsBack([spot(4), spot(0), spot(2)], at)).toEqual([
      { nums: [11], anchor: { before: 12 } },
      { nums: [13], anchor: { after: 12 } },
      { nums: [15], anchor: { after: 14 } },
    ]);
  });

  it('are none where no row beside is known', () => {
    expect(placingsBack([{ num: 1, run: 'b', offset: 5 }], at)).toEqual([]);
  });

  it('are the inverse of a change, and follow issues that are created again', () => {
    const places = { view: 'v1', forth: [{ nums: [1, 2], anchor: { before: null } }], back: [{ nums: [1], anchor: { after: 2 } }] };
    const change = { ...NO_CHANGE, places };
    expect(isEmpty(change)).toBe(false);
    expect(inverse(change).places).toEqual({ view: 'v1', forth: places.back, back: places.forth });
    expect(renumbered(change, new Map([[1, 7], [2, 8]])).places).toEqual({
      view: 'v1',
      forth: [{ nums: [7, 8], anchor: { before: null } }],
      back: [{ nums: [7], anchor: { after: 8 } }],
    });
  });
});

describe('where rows go', () => {
  const group = (key: string): Group => ({ key, depth: 0, field: 'kind', value: key, values: [key], filter: null, count: 2, open: true, figures: [] });
  /** a: 1, 2; b: closed; c: 5, 6. */
  const rows: readonly (readonly [Group, number | null])[] = [
    [group('a'), null],
    [group('a'), 1],
    [group('a'), 2],
    [group('b'), null],
    [group('c'), null],
    [group('c'), 5],
    [group('c'), 6],
  ];
  const at = (index: number): Slot => {
    const [found, num] = rows[index] ?? [null, null];
    if (!found) return { kind: 'gone' };
    return num === null ? { kind: 'group', group: found } : { kind: 'issue', row: row(num) };
  };
  const screen: Screen = { at, groupOf: (index) => rows[index]?.[0] ?? null, isPlaced: (index) => at(index).kind === 'issue' };

  it('at an edge of a row, or of the head of an open group', () => {
    expect(targetAt({ row: 1, side: 'after' }, screen)).toEqual({ row: 1, side: 'after' });
    expect(targetAt({ row: 0, side: 'after' }, screen)).toEqual({ row: 1, side: 'before' });
    expect(targetAt({ row: 3, side: 'before' }, screen)).toEqual({ row: 2, side: 'after' });
    expect(targetAt({ row: 3, side: 'after' }, screen)).toBeNull();
    expect(targetAt({ row: 9, side: 'after' }, screen)).toBeNull();
  });

  it('by one row, and over closed groups into the next one', () => {
    expect(targetBeyond({ first: 1, last: 1 }, 1, screen)).toEqual({ row: 2, side: 'after' });
    expect(targetBeyond({ first: 2, last: 2 }, 1, screen)).toEqual({ row: 5, side: 'before' });
    expect(targetBeyond({ first: 5, last: 6 }, -1, screen)).toEqual({ row: 2, side: 'after' });
    expect(targetBeyond({ first: 1, last: 1 }, -1, screen)).toBeNull();
    expect(targetBeyond({ first: 6, last: 6 }, 1, screen)).toBeNull();
  });

  it('beside a row that stays', () => {
    expect(anchorClearOf({ row: 2, side: 'after' }, new Set([2]), screen)).toEqual({ after: 1 });
    expect(anchorClearOf({ row: 1, side: 'after' }, new Set([1]), screen)).toEqual({ before: 2 });
    expect(anchorClearOf({ row: 1, side: 'before' }, new Set([5]), screen)).toEqual({ before: 1 });
    expect(anchorClearOf({ row: 1, side: 'before' }, new Set([1, 2]), screen)).toBeNull();
  });
});

describe('rows that are held', () => {
  const of = (...nums: readonly number[]) => new Map(nums.map((num, offset) => [offset, row(num)]));
  const numsOf = (held: ReadonlyMap<number, Row>) => [...held].sort(([a], [b]) => a - b).map(([offset, { num }]) => `${offset}:${num}`);

  it('go within a run, out of it, and into it', () => {
    expect(numsOf(transferred(of(1, 2, 3, 4), new Set([1]), { before: 3, rows: [row(1)] }))).toEqual(['0:2', '1:3', '2:1', '3:4']);
    expect(numsOf(transferred(of(1, 2, 3, 4), new Set([4, 2]), { before: 0, rows: [row(2), row(4)] }))).toEqual(['0:2', '1:4', '2:1', '3:3']);
    expect(numsOf(transferred(of(1, 2, 3), new Set([2]), null))).toEqual(['0:1', '1:3']);
    expect(numsOf(transferred(of(1, 2), new Set([9]), { before: 2, rows: [row(9)] }))).toEqual(['0:1', '1:2', '2:9']);
  });

  it('leave gaps where rows are not known', () => {
    const held = new Map([[0, row(1)], [5, row(6)]]);
    expect(numsOf(transferred(held, new Set([1]), { before: 6, rows: [row(1)] }))).toEqual(['4:6', '5:1']);
  });

  const store = (layout: Layout) => {
    const rows = new RowStore(() => new Promise(() => undefined), { pageSize: 3 });
    rows.reset(layout);
    return rows;
  };
  const shownIn = (rows: RowStore) =>
    Array.from({ length: rows.layout.length }, (_, index) => {
      const slot = rows.at(index);
      return slot.kind === 'issue' ? slot.row.num : slot.kind === 'group' ? slot.group.key : slot.kind;
    });

  it('are shown in another place at once, and listeners learn that the user has moved them', () => {
    const layout = Layout.ofOneRun(null, 5);
    const rows = store(layout);
    rows.seed({ key: '', filter: null, count: 5 }, [1, 2, 3, 4, 5].map(row));
    rows.show({ first: 0, last: 4 });
    const reports: unknown[] = [];
    rows.onMove((now, { isOwn }) => reports.push([now(0), now(4), isOwn]));
    showPlaced({ rows, levels: () => [], layout: () => layout, recount: () => undefined, fixed: 'added' }, { nums: [1, 2], anchor: { after: 4 } });
    expect(shownIn(rows)).toEqual([3, 4, 1, 2, 5]);
    expect(reports).toEqual([[2, 4, true]]);
    expect(rows.placeOf(2)).toMatchObject({ offset: 3 });
    rows.close();
  });

  it('go into another group, whose count has them at once', () => {
    const counted = (value: string, count: number): CountedGroup => ({ values: [value], count, filter: { field: 'kind', op: 'eq', value }, figures: [] });
    let levels: readonly (readonly CountedGroup[])[] = [[counted('a', 2), counted('b', 2)]];
    const layout = (some: typeof levels) => layoutOfGroups(some, ['kind'], new Set());
    const rows = store(layout(levels));
    rows.seed({ key: '/a', filter: null, count: 2 }, [1, 2].map(row));
    rows.seed({ key: '/b', filter: null, count: 2 }, [3, 4].map(row));
    showPlaced({ rows, levels: () => levels, layout, recount: (now) => (levels = now), fixed: 'added' }, { nums: [1], anchor: { before: 4 } });
    expect(shownIn(rows)).toEqual(['a', 2, 'b', 3, 1, 4]);
    expect(levels[0]?.map(({ count }) => count)).toEqual([1, 3]);
    rows.close();
  });

  it('stay if the anchor is not known', () => {
    const layout = Layout.ofOneRun(null, 3);
    const rows = store(layout);
    rows.seed({ key: '', filter: null, count: 3 }, [1, 2, 3].map(row));
    showPlaced({ rows, levels: () => [], layout: () => layout, recount: () => undefined, fixed: 'added' }, { nums: [1], anchor: { after: null } });
    expect(shownIn(rows)).toEqual([1, 2, 3]);
    rows.close();
  });

  it('count for the groups around theirs', () => {
    const counted = (values: readonly string[], count: number): CountedGroup => ({ values, count, filter: null, figures: [] });
    const levels = [[counted(['a'], 3), counted(['ab'], 1)], [counted(['a', 'x'], 3), counted(['ab', 'x'], 1)]];
    expect(recounted(levels, new Map([['a/x', -1], ['ab/x', 1]])).map((level) => level.map(({ count }) => count))).toEqual([[2, 2], [2, 2]]);
  });
});

describe('placements by the feed', () => {
  const event = { kind: 'update', num: 1, version: 2, fields: {}, at: '2024-01-01T00:00:00Z', by: 'bob' } as unknown as ChangeEvent;

  it('raise the version and nothing else', () => {
    expect(isPlacement(event)).toBe(true);
    expect(applied({ ...row(1), key: 'k' }, event)).toEqual({ ...row(1), key: 'k', version: 2 });
  });

  it('move rows only in a manual order', () => {
    const dependence = { places: new Set(['updated']), figures: new Set(['updated']) };
    expect(effectOf(event, dependence)).toEqual({ places: false, figures: false });
    expect(effectOf(event, { ...dependence, manual: true })).toEqual({ places: true, figures: false });
  });

  it('come with the keys of their rows', () => {
    expect(rowOf({ num: 1, version: 1, key: 'K', fields: {} })).toMatchObject({ num: 1, version: 1, key: 'K', values: { num: 1 } });
  });
});

describe('the editor', () => {
  const placed = (answers: readonly Response[]) => {
    const shown: unknown[] = [];
    let restored = 0;
    const rows = new Map([[1, row(1)]]);
    const held: HeldRows = {
      held: (num) => rows.get(num),
      replace: (num, change) => {
        const before = rows.get(num);
        if (before) rows.set(num, change(before));
      },
      place: ({ forth }) => {
        shown.push(forth);
        return () => (restored += 1);
      },
    };
    const requests: unknown[] = [];
    const left = [...answers];
    const api = new Api({ sign: () => Promise.resolve(), expired: () => undefined }, (_, request) => {
      requests.push(JSON.parse(request?.body as string));
      return Promise.resolve(left.shift() ?? json({}, 500));
    });
    const editor = new Editor(api, 'demo', [], held, () => undefined, new WriteQueue());
    return { editor, rows, shown, requests, restored: () => restored };
  };
  const places = { view: 'v1', forth: [{ nums: [1], anchor: { after: 5 } }], back: [{ nums: [1], anchor: { before: 2 } }] };
  const answer = (version: number) => json({ items: [{ num: 1, key: `k${version}`, version }] });

  it('shows and writes placements, and undo places back', async () => {
    const { editor, rows, shown, requests } = placed([answer(2), answer(3)]);
    const { problems } = await editor.apply({ places });
    expect(problems).toEqual([]);
    expect(rows.get(1)).toMatchObject({ key: 'k2', version: 2 });
    expect(editor.placing.peek()).toBe(0);
    await editor.undo();
    expect(rows.get(1)).toMatchObject({ key: 'k3', version: 3 });
    expect(shown).toEqual([places.forth, places.back]);
    expect(requests).toEqual([
      { nums: [1], after: 5 },
      { nums: [1], before: 2 },
    ]);
    expect(editor.history.peek().undone).toEqual([{ ...NO_CHANGE, places }]);
  });

  it('shows rows where they were after a refusal, and has no step', async () => {
    const refused = json({ type: 'anchor-gone', title: 'Anchor gone', status: 409 }, 409);
    const { editor, restored } = placed([refused]);
    const { problems } = await editor.apply({ places });
    expect(problems).toMatchObject([{ type: 'anchor-gone' }]);
    expect(restored()).toBe(1);
    expect(editor.history.peek().done).toEqual([]);
  });
});

describe('a card that is carried in a column', () => {
  it('goes to the nearest gap', () => {
    const column = { count: 3, pitch: 100 };
    expect([-20, 40, 60, 260, 900].map((y) => placeAt(column, y, 0, 300))).toEqual([0, 0, 1, 3, 3]);
  });

  it('passes its own place by keys', () => {
    // Three cards, of which it is the second.
    expect(gapBeyond(1, 1, 1, 3)).toBe(3);
    expect(gapBeyond(3, -1, 1, 3)).toBe(1);
    expect(gapBeyond(1, -1, 1, 3)).toBe(0);
    expect(gapBeyond(0, -1, 1, 3)).toBeNull();
    expect(gapBeyond(0, 1, 1, 3)).toBe(1);
    // In another column.
    expect(gapBeyond(-1, 1, null, 2)).toBe(0);
    expect(gapBeyond(2, 1, null, 2)).toBeNull();
  });

  it('by one, with the cards that move along, beside the loaded card one further', () => {
    const numAt = (place: number) => [11, 12, 13, 14, null][place] ?? null;
    expect(anchorBeyond([1], -1, numAt)).toEqual({ before: 11 });
    expect(anchorBeyond([1], 1, numAt)).toEqual({ after: 13 });
    expect(anchorBeyond([2, 1], 1, numAt)).toEqual({ after: 14 });
    expect(anchorBeyond([0, 2], -1, numAt)).toBeNull();
    expect(anchorBeyond([3], 1, numAt)).toBeNull();
  });
});
