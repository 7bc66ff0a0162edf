import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError, OfflineError } from '../src/api/problem';
import type { ChangeEvent } from '../src/api/types';
import type { CellValue, Row } from '../src/fields/values';
import { Throttle } from '../src/live/throttle';
import { applied, effectOf, Recent, type FeedEvent } from '../src/live/events';
import { Feed, pauseAfter, type FeedPage } from '../src/live/feed';
import { Incoming } from '../src/live/incoming';
import { Live, type Renewal, type Shown } from '../src/project/live';
import { commonShift } from '../src/rows/moves';

const event = (num: number, version: number, fields: Readonly<Record<string, CellValue>>, more: Partial<ChangeEvent> = {}): ChangeEvent => ({
  id: `${num}.${version}`,
  num,
  version,
  kind: 'update',
  by: 'bob',
  at: `2024-05-01T00:00:0${version}Z`,
  change: null,
  fields: Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, { old: null, new: value as string }])),
  ...more,
});

const row = (num: number, values: Row['values'] = {}): Row => ({ num, version: 1, values: { num, ...values } });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the feed', () => {
  /** The answers of the API, one after the other; the last request waits. */
  function following(...answers: (FeedPage | Error)[]) {
    const asked: [string | null, number][] = [];
    let hide: (hidden: boolean) => void = () => undefined;
    const feed = new Feed(
      (since, wait, signal) => {
        asked.push([since, wait]);
        const answer = answers.shift();
        if (answer instanceof Error) return Promise.reject(answer);
        if (answer) return Promise.resolve(answer);
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new DOMException('', 'AbortError'))));
      },
      { visibility: (changed) => ((hide = changed), () => undefined), random: () => 1 },
    );
    const received: unknown[] = [];
    feed.listen({
      began: (again) => received.push(again ? 'again' : 'began'),
      delivered: (events) => received.push(...events.map((one) => ('id' in one ? one.id : one.kind))),
    });
    return { feed, asked, received, answers, hide: (hidden: boolean) => hide(hidden) };
  }

  /** Starts with the current cursor, since no answer provides another. */
  function followingFromNow(...answers: (FeedPage | Error)[]) {
    const found = following(...answers);
    found.feed.continueFrom(null);
    return found;
  }

  const refusal = (status: number, kind = 'x') => new ApiError({ type: `https://x/${kind}`, title: kind, status });
  const flush = () => vi.advanceTimersByTimeAsync(0);

  it('pauses as long as an answer asks for, or until the next read', async () => {
    const { feed, asked } = following({ items: [], next: 'b', pause: 12 }, { items: [], next: 'c', pause: 12 });
    feed.continueFrom('a');
    await vi.advanceTimersByTimeAsync(11_999);
    expect(asked).toEqual([['a', 20]]);
    await vi.advanceTimersByTimeAsync(1);
    expect(asked).toEqual([['a', 20], ['b', 20]]);
    await vi.advanceTimersByTimeAsync(3000);
    feed.continueFrom('sorted');
    await flush();
    expect(asked).toEqual([['a', 20], ['b', 20], ['sorted', 20]]);
  });

  it('waits for a first cursor, and then continues with the last one', async () => {
    const { feed, asked, received } = following({ items: [event(1, 2, {})], next: 'b' }, { items: [], next: 'c' }, { items: [{ kind: 'reset' }], next: 'd' });
    await flush();
    expect(asked).toEqual([]);
    expect(feed.continueFrom('a')).toBe(false);
    await flush();
    expect(asked).toEqual([['a', 20], ['b', 20], ['c', 20], ['d', 20]]);
    expect(received).toEqual(['1.2', 'reset']);
  });

  it('requests the current cursor if no answer has one', async () => {
    const { asked, received } = followingFromNow({ items: [], next: 'a' }, { items: [event(1, 2, {})], next: 'b' }, { items: [], next: 'c' }, { items: [{ kind: 'reset' }], next: 'd' });
    await flush();
    expect(asked).toEqual([[null, 0], ['a', 20], ['b', 20], ['c', 20], ['d', 20]]);
    expect(received).toEqual(['began', '1.2', 'reset']);
  });

  it('continues from another cursor at once, and ignores the pending answer', async () => {
    const { feed, asked, received, answers } = following();
    feed.continueFrom('a');
    await flush();
    answers.push({ items: [event(1, 3, {})], next: 'c' });
    expect(feed.continueFrom('b')).toBe(true);
    await flush();
    expect(asked).toEqual([['a', 20], ['b', 20], ['c', 20]]);
    expect(received).toEqual(['1.3']);
    // The place is unknown: the feed continues from its own.
    expect(feed.continueFrom(null)).toBe(false);
    await flush();
    expect(asked).toHaveLength(3);
  });

  it('stays in place for the same cursor if nothing was delivered; otherwise it delivers again', async () => {
    const { feed, asked, received, answers } = following({ items: [], next: 'a2' });
    feed.continueFrom('a');
    await flush();
    expect(feed.continueFrom('a')).toBe(false);
    answers.push({ items: [event(1, 2, {})], next: 'b' });
    expect(feed.continueFrom('c')).toBe(true);
    await flush();
    answers.push({ items: [event(1, 2, {})], next: 'b' });
    expect(feed.continueFrom('c')).toBe(true);
    await flush();
    expect(asked.map(([since]) => since)).toEqual(['a', 'a2', 'c', 'b', 'c', 'b']);
    expect(received).toEqual(['1.2', '1.2']);
  });

  it('returns all changes after a cursor, unless they need more than one answer', async () => {
    const { feed, received, answers } = following();
    answers.push({ items: [], next: 'b' });
    expect(await feed.changesAfter('a')).toEqual([]);
    answers.push({ items: [event(1, 2, {})], next: 'b' }, { items: [], next: 'b' });
    expect(await feed.changesAfter('a')).toMatchObject([{ id: '1.2' }]);
    answers.push({ items: [event(1, 2, {})], next: 'b' }, { items: [event(1, 3, {})], next: 'c' });
    expect(await feed.changesAfter('a')).toBeNull();
    expect(received).toEqual([]);
  });

  it('waits as long as the API asks after 429', async () => {
    const tooMany = new ApiError({ type: 'https://x/too-many', title: 'x', status: 429 }, 7);
    const { feed, asked, received } = following(tooMany, { items: [event(1, 2, {})], next: 'b' });
    feed.continueFrom('a');
    await vi.advanceTimersByTimeAsync(6999);
    expect(asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(asked.map(([since]) => since)).toEqual(['a', 'a', 'b']);
    expect(received).toEqual(['1.2']);
  });

  it('repeats a failed request with the same cursor, later each time', async () => {
    const { asked, received } = followingFromNow({ items: [], next: 'a' }, new OfflineError('away'), refusal(503), { items: [event(1, 2, {})], next: 'b' });
    await flush();
    expect(asked).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(1999);
    expect(asked).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(1);
    expect(received).toEqual(['began', '1.2']);
    expect(asked.slice(1, 4).map(([since]) => since)).toEqual(['a', 'a', 'a']);
    expect([pauseAfter(1, 0), pauseAfter(3, 1), pauseAfter(40, 1)]).toEqual([0.5, 4, 30]);
  });

  it('begins again if its cursor is too old', async () => {
    const { feed, asked, received } = following(refusal(410, 'cursor-expired'), { items: [], next: 'z' });
    feed.continueFrom('a');
    await vi.advanceTimersByTimeAsync(1000);
    expect(received).toEqual(['again']);
    expect(asked.map(([since]) => since)).toEqual(['a', null, 'z']);
    const late = followingFromNow({ items: [], next: 'a' }, refusal(400), { items: [], next: 'z' });
    await vi.advanceTimersByTimeAsync(1000);
    expect(late.received).toEqual(['began', 'again']);
  });

  it('ends if the user has no access', async () => {
    const { asked, received } = followingFromNow(refusal(404));
    await vi.advanceTimersByTimeAsync(600_000);
    expect([asked.length, received]).toEqual([1, []]);
  });

  it('stops while the page is hidden for long, and then misses nothing', async () => {
    const { asked, received, answers, hide } = followingFromNow({ items: [], next: 'a' });
    await flush();
    hide(true);
    await vi.advanceTimersByTimeAsync(299_000);
    hide(false);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(asked).toHaveLength(2);
    hide(true);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(asked).toHaveLength(2);
    answers.push({ items: [event(1, 2, {})], next: 'b' });
    hide(false);
    await flush();
    expect(asked.slice(2)).toEqual([['a', 20], ['b', 20]]);
    expect(received).toEqual(['began', '1.2']);
  });
});

