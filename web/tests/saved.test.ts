import { describe, expect, it } from 'vitest';
import type { SavedView } from '../src/api/types';
import { fromAddress } from '../src/view/address';
import { addressOf, linkTo, lookOf, openedAt, placeBefore, viewOf, withoutView, withView } from '../src/view/saved';
import { DEFAULT_VIEW, type View } from '../src/view/view';
import { saved } from './views';

const FULL = saved('v2', {
  query: { sort: [{ field: 'due', direction: 'desc', nulls: 'last' }], filter: { field: 'state', op: 'eq', value: 'open' } },
  columns: [
    { field: 'name', width: 240, frozen: true },
    { field: 'due', width: 120, frozen: false },
  ],
  groups: [{ field: 'due', unit: 'month', timezone: null, bins: null, width: null }],
  group_order: { field: 'cost', function: 'sum', direction: 'desc' },
  footers: [{ field: 'cost', function: 'sum' }],
  color_by: 'priority',
  rules: [{ filter: { field: 'due', op: 'lt', value: { today: 0, timezone: 'UTC' } }, color: 'red', field: 'due' }],
  row_height: 56,
  kind: 'board',
  board: { by: 'state', columns: [{ value: 'open', hidden: false, limit: 5 }], card: ['due'], aggregate: { field: 'cost', function: 'sum' } },
});
const ALL: readonly SavedView[] = [saved('v1'), FULL];

describe('a saved view', () => {
  it('looks as the API defines it, within the limits of the page', () => {
    expect(viewOf(FULL)).toEqual({
      sort: FULL.query.sort,
      manual: null,
      filter: FULL.query.filter,
      search: '',
      groups: [{ field: 'due', unit: 'month' }],
      groupOrder: { field: 'cost', fn: 'sum', direction: 'desc' },
      closed: [],
      columns: FULL.columns,
      footers: { cost: 'sum' },
      color: 'priority',
      rules: FULL.rules,
      height: 56,
      kind: 'board',
      board: FULL.board,
    });
    const odd = saved('v3', { columns: [{ field: 'name', width: 20, frozen: false }], row_height: 41 });
    expect(viewOf(odd)).toMatchObject({ columns: [{ width: 56 }], height: 32 });
    expect(viewOf(saved('v3', { columns: [], row_height: 200 }))).toMatchObject({ columns: null, height: 56 });
  });

  it('contains the view on the screen, with the search as a condition', () => {
    const look = lookOf(viewOf(FULL), 10, []);
    expect(look).toEqual({
      query: FULL.query,
      columns: FULL.columns,
      groups: FULL.groups,
      group_order: FULL.group_order,
      footers: FULL.footers,
      color_by: 'priority',
      rules: FULL.rules,
      row_height: 56,
      kind: 'board',
      board: FULL.board,
    });
    const searched = lookOf({ ...viewOf(FULL), search: 'paint', closed: ['2023-05'] }, 10, []);
    expect(searched.query.filter).toEqual({ and: [FULL.query.filter, { field: 'name', op: 'contains', value: 'paint' }] });
    expect(searched).not.toHaveProperty('closed');
    expect(lookOf(DEFAULT_VIEW, 0, [])).toMatchObject({ query: { sort: [], filter: null }, columns: null, footers: [] });
  });
});

describe('the time zone of a group', () => {
  const groups: SavedView['groups'] = [
    { field: 'seen', unit: 'day', timezone: 'Etc/GMT+5', bins: null, width: null },
    { field: 'due', unit: 'month', timezone: null, bins: null, width: null },
  ];
  const zoned = saved('v4', { groups });

  it('is saved unchanged', () => {
    expect(lookOf(viewOf(zoned), 10, []).groups).toEqual(groups);
  });

  it('is in the address of an edited view', () => {
    const changed = { ...viewOf(zoned), height: 24 } as const;
    expect(openedAt(addressOf(changed, zoned, [zoned]), [zoned])).toMatchObject({ view: { groups: changed.groups }, changed: true });
    const elsewhere = { ...viewOf(zoned), groups: [{ field: 'seen', unit: 'day' }, { field: 'due', unit: 'month' }] } as const;
    expect(openedAt(addressOf(elsewhere, zoned, [zoned]), [zoned]).changed).toBe(true);
  });
});

describe('ranges of numbers', () => {
  const wide = { field: 'cost', unit: null, timezone: null, bins: null, width: 50 };
  const bounded = { field: 'size', unit: null, timezone: null, bins: [0, 0.5, 1000], width: null };
  const ranged = saved('v5', { groups: [wide, bounded], group_order: { field: null, function: 'count', direction: 'desc' } });

  it('are saved unchanged, and so is the order of the groups', () => {
    expect(viewOf(ranged)).toMatchObject({
      groups: [
        { field: 'cost', width: '50' },
        { field: 'size', bins: ['0', '0.5', '1000'] },
      ],
      groupOrder: { field: null, fn: 'count', direction: 'desc' },
    });
    expect(lookOf(viewOf(ranged), 10, [])).toMatchObject({ groups: ranged.groups, group_order: ranged.group_order });
  });

  it('are in the address of an edited view', () => {
    const changed = { ...viewOf(ranged), height: 24 } as const;
    expect(openedAt(addressOf(changed, ranged, [ranged]), [ranged])).toMatchObject({ view: changed, changed: true });
    const elsewhere = { ...viewOf(ranged), groupOrder: null };
    expect(openedAt(addressOf(elsewhere, ranged, [ranged]), [ranged]).changed).toBe(true);
  });
});

