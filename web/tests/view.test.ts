import { describe, expect, it } from 'vitest';
import { fromAddress, toAddress } from '../src/view/address';
import { defaultColumns, fittingWidth, frozen, hidden, moved, resized, shown } from '../src/view/columns';
import { DEFAULT_VIEW, fitting, sortedBy, type View } from '../src/view/view';
import { field } from './fields';

const FIELDS = [field('num', 'number'), field('name'), field('due', 'date'), field('priority', 'enum'), field('cost', 'number')];

const FULL: View = {
  manual: null,
  sort: [
    { field: 'due', direction: 'desc', nulls: 'last' },
    { field: 'name', direction: 'asc', nulls: 'first' },
  ],
  filter: { and: [{ field: 'name', op: 'contains', value: 'a,b&c=d:é' }] },
  search: 'girder, 3',
  groups: [
    { field: 'priority', unit: null },
    { field: 'due', unit: 'month' },
    { field: 'cost', unit: null, width: '0.5' },
  ],
  groupOrder: { field: 'cost', fn: 'sum', direction: 'desc' },
  closed: ['High', 'a,b%'],
  columns: [
    { field: 'name', width: 240, frozen: true },
    { field: 'due', width: 120, frozen: false },
  ],
  footers: { cost: 'sum' },
  color: 'priority',
  rules: [
    { filter: { field: 'cost', op: 'gt', value: 5 }, color: 'red', field: null },
    { filter: { or: [{ field: 'name', op: 'eq', value: 'a,b&c=d:é!' }, { field: 'due', op: 'lt', value: { today: 0, timezone: 'UTC' } }] }, color: 'teal', field: 'due' },
  ],
  height: 56,
  kind: 'board',
  board: {
    by: 'priority',
    columns: [
      { value: 'a,b&c', hidden: false, limit: 5 },
      { value: null, hidden: true, limit: null },
    ],
    card: ['due'],
    aggregate: { field: 'cost', function: 'sum' },
  },
};

describe('a view in the address', () => {
  it('survives a round trip', () => {
    expect(fromAddress(toAddress(FULL))).toEqual(FULL);
    expect(toAddress(DEFAULT_VIEW)).toBe('');
    expect(fromAddress('')).toEqual(DEFAULT_VIEW);
  });

  it('is readable', () => {
    expect(toAddress({ ...DEFAULT_VIEW, sort: FULL.sort, columns: FULL.columns })).toBe(
      'sort=-due,name.first&columns=name:240!,due:120',
    );
    expect(toAddress({ ...DEFAULT_VIEW, groups: FULL.groups, groupOrder: FULL.groupOrder })).toBe(
      'group=priority,due.month,cost.w0.5&grouporder=-sum.cost',
    );
  });

  it('has ranges with all their digits, and each order of groups', () => {
    const width = '12345678901234567890.000000000000000001';
    const ranges: View['groups'] = [
      { field: 'cost', unit: null, width },
      { field: 'w5', unit: null, bins: ['-1.5', '0', '1e+21'] },
    ];
    const orders: View['groupOrder'][] = [
      { field: null, fn: 'count', direction: 'asc' },
      { field: 'cost', fn: 'count', direction: 'desc' },
      { field: 'cost', fn: 'avg', direction: 'asc' },
    ];
    for (const groupOrder of orders) {
      const view: View = { ...DEFAULT_VIEW, groups: ranges, groupOrder };
      expect(fromAddress(toAddress(view))).toEqual(view);
    }
    expect(orders.map((groupOrder) => toAddress({ ...DEFAULT_VIEW, groupOrder }))).toEqual([
      'grouporder=count',
      'grouporder=-count.cost',
      'grouporder=avg.cost',
    ]);
  });

  it('has no width that is not above 0, and no order that the API refuses', () => {
    for (const group of ['cost.w0', 'cost.w-5', 'cost.w1_2', 'cost.w', 'cost.w1e999', 'cost.b', 'cost.b1__2', 'cost.wx', 'cost.w05']) {
      expect(fromAddress(`group=${group}`).groups, group).toEqual([]);
    }
    for (const order of ['sum', 'median.cost', 'distinct.cost', 'mode.cost', '-', 'sum.']) {
      expect(fromAddress(`grouporder=${order}`).groupOrder, order).toBeNull();
    }
  });

  it('leaves out parts that no view can have', () => {
    const view = fromAddress('sort=-,;,due,name,num,cost&columns=x,name:9!,due:99999&height=33&filter={&group=due.week&footers=a:B');
    expect(view).toEqual({
      ...DEFAULT_VIEW,
      sort: ['due', 'name', 'num'].map((id) => ({ field: id, direction: 'asc', nulls: 'last' })),
      columns: [{ field: 'name', width: 56, frozen: true }],
    });
  });

  it('forgets fields that the project does not have', () => {
    const fitted = fitting({ ...FULL, color: 'due' }, FIELDS.slice(0, 2));
    expect(fitted).toMatchObject({ sort: [FULL.sort[1]], groups: [], groupOrder: null, footers: {}, color: null });
    expect(fitting(FULL, FIELDS).groupOrder).toEqual(FULL.groupOrder);
    const order = (field: string | null) => fitting({ ...FULL, groupOrder: { field, fn: 'count', direction: 'asc' } }, FIELDS).groupOrder;
    expect(order('due')).toBeNull();
    expect(order(null)).not.toBeNull();
    expect(fitting(FULL, FIELDS).rules).toEqual(FULL.rules);
    expect(fitted.rules).toEqual([]);
    expect(fitted.columns?.map((column) => column.field)).toEqual(['name']);
  });
});