describe('a change', () => {
  it('is applied to a row that lacks it', () => {
    const changed = applied(row(1, { city: 'Oslo' }), event(1, 2, { city: 'Rome', cost: null }));
    expect(changed).toEqual({ num: 1, version: 2, values: { num: 1, city: 'Rome', cost: null, updated: '2024-05-01T00:00:02Z', updated_by: 'bob' } });
    expect(applied(changed, event(1, 2, { city: 'Bonn' }))).toBe(changed);
    expect(applied(changed, event(2, 5, { city: 'Bonn' }))).toBe(changed);
  });

  it('moves rows if the order, the filter or the groups depend on it', () => {
    const dependence = { places: new Set(['city']), figures: new Set(['cost']) };
    expect(effectOf(event(1, 2, { city: 'Rome' }), dependence)).toEqual({ places: true, figures: true });
    expect(effectOf(event(1, 2, { cost: null }), dependence)).toEqual({ places: false, figures: true });
    expect(effectOf(event(1, 2, { name: 'x' }), dependence)).toEqual({ places: false, figures: false });
    expect(effectOf(event(1, 2, {}, { kind: 'delete' }), dependence)).toEqual({ places: true, figures: true });
    for (const field of ['updated', 'updated_by']) {
      expect(effectOf(event(1, 2, { name: 'x' }), { places: new Set([field]), figures: new Set() }).places).toBe(true);
    }
  });

  it('is recorded once, and applied to rows that were read before it', () => {
    const recent = new Recent(2);
    expect([event(1, 2, { a: 'x' }), event(1, 3, { b: 'y' }), event(1, 3, { b: 'z' })].map((one) => recent.add(one))).toEqual([true, true, false]);
    expect(recent.caughtUp([row(1), row(2)])).toMatchObject([{ version: 3, values: { a: 'x', b: 'y' } }, { version: 1 }]);
    const late = new Recent();
    for (const version of [3, 4, 2]) {
      late.note(event(1, version, { a: `of ${version}` }));
      if (version !== 2) expect(late.caughtUp([row(1)])).toEqual([row(1)]);
    }
    expect(late.caughtUp([row(1)])).toMatchObject([{ version: 4, values: { a: 'of 4' } }]);
    recent.add(event(2, 2, { a: 'z' }));
    expect(recent.caughtUp([row(2)])).toMatchObject([{ version: 2, values: { a: 'z' } }]);
    expect(recent.add(event(1, 2, {}))).toBe(true);
  });
});

