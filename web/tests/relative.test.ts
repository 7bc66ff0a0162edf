import { describe, expect, it, vi } from 'vitest';
import { filterText, givenText } from '../src/cells/filter-text';
import type { Filter } from '../src/api/types';
import { Turning } from '../src/project/turning';
import { obstacleIn } from '../src/project/webhooks';
import { fromAddress, toAddress } from '../src/view/address';
import {
  choicesOf,
  conditionsIn,
  depthOf,
  fromFilter,
  narrowedTo,
  newCondition,
  shownIn,
  toFilter,
  withOperator,
  type ConditionDraft,
  type Given,
  type Operator,
} from '../src/view/filters';
import { isPeriod, isSame, periodIn, relativeIn, untilTurn } from '../src/view/relative';
import { lookOf, viewOf } from '../src/view/saved';
import { withSearch } from '../src/view/text-search';
import { DEFAULT_VIEW } from '../src/view/view';
import { field } from './fields';
import { saved } from './views';

const LONDON = 'Europe/London';
const DUE = field('due', 'date');
const SEEN = field('seen', 'datetime');
const OWNER = field('owner', 'user');
const FIELDS = [field('name'), DUE, SEEN, OWNER, field('state', 'enum', ['open', 'closed'])];

/** A condition whose values need not be in the API's types yet. */
const is = (id: string, op: Operator, value: unknown): Filter => ({ field: id, op, value }) as Filter;
const OVERDUE = is('due', 'lt', { today: 0, timezone: LONDON });
const MINE = is('owner', 'eq', { me: true });
const WEEK: Filter = {
  and: [
    is('due', 'gte', { today: 0, unit: 'week', start: true, timezone: LONDON }),
    is('due', 'lt', { today: 1, unit: 'week', start: true, timezone: LONDON }),
  ],
};
const again = (filter: Filter) => toFilter(fromFilter(filter, FIELDS), FIELDS);
const draft = (id: string, op: Operator, ...values: Given[]): ConditionDraft => ({ kind: 'condition', field: id, op, values });

describe('a relative value', () => {
  it.each([
    [{ today: 0 }],
    [{ today: -9, unit: 'quarter', start: true, timezone: LONDON }],
    [{ now: -3600 }],
    [{ me: true }],
  ])('is known: %j', (value) => {
    expect(relativeIn(value)).toEqual(value);
  });

  it.each([
    [null],
    ['today'],
    [{}],
    [{ today: 1.5 }],
    [{ today: '1' }],
    [{ today: 0, unit: 'hour' }],
    [{ today: 0, start: 1 }],
    [{ today: 0, zone: 'UTC' }],
    [{ now: 0, today: 0 }],
    [{ me: false }],
    [{ me: true, now: 0 }],
  ])('is not %j', (value) => {
    expect(relativeIn(value)).toBeNull();
  });

  it('is the same in another spelling, and another in another zone', () => {
    expect(isSame({ today: 0 }, { today: 0, unit: 'day', start: true, timezone: 'UTC' })).toBe(true);
    expect(isSame({ today: 0, unit: 'month' }, { today: 0 })).toBe(true);
    expect(isSame({ today: 0, unit: 'month', start: true }, { today: 0 })).toBe(false);
    expect(isSame({ today: 0 }, { today: 0, timezone: LONDON })).toBe(false);
    expect(isSame({ today: 1 }, { now: 1 })).toBe(false);
  });
});