describe('an address', () => {
  it('names a view, which is shown as saved', () => {
    const opened = openedAt('view=v2&search=paint&closed=2023-05', ALL);
    expect(opened).toMatchObject({ base: FULL, changed: false, missing: false });
    expect(opened.view).toEqual({ ...viewOf(FULL), search: 'paint', closed: ['2023-05'] });
  });

  it('of an edited view has all parts of the view, and its base', () => {
    const view: View = { ...viewOf(FULL), sort: [], filter: null, columns: null };
    const address = addressOf(view, FULL, ALL);
    expect(address).toMatch(/^view=v2&edited=1&/);
    expect(openedAt(address, ALL)).toEqual({ view, base: FULL, changed: true, missing: false });
    expect(openedAt(addressOf(DEFAULT_VIEW, FULL, ALL), ALL)).toMatchObject({ view: DEFAULT_VIEW, base: FULL, changed: true });
  });

  it('of an edited view has its rules, and theirs may differ', () => {
    const view: View = { ...viewOf(FULL), rules: [] };
    expect(openedAt(addressOf(view, FULL, ALL), ALL)).toMatchObject({ view: { rules: [] }, changed: true });
    expect(openedAt(addressOf({ ...viewOf(FULL), height: 24 }, FULL, ALL), ALL).view.rules).toEqual(FULL.rules);
  });

  it('is again that of the view when the change is taken back', () => {
    expect(addressOf({ ...viewOf(FULL), search: 'a b', closed: ['x'] }, FULL, ALL)).toBe('view=v2&search=a+b&closed=x');
    expect(openedAt('view=v1&edited=1', ALL)).toMatchObject({ base: ALL[0], changed: false });
  });

  it('without a view id has all parts of its own view', () => {
    expect(openedAt('sort=-due', ALL)).toEqual({ view: fromAddress('sort=-due'), base: null, changed: false, missing: false });
    expect(openedAt('', ALL)).toEqual({ view: DEFAULT_VIEW, base: null, changed: false, missing: false });
    expect(addressOf(DEFAULT_VIEW, null, ALL)).toBe('');
    expect(addressOf({ ...DEFAULT_VIEW, color: 'priority' }, null, ALL)).toBe('color=priority');
  });

  it('that is empty opens the default, and all issues then have another address', () => {
    const first = saved('v9', { visibility: 'default', color_by: 'priority' });
    const views = [...ALL, first];
    expect(openedAt('', views)).toMatchObject({ base: first, changed: false });
    expect(openedAt('search=x', views)).toMatchObject({ base: first, view: { color: 'priority', search: 'x' } });
    expect(openedAt('sort=-due', views).base).toBeNull();
    expect(openedAt('view=all&search=x', views)).toMatchObject({ base: null, missing: false, view: { color: null, search: 'x' } });
    expect(linkTo(null, views)).toBe('view=all');
    expect(linkTo(null, ALL)).toBe('');
    expect(linkTo(first, views)).toBe('view=v9');
  });

  it('of a missing view is reported, and its other parts are shown', () => {
    expect(openedAt('view=v77&sort=-due', ALL)).toMatchObject({ base: null, missing: true, view: { sort: [{ field: 'due' }] } });
  });
});

describe('the order of views', () => {
  const some = [
    saved('v3', { place: 0 }),
    saved('v1', { place: 1, visibility: 'default' }),
    saved('v4', { place: 2 }),
    saved('v2', { place: 0, visibility: 'private' }),
    saved('v5', { place: 1, visibility: 'private' }),
  ];
  const shown = (views: readonly SavedView[]) => views.map(({ id, place }) => `${id} ${place}`);

  it('has a changed view in its new place, and the others around it', () => {
    expect(shown(withView(some, saved('v4', { place: 0 })))).toEqual(['v4 0', 'v3 1', 'v1 2', 'v2 0', 'v5 1']);
    expect(shown(withView(some, saved('v2', { place: 1, visibility: 'private' })))).toEqual(['v3 0', 'v1 1', 'v4 2', 'v5 0', 'v2 1']);
    expect(shown(withView(some, saved('v3', { place: 2, visibility: 'private' })))).toEqual(['v1 0', 'v4 1', 'v2 0', 'v5 1', 'v3 2']);
    expect(shown(withView(some, saved('v6', { place: 3 })))).toEqual(['v3 0', 'v1 1', 'v4 2', 'v6 3', 'v2 0', 'v5 1']);
  });

  it('closes where a view was deleted', () => {
    expect(shown(withoutView(some, 'v1'))).toEqual(['v3 0', 'v4 1', 'v2 0', 'v5 1']);
  });

  it('has a place before each view of a kind, and one behind all', () => {
    const first = saved('v3', { place: 0 });
    expect(['v3', 'v1', 'v4', null, 'v2'].map((before) => placeBefore(some, first, before))).toEqual([2, 0, 1, 2, 2]);
    expect(placeBefore(some, saved('v5', { visibility: 'private' }), 'v2')).toBe(0);
  });
});