class Held {
  readonly rows = new Map<number, Row>();
  readonly busy = new Set<string>();
  readonly incoming = new Incoming(this, (num, field) => this.busy.has(`${num}/${field}`));

  held(num: number): Row | undefined {
    return this.rows.get(num);
  }

  replace(num: number, change: (row: Row) => Row): void {
    const held = this.rows.get(num);
    if (held) this.rows.set(num, change(held));
  }
}

describe('a cell that is being edited', () => {
  it('keeps its value and version until the edit ends', () => {
    const held = new Held();
    held.rows.set(1, row(1, { city: 'Oslo', cost: '1' }));
    held.busy.add('1/city');
    expect(held.incoming.take(event(1, 2, { city: 'Rome', cost: '2' }))).toBe(true);
    expect(held.incoming.take(event(1, 2, { city: 'Rome', cost: '2' }))).toBe(false);
    expect(held.incoming.take(event(1, 3, { cost: '3' }))).toBe(true);
    held.incoming.release();
    expect(held.held(1)).toMatchObject({ version: 1, values: { city: 'Oslo', cost: '3' } });
    held.busy.clear();
    held.incoming.release();
    expect(held.held(1)).toMatchObject({ version: 3, values: { city: 'Rome', cost: '3' } });
  });

  it('shows nothing older than a later read or write', () => {
    const held = new Held();
    held.rows.set(1, row(1, { city: 'Oslo' }));
    held.busy.add('1/city');
    held.incoming.take(event(1, 2, { city: 'Rome' }));
    held.rows.set(1, { num: 1, version: 3, values: { city: 'Bonn' } });
    held.busy.clear();
    held.incoming.release();
    expect(held.held(1)).toEqual({ num: 1, version: 3, values: { city: 'Bonn' } });
    expect(held.incoming.take(event(7, 2, {}))).toBe(false);
  });
});