describe('the pickers', () => {
  const texts = (type: 'date' | 'datetime' | 'user', op: Operator) =>
    choicesOf(type, op, LONDON).map(({ given, op: other }) => (other ? `${other} ` : '') + givenText(given, type, op, LONDON));

  it('offer days, periods and “overdue” for dates and for points in time', () => {
    const all = [
      'today',
      'yesterday',
      'tomorrow',
      'in the last 7 days',
      'in the next 7 days',
      'this week',
      'this month',
      'this quarter',
      'lt today',
    ];
    expect(texts('date', 'eq')).toEqual(all);
    expect(texts('datetime', 'eq').slice(0, -1)).toEqual(all.slice(0, -1));
    expect(texts('date', 'between')).toEqual(texts('datetime', 'gte'));
    expect(texts('datetime', 'gte')).toEqual([
      'today',
      'yesterday',
      'tomorrow',
      '7 days ago',
      'in 7 days',
      'the start of this week',
      'the start of this month',
      'the start of this quarter',
    ]);
    expect(texts('date', 'ne')).toEqual(all.slice(0, 3));
  });

  it('offer no single instant where a whole day is meant', () => {
    for (const op of ['lte', 'gt', 'between', 'ne'] as const) expect(texts('datetime', op)).toEqual([]);
  });

  it('offer “me” for users', () => {
    expect(texts('user', 'eq')).toEqual(['me']);
    expect(texts('user', 'not_in')).toEqual(['me']);
    expect(texts('user', 'is_empty')).toEqual([]);
    expect(choicesOf('text', 'eq', LONDON)).toEqual([]);
  });

  it('make the filters that the API resolves', () => {
    const filterOf = (type: 'date' | 'datetime', name: string) => {
      const found = choicesOf(type, 'eq', LONDON).find(({ given, op }) => givenText(given, type, 'eq', LONDON) === name && !op);
      return found ? toFilter(draft(type === 'date' ? 'due' : 'seen', 'eq', found.given), FIELDS) : null;
    };
    expect(filterOf('date', 'this week')).toEqual(WEEK);
    expect(filterOf('date', 'today')).toEqual(is('due', 'eq', { today: 0, timezone: LONDON }));
    expect(filterOf('datetime', 'today')).toEqual({ and: [is('seen', 'gte', { today: 0, timezone: LONDON }), is('seen', 'lt', { today: 1, timezone: LONDON })] });
    expect(filterOf('date', 'in the last 7 days')).toEqual({ and: [is('due', 'gte', { today: -6, timezone: LONDON }), is('due', 'lt', { today: 1, timezone: LONDON })] });
    expect(filterOf('date', 'in the next 7 days')).toEqual({ and: [is('due', 'gte', { today: 0, timezone: LONDON }), is('due', 'lt', { today: 7, timezone: LONDON })] });
    const overdue = choicesOf('date', 'eq', LONDON).at(-1);
    expect(toFilter(draft('due', overdue?.op ?? 'eq', overdue?.given ?? ''), FIELDS)).toEqual(OVERDUE);
  });
});

describe('drafts', () => {
  it.each<[string, Filter]>([
    ['a day', OVERDUE],
    ['a period', WEEK],
    ['a period among others', { and: [MINE, WEEK, is('state', 'ne', 'closed')] }],
    ['a denied period', { not: WEEK }],
    ['a period in another spelling', { and: [is('seen', 'gte', { today: 0, unit: 'day', start: false }), is('seen', 'lt', { today: 1 })] }],
    ['days between', is('due', 'between', [{ today: -3 }, '2030-01-01'])],
    ['users and the reader', is('owner', 'in', ['bob', { me: true }])],
    ['the moment', is('seen', 'gte', { now: -3600 })],
    ['a list with days', is('due', 'in', [{ today: 0 }, '2030-01-01'])],
    ['a value that the API refuses', is('due', 'eq', { me: true })],
    ['an unknown object', is('name', 'eq', { soon: 1 })],
    ['two conditions that are no period', { and: [is('due', 'gte', { today: 0 }), is('due', 'lt', { today: 5 })] }],
  ])('survive a round trip: %s', (_, filter) => {
    expect(again(filter)).toEqual(filter);
  });

  it('show a period as one condition, which counts as two of the API and takes a level', () => {
    const parts = fromFilter({ and: [MINE, WEEK] }, FIELDS);
    expect(parts.parts).toMatchObject([{ op: 'eq', values: [{ me: true }] }, { op: 'eq', values: [{ period: 'week' }] }]);
    expect([shownIn(parts), conditionsIn(toFilter(parts, FIELDS)), depthOf(parts)]).toEqual([2, 3, 2]);
  });

  it('keep what they have no inputs for', () => {
    for (const filter of [is('due', 'in', [{ today: 0 }]), is('due', 'eq', { me: true }), is('name', 'eq', { soon: 1 })]) {
      expect(fromFilter(filter, FIELDS).parts).toEqual([{ kind: 'fixed', filter }]);
    }
  });

  it('keep a value under another operator if that has it', () => {
    const today = { today: 0, timezone: LONDON };
    const changed = (id: typeof DUE, from: Operator, to: Operator, ...values: Given[]) => withOperator(draft(id.id, from, ...values), to, id, LONDON).values;
    expect(changed(DUE, 'eq', 'lt', today)).toEqual([today]);
    expect(changed(SEEN, 'gte', 'lte', today)).toEqual(['']);
    expect(changed(DUE, 'eq', 'lt', periodIn('week', LONDON))).toEqual(['']);
    expect(changed(DUE, 'between', 'eq', '2030-01-01', today)).toEqual(['2030-01-01', today]);
    expect(changed(OWNER, 'eq', 'in', { me: true })).toEqual([{ me: true }]);
    expect(changed(OWNER, 'in', 'starts_with', { me: true })).toEqual(['']);
    expect(toFilter(withOperator(draft('due', 'eq', periodIn('week', LONDON)), 'is_empty', DUE, LONDON), FIELDS)).toEqual(is('due', 'is_empty', undefined));
  });

  it('begin without one', () => {
    expect(newCondition(DUE).values.some(isPeriod)).toBe(false);
  });
});