describe('a sort by clicks on a header', () => {
  it('goes through ascending, descending and none', () => {
    const once = sortedBy([], 'due', { add: false });
    const twice = sortedBy(once, 'due', { add: false });
    expect([once, twice].map((keys) => keys.map((key) => key.direction))).toEqual([['asc'], ['desc']]);
    expect(sortedBy(twice, 'due', { add: false })).toEqual([]);
  });

  it('adds, turns and removes a key among others, up to three', () => {
    const three = ['due', 'name', 'cost'].reduce<View['sort']>((sort, id) => sortedBy(sort, id, { add: true }), []);
    expect(three.map((key) => key.field)).toEqual(['due', 'name', 'cost']);
    expect(sortedBy(three, 'num', { add: true })).toEqual(three);
    const turned = sortedBy(three, 'name', { add: true });
    expect(turned[1]).toMatchObject({ field: 'name', direction: 'desc' });
    expect(sortedBy(turned, 'name', { add: true }).map((key) => key.field)).toEqual(['due', 'cost']);
    expect(sortedBy(three, 'name', { add: false })).toMatchObject([{ field: 'name', direction: 'desc' }]);
  });
});

describe('columns', () => {
  const columns = defaultColumns(FIELDS);
  const order = (list: typeof columns) => list.map((column) => column.field + (column.frozen ? '!' : '')).join(' ');

  it('begin with number and name, frozen', () => {
    expect(order(columns)).toBe('num! name! due priority cost');
  });

  it('leave out the writers until the user shows them, in their place', () => {
    const all = [...FIELDS.slice(0, 2), field('created_by', 'user'), field('updated_by', 'user'), ...FIELDS.slice(2)];
    expect(order(defaultColumns(all))).toBe(order(columns));
    expect(order(shown(columns, 'updated_by', all))).toBe('num! name! updated_by due priority cost');
  });

  it('freeze beside the frozen ones', () => {
    expect(order(frozen(columns, 'cost', true))).toBe('num! name! cost! due priority');
    expect(order(frozen(columns, 'num', false))).toBe('name! num due priority cost');
  });

  it('can be hidden, except the last one, and return to their place', () => {
    const without = hidden(columns, 'due');
    expect(order(without)).toBe('num! name! priority cost');
    expect(order(shown(without, 'due', FIELDS))).toBe('num! name! due priority cost');
    expect(hidden(columns.slice(0, 1), 'num')).toHaveLength(1);
  });

  it('move before another, and are frozen if their neighbor is', () => {
    expect(order(moved(columns, 'cost', 'due'))).toBe('num! name! cost due priority');
    expect(order(moved(columns, 'cost', 'name'))).toBe('num! cost! name! due priority');
    expect(order(moved(columns, 'name', null))).toBe('num! due priority cost name');
  });

  it('are frozen on at most half of the screen', () => {
    expect(order(fittingWidth(columns, 390))).toBe('num! name due priority cost');
    expect(fittingWidth(columns, 1400)).toEqual(columns);
  });

  it('have a minimum and a maximum width', () => {
    expect(resized(columns, 'due', 3)[2]?.width).toBe(56);
    expect(resized(columns, 'due', 33333)[2]?.width).toBe(1200);
  });
});