it('a frequent request runs at once, and then at intervals', () => {
  const act = vi.fn();
  const often = new Throttle(1000, act);
  for (let times = 0; times < 5; times += 1) often.ask();
  expect(act).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1000);
  expect(act).toHaveBeenCalledTimes(2);
  vi.advanceTimersByTime(5000);
  expect(act).toHaveBeenCalledTimes(2);
  often.ask();
  often.ask();
  often.stop();
  vi.advanceTimersByTime(5000);
  expect(act).toHaveBeenCalledTimes(3);
});

it('the rows in view move by the most common shift', () => {
  const places: Record<number, number> = { 3: 4, 4: 5, 5: 90, 6: 7 };
  expect(commonShift({ first: 3, last: 7 }, (before) => places[before])).toBe(1);
  expect(commonShift({ first: Infinity, last: -Infinity }, () => 1)).toBe(0);
});

describe('an open project', () => {
  function open() {
    const held = new Held();
    held.rows.set(1, row(1, { city: 'Oslo' }));
    const state = { mayMove: true, redefined: false, renewal: 'shown' as Renewal };
    const renew = vi.fn(() => Promise.resolve(state.renewal));
    const summarize = vi.fn(() => Promise.resolve());
    const changed = vi.fn();
    const missed = vi.fn();
    const isRedefined = vi.fn(() => Promise.resolve(state.redefined));
    const shown: Shown = {
      user: 'ada',
      holders: [held],
      isBusy: (num, field) => held.busy.has(`${num}/${field}`),
      changed,
      missed,
      isOwn: (change) => change === 'own',
      dependence: () => ({ places: new Set(['city']), figures: new Set(['cost']) }),
      mayMove: () => state.mayMove,
      renew,
      summarize,
      isRedefined,
    };
    return { live: new Live(shown), held, state, renew, summarize, changed, missed, isRedefined };
  }

  it('shows values at once, and everything else at most once a second', async () => {
    const { live, held, renew, summarize } = open();
    live.delivered([event(1, 2, { name: 'x' })]);
    expect(held.held(1)?.values['name']).toBe('x');
    await vi.advanceTimersByTimeAsync(5000);
    expect([renew.mock.calls.length, summarize.mock.calls.length]).toEqual([0, 0]);
    expect(live.announcement.value).toBe('1 row changed.');
    for (let version = 3; version < 8; version += 1) live.delivered([event(1, version, { cost: '1' })]);
    await vi.advanceTimersByTimeAsync(3000);
    expect(summarize).toHaveBeenCalledTimes(2);
    live.delivered([event(1, 8, { city: 'Rome' }), event(2, 1, {}, { kind: 'create' })]);
    live.delivered([event(1, 8, { city: 'Rome' })]);
    await vi.advanceTimersByTimeAsync(5000);
    expect(renew).toHaveBeenCalledTimes(1);
    expect(live.announcement.value).toBe('2 rows changed.');
    live.stop();
  });

  it('reports changes of the trash, and possible ones if changes were left out', () => {
    const { live } = open();
    const reported = (...events: readonly FeedEvent[]) => {
      live.delivered(events);
      return live.reported.peek().trash;
    };
    expect(live.reported.peek().trash).toBe(false);
    expect(reported(event(1, 2, {}), event(2, 1, {}, { kind: 'create' }))).toBe(false);
    expect(reported(event(1, 3, {}), event(2, 2, {}, { kind: 'delete' }))).toBe(true);
    expect(reported(event(1, 4, {}))).toBe(false);
    expect(reported(event(2, 3, {}, { kind: 'restore' }))).toBe(true);
    expect(reported(event(1, 5, {}))).toBe(false);
    expect(reported({ kind: 'reset' })).toBe(true);
    live.stop();
  });

  it('keeps rows in place while the user needs them', async () => {
    const { live, state, renew } = open();
    state.mayMove = false;
    live.delivered([event(1, 2, { city: 'Rome' })]);
    await vi.advanceTimersByTimeAsync(5000);
    expect(renew).not.toHaveBeenCalled();
    state.mayMove = true;
    live.release();
    await vi.advanceTimersByTimeAsync(0);
    expect(renew).toHaveBeenCalledTimes(1);
  });

  it('reads rows that could not be shown again after the next change', async () => {
    const { live, state, renew } = open();
    state.renewal = 'failed';
    live.delivered([event(1, 2, { city: 'Rome' })]);
    await vi.advanceTimersByTimeAsync(0);
    expect(renew).toHaveBeenCalledTimes(1);
    state.renewal = 'shown';
    live.delivered([event(1, 3, { name: 'x' })]);
    await vi.advanceTimersByTimeAsync(5000);
    expect(renew).toHaveBeenCalledTimes(2);
  });

  it('reads rows that could not be shown again without a change, later each time', async () => {
    const { live, state, renew } = open();
    state.renewal = 'failed';
    live.delivered([event(1, 2, { city: 'Rome' })]);
    await vi.advanceTimersByTimeAsync(30_000);
    // At pauses of at most 1, 2, 4, 8 and 16 seconds, and at least half of that.
    expect(renew.mock.calls.length).toBeGreaterThanOrEqual(5);
    expect(renew.mock.calls.length).toBeLessThanOrEqual(6);
    state.renewal = 'shown';
    const before = renew.mock.calls.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(renew).toHaveBeenCalledTimes(before + 1);
    state.renewal = 'failed';
    live.rereadPlaces();
    live.stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(renew).toHaveBeenCalledTimes(before + 2);
  });

  it('reads rows again at once if an edit has outdated what was read, or else after the edit', async () => {
    const { live, state, renew } = open();
    renew.mockResolvedValueOnce('outdated');
    live.delivered([event(1, 2, { city: 'Rome' })]);
    await vi.advanceTimersByTimeAsync(0);
    expect(renew).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(5000);
    expect(renew).toHaveBeenCalledTimes(2);
    renew.mockImplementationOnce(() => {
      state.mayMove = false;
      return Promise.resolve('outdated');
    });
    live.delivered([event(1, 3, { city: 'Bonn' })]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(renew).toHaveBeenCalledTimes(3);
    state.mayMove = true;
    live.release();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(renew).toHaveBeenCalledTimes(4);
  });

  it('reads rows again after an own write that a renewal may not contain', async () => {
    const { live, renew } = open();
    let finish: () => void = () => undefined;
    renew.mockImplementationOnce(
      () =>
        new Promise((resolve) => {
          finish = () => {
            live.continued();
            resolve('shown');
          };
        }),
    );
    live.delivered([event(2, 2, { city: 'Rome' })]);
    await vi.advanceTimersByTimeAsync(0);
    live.rereadPlaces();
    await vi.advanceTimersByTimeAsync(3000);
    finish();
    live.delivered([event(1, 2, { city: 'Bonn' }, { change: 'own' })]);
    await vi.advanceTimersByTimeAsync(3000);
    expect(renew).toHaveBeenCalledTimes(2);
    live.reads();
    live.continued();
    await vi.advanceTimersByTimeAsync(3000);
    expect(renew).toHaveBeenCalledTimes(2);
  });

  it('rereads nothing for changes before the cursor that the feed continues from, and all for changes after it', async () => {
    const { live, state, renew, summarize } = open();
    state.mayMove = false;
    live.delivered([event(1, 2, { city: 'Rome' })]);
    live.continued();
    state.mayMove = true;
    live.release();
    await vi.advanceTimersByTimeAsync(5000);
    expect(renew).not.toHaveBeenCalled();
    live.delivered([event(1, 2, { city: 'Rome' })]);
    await vi.advanceTimersByTimeAsync(5000);
    expect(renew).toHaveBeenCalledTimes(1);
    expect(live.announcement.value).toBe('1 row changed.');
    live.announcement.value = '';
    live.addMissing('figures', [event(1, 2, { city: 'Rome' })]);
    await vi.advanceTimersByTimeAsync(5000);
    expect([renew.mock.calls.length, summarize.mock.calls.length, live.announcement.value]).toEqual([1, 1, '']);
    live.addMissing('places', [event(1, 3, { cost: '3' })]);
    await vi.advanceTimersByTimeAsync(5000);
    live.reread('places');
    await vi.advanceTimersByTimeAsync(5000);
    expect([renew.mock.calls.length, summarize.mock.calls.length]).toEqual([2, 1]);
  });

  it('shows no change that was found before an earlier one of its row, until the feed delivers both', async () => {
    const { live, held, renew } = open();
    live.addMissing('figures', [event(1, 3, { name: 'second' })]);
    expect(held.held(1)?.version).toBe(1);
    live.delivered([event(1, 2, { note: 'first' }), event(1, 3, { name: 'second' })]);
    expect(held.held(1)).toMatchObject({ version: 3, values: { note: 'first', name: 'second' } });
    await vi.advanceTimersByTimeAsync(5000);
    expect(renew).not.toHaveBeenCalled();
  });

  it('reads rows again, and the issue in the panel, if the feed has left out an earlier change of one', async () => {
    const { live, held, renew, missed } = open();
    held.busy.add('1/city');
    live.delivered([event(1, 2, { city: 'Rome' }), event(1, 3, { name: 'x' })]);
    await vi.advanceTimersByTimeAsync(5000);
    expect([renew.mock.calls.length, missed.mock.calls.length]).toEqual([1, 0]);
    live.delivered([event(1, 5, { name: 'y' }), event(2, 7, { name: 'of a row that is not held' })]);
    await vi.advanceTimersByTimeAsync(5000);
    expect([renew.mock.calls.length, missed.mock.calls.length]).toEqual([2, 1]);
    expect(held.held(1)?.values['name']).toBe('x');
    live.stop();
  });

  it('ignores its own changes', async () => {
    const { live, held, renew, changed } = open();
    live.delivered([event(1, 2, { city: 'Rome' }, { change: 'own' })]);
    await vi.advanceTimersByTimeAsync(5000);
    expect(held.held(1)?.version).toBe(2);
    expect([renew.mock.calls, changed.mock.calls, live.announcement.value]).toEqual([[], [], '']);
  });

  it('reads rows again that may lack changes: read before the feed began, after a reset, after a restart', async () => {
    const { live, state, renew } = open();
    live.began(false);
    await vi.advanceTimersByTimeAsync(2000);
    expect(renew).not.toHaveBeenCalled();
    live.reads();
    live.began(false);
    await vi.advanceTimersByTimeAsync(2000);
    expect(renew).toHaveBeenCalledTimes(1);
    live.delivered([{ kind: 'reset' }]);
    await vi.advanceTimersByTimeAsync(2000);
    expect([renew.mock.calls.length, live.redefined.value]).toEqual([2, false]);
    state.redefined = true;
    live.began(true);
    await vi.advanceTimersByTimeAsync(2000);
    expect([renew.mock.calls.length, live.redefined.value]).toEqual([3, true]);
  });

  it('compares the definitions after an own import, and reads everything again without other ones', async () => {
    const { live, state, renew } = open();
    live.recheck();
    await vi.advanceTimersByTimeAsync(2000);
    expect([renew.mock.calls.length, live.redefined.value]).toEqual([1, false]);
    state.redefined = true;
    live.recheck();
    await vi.advanceTimersByTimeAsync(2000);
    expect([renew.mock.calls.length, live.redefined.value]).toEqual([1, true]);
  });

  it('compares the definitions again after a failure, later each time, also while rows may not move', async () => {
    for (const mayMove of [true, false]) {
      const { live, state, renew, isRedefined } = open();
      state.mayMove = mayMove;
      for (let failures = 0; failures < 3; failures += 1) isRedefined.mockRejectedValueOnce(new OfflineError('away'));
      live.delivered([{ kind: 'reset' }]);
      await vi.advanceTimersByTimeAsync(60_000);
      expect([isRedefined.mock.calls.length, renew.mock.calls.length]).toEqual([4, mayMove ? 1 : 0]);
      isRedefined.mockRejectedValueOnce(new OfflineError('away'));
      state.redefined = true;
      live.recheck();
      await vi.advanceTimersByTimeAsync(0);
      expect(live.redefined.value).toBe(false);
      await vi.advanceTimersByTimeAsync(2000);
      expect(live.redefined.value).toBe(true);
      live.stop();
    }
  });

  it('compares the definitions after a reset that comes while rows are read again', async () => {
    const { live, state, renew } = open();
    let finish: () => void = () => undefined;
    renew.mockImplementationOnce(() => new Promise((resolve) => (finish = () => resolve('shown'))));
    live.rereadPlaces();
    await vi.advanceTimersByTimeAsync(100);
    state.redefined = true;
    live.delivered([{ kind: 'reset' }]);
    await vi.advanceTimersByTimeAsync(5000);
    finish();
    await vi.advanceTimersByTimeAsync(2000);
    expect(live.redefined.value).toBe(true);
    live.stop();
  });

  it('reads figures after own edits at most once a second, also while rows may not move', async () => {
    const { live, state, renew, summarize } = open();
    state.mayMove = false;
    live.rereadPlaces();
    for (let edit = 0; edit < 5; edit += 1) live.rereadFigures();
    expect(summarize).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(3000);
    expect([renew.mock.calls.length, summarize.mock.calls.length]).toEqual([0, 2]);
    live.stop();
  });

  it('reports versions of changed issues, and possible changes of all if some are missing', () => {
    const { live, missed } = open();
    const versions = () => [1, 2].map((num) => live.reported.value.versionOf(num));
    expect(versions()).toEqual([null, null]);
    live.delivered([event(1, 2, { name: 'x' }), event(1, 3, { name: 'y' })]);
    expect([versions(), missed.mock.calls.length]).toEqual([[3, null], 0]);
    live.delivered([{ kind: 'reset' }]);
    expect([versions(), missed.mock.calls.length]).toEqual([[0, 0], 1]);
    live.began(false);
    live.delivered([event(2, 5, {})]);
    expect([versions(), missed.mock.calls.length]).toEqual([[null, 5], 1]);
    const before = live.reported.value;
    live.began(true);
    live.missed();
    expect([versions(), missed.mock.calls.length]).toEqual([[0, 0], 3]);
    expect(live.reported.value).not.toBe(before);
  });
});