describe('addresses and saved views', () => {
  it.each([OVERDUE, WEEK, { and: [OVERDUE, MINE] }])('keep them unresolved', (filter) => {
    const view = { ...DEFAULT_VIEW, filter };
    expect(fromAddress(toAddress(view)).filter).toEqual(filter);
    const { query } = lookOf(view, 5, []);
    expect(query).toEqual({ sort: [], filter });
    expect(viewOf(saved('v1', { query: { sort: [], filter } })).filter).toEqual(filter);
  });

  it('add the search beside a period', () => {
    const search = is('name', 'contains', 'pier');
    expect(withSearch(WEEK, 'pier', 5, [])).toEqual({ and: [WEEK, search] });
    expect(withSearch({ and: [OVERDUE, MINE] }, 'pier', 5, [])).toEqual({ and: [OVERDUE, MINE, search] });
  });
});

describe('a filter narrowed to a group', () => {
  const day = (from: string, to: string) => is('due', 'between', [from, to]);
  const OCTOBER = day('2030-10-01', '2030-10-31');
  const resolved = is('due', 'lt', '2030-11-26');
  const ann = is('owner', 'eq', 'ann');

  it.each<[string, Filter | null, Filter, Filter]>([
    ['none', null, OCTOBER, OCTOBER],
    ['none, and a range', null, { and: [is('n', 'gte', 1), is('n', 'lt', 2)] }, { and: [is('n', 'gte', 1), is('n', 'lt', 2)] }],
    ['one condition', OVERDUE, { and: [resolved, OCTOBER] }, { and: [OVERDUE, OCTOBER] }],
    ['several', { and: [OVERDUE, MINE] }, { and: [resolved, ann, OCTOBER] }, { and: [OVERDUE, MINE, OCTOBER] }],
    ['a period', WEEK, { and: [is('due', 'gte', '2030-10-07'), is('due', 'lt', '2030-10-14'), ann] }, { and: [WEEK, ann] }],
    ['other joins', { not: MINE }, { and: [{ not: ann }, OCTOBER] }, { and: [{ not: MINE }, OCTOBER] }],
  ])('keeps its own part unresolved: %s', (_, own, group, narrowed) => {
    expect(narrowedTo(own, group)).toEqual(narrowed);
  });

  it('is that of the group if it has no part of its own', () => {
    expect(narrowedTo(OVERDUE, resolved)).toEqual(resolved);
  });
});

describe('the text of a filter', () => {
  it.each<[Filter, string]>([
    [OVERDUE, 'due comes before today'],
    [MINE, 'owner is me'],
    [WEEK, 'due is this week'],
    [{ and: [OVERDUE, MINE, is('state', 'not_in', ['closed'])] }, 'due comes before today and owner is me and state is none of closed'],
    [{ or: [MINE, { and: [WEEK, MINE] }] }, 'owner is me or (due is this week and owner is me)'],
    [{ not: WEEK }, 'not (due is this week)'],
    [is('due', 'between', [{ today: -7, timezone: LONDON }, { today: 1, unit: 'month', timezone: LONDON }]), 'due is between 7 days ago and in 1 month'],
    [is('due', 'eq', { today: -3, unit: 'week', start: true, timezone: LONDON }), 'due is the start of the week 3 weeks ago'],
    [is('due', 'eq', { today: -1, unit: 'month', start: true, timezone: LONDON }), 'due is the start of last month'],
    [is('due', 'eq', '2030-05-01'), 'due is May 1, 2030'],
    [is('seen', 'lte', { today: 0, timezone: LONDON }), 'seen comes before or is the start of today'],
    [is('seen', 'gte', { now: -3600 }), 'seen comes after or is 1 hr ago'],
    [is('due', 'lt', { today: 0, timezone: 'Asia/Tokyo' }), 'due comes before today (Asia/Tokyo)'],
    [is('due', 'lt', { today: 0 }), 'due comes before today (UTC)'],
    [is('name', 'contains', 'pier'), 'name contains “pier”'],
    [is('gone', 'eq', 'x'), 'gone is “x”'],
    [is('owner', 'in', ['a', 'b', 'c', 'd', 'e', 'f', { me: true }]), 'owner is one of a, b, c, d, e and 2 more'],
    [is('due', 'is_empty', undefined), 'due is empty'],
    [is('num', 'gt', 1200), 'num comes after 1,200'],
    [is('due', 'eq', { soon: 1 }), 'due is {"soon":1}'],
  ])('%j', (filter, text) => {
    expect(filterText(filter, FIELDS, LONDON)).toBe(text);
  });
});

describe('the meaning of a filter', () => {
  const HOUR = 3_600_000;
  const at = (text: string) => Date.parse(text);

  it.each([
    [{ today: 0 }, '2030-05-01T22:30:00Z', 1.5 * HOUR],
    [{ today: 0, timezone: LONDON }, '2030-05-01T22:30:00Z', 0.5 * HOUR],
    // Clocks go forward and back.
    [{ today: 0, timezone: LONDON }, '2030-03-31T00:00:00Z', 23 * HOUR],
    [{ today: 0, timezone: LONDON }, '2030-10-26T23:00:00Z', 25 * HOUR],
    [{ today: 0, unit: 'quarter', start: true, timezone: 'Asia/Kathmandu' }, '2030-05-01T18:14:59Z', 1000],
    [{ now: 60 }, '2030-05-01T18:14:59Z', 60_000],
  ])('of %j changes after %s', (value, now, left) => {
    expect(untilTurn(is('seen', 'lt', value), at(now))).toBe(left);
  });

  it('changes at the first of several turns, and never without the clock', () => {
    const filter: Filter = { and: [MINE, { not: OVERDUE }, { or: [is('due', 'in', [{ today: 0, timezone: 'Asia/Tokyo' }, '2030-01-01'])] }] };
    expect(untilTurn(filter, at('2030-05-01T12:00:00Z'))).toBe(3 * HOUR);
    expect(untilTurn({ and: [MINE, is('due', 'eq', '2030-01-01')] }, 0)).toBeNull();
    expect(untilTurn(is('due', 'lt', { today: 0, timezone: 'Mars/Olympus' }), 0)).toBeNull();
    expect(untilTurn(null, 0)).toBeNull();
  });

  it('is asked for again after each midnight, until the filter is another', () => {
    vi.useFakeTimers({ now: at('2030-05-01T12:00:00Z') });
    const turned = vi.fn();
    const turning = new Turning(turned, () => 0.5);
    turning.watch(OVERDUE);
    vi.setSystemTime(at('2030-05-01T12:00:00Z'));
    vi.advanceTimersByTime(11 * HOUR + 5_999);
    expect(turned).toHaveBeenCalledTimes(0);
    vi.advanceTimersByTime(1);
    expect(turned).toHaveBeenCalledTimes(1);
    // The clock may be ahead of the API's by some minutes. Another filter with the same day does not change that.
    vi.advanceTimersByTime(60_000);
    turning.watch({ and: [OVERDUE, MINE] });
    vi.advanceTimersByTime(300_000);
    expect(turned).toHaveBeenCalledTimes(2);
    vi.advanceTimersByTime(HOUR);
    expect(turned).toHaveBeenCalledTimes(3);
    vi.advanceTimersByTime(22 * HOUR);
    expect(turned).toHaveBeenCalledTimes(3);
    vi.advanceTimersByTime(54 * 60_000);
    expect(turned).toHaveBeenCalledTimes(4);
    turning.watch(MINE);
    vi.advanceTimersByTime(48 * HOUR);
    turning.watch(OVERDUE);
    turning.stop();
    vi.advanceTimersByTime(48 * HOUR);
    expect(turned).toHaveBeenCalledTimes(4);
    turning.watch(is('seen', 'lt', { now: 0 }));
    vi.advanceTimersByTime(HOUR);
    // Each minute and some seconds.
    expect(turned).toHaveBeenCalledTimes(4 + 54);
    turning.stop();
    vi.useRealTimers();
  });
});

it('a webhook follows no view with “me” or the time', () => {
  expect(obstacleIn({ and: [OVERDUE, MINE] })).toBe('me');
  expect(obstacleIn({ not: is('seen', 'gte', { now: 0 }) })).toBe('now');
  expect(obstacleIn(OVERDUE)).toBeNull();
  expect(obstacleIn(null)).toBeNull();
});
