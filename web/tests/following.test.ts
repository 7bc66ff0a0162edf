import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { OfflineError } from '../src/api/problem';
import type { Row } from '../src/fields/values';
import type { FeedEvent } from '../src/live/events';
import { Feed } from '../src/live/feed';
import { Reading, type Part, type Step } from '../src/live/reading';
import { Following } from '../src/project/following';
import { Live } from '../src/project/live';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a reading', () => {
  /** Both answers of one reading; the second is requested before the first has come. */
  function steps(first: string | null, second: string | null, part: Part = 'places', reading = new Reading()): readonly Step[] {
    const [one, other] = [reading.requested('places'), reading.requested(part)];
    return [...one(first), ...other(second)];
  }

  it('is followed from its first answer; an answer with the same cursor needs nothing', () => {
    expect(steps('a', 'a')).toEqual([{ do: 'follow', from: 'a' }]);
  });

  it('compares an older or newer answer', () => {
    expect(steps('a', 'b', 'figures')).toEqual([
      { do: 'follow', from: 'a' },
      { do: 'compare', part: 'figures', since: 'b' },
    ]);
  });

  it('reads a part again if its answer has no cursor and the first one has', () => {
    expect(steps('a', null, 'figures')).toEqual([
      { do: 'follow', from: 'a' },
      { do: 'reread', part: 'figures' },
    ]);
  });

  it('is followed from now on if its first answer has no cursor', () => {
    expect(steps(null, 'b')).toEqual([{ do: 'follow', from: null }]);
    expect(steps(null, null)).toEqual([{ do: 'follow', from: null }]);
  });

  it('ignores the cursor of a part that was requested after the feed began', () => {
    const reading = new Reading();
    expect(reading.requested('places')('a')).toHaveLength(1);
    expect(reading.requested('figures')('b')).toEqual([]);
    expect(reading.requested('figures')(null)).toEqual([]);
  });

  it('is followed when it is shown, if it is shown in one step', () => {
    const reading = new Reading(true);
    const late = reading.requested('figures');
    expect(steps('a', 'b', 'places', reading)).toEqual([]);
    expect(reading.shown()).toEqual([
      { do: 'follow', from: 'a' },
      { do: 'compare', part: 'places', since: 'b' },
    ]);
    expect(late('c')).toEqual([{ do: 'compare', part: 'figures', since: 'c' }]);
    expect(new Reading(true).shown()).toEqual([]);
  });
});

/** A project with a readable journal: a cursor is `@` and the number of events before it. */
class Project {
  readonly events: FeedEvent[] = [];
  /** The number of next requests that fail. */
  away = 0;
  private readonly waiting = new Set<() => void>();

  /** Someone else gives issue 1 another value. */
  edit(value: number, field = 'cost'): void {
    const version = this.events.length + 2;
    const fields = { [field]: { old: null, new: String(value) } };
    this.events.push({ id: `1.${version}`, num: 1, version, kind: 'update', by: 'bob', at: '2024-05-01T00:00:00Z', change: null, fields });
    this.notify();
  }

  /** An event without a change id. */
  reset(): void {
    this.events.push({ kind: 'reset' });
    this.notify();
  }

  private notify(): void {
    for (const wake of this.waiting) wake();
    this.waiting.clear();
  }

  get end(): number {
    return this.events.length;
  }

  async changes(since: string | null, wait: number, signal: AbortSignal): Promise<{ items: FeedEvent[]; next: string }> {
    if (this.away > 0) {
      this.away -= 1;
      throw new OfflineError('away');
    }
    const place = since === null ? this.end : Number(since.slice(1));
    if (wait && place === this.end) {
      await new Promise<void>((resolve, reject) => {
        this.waiting.add(resolve);
        signal.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
      });
    }
    return { items: this.events.slice(place), next: `@${this.end}` };
  }
}

const at = (place: number) => `@${place}`;

/** An open page. Each part's content is the place in the journal up to which it counts. */
function page(project: Project, { hasCursors = true, answers = true } = {}) {
  const asked: (string | null)[] = [];
  const shows: Record<Part, number> = { places: -1, figures: -1 };
  const read: Part[] = [];
  let row: Row | undefined;
  const feed = new Feed(
    (since, wait, signal) => {
      asked.push(since);
      return answers ? project.changes(since, wait, signal) : Promise.reject(new OfflineError('away'));
    },
    { visibility: () => () => undefined, random: () => 1 },
  );
  const delivered = vi.fn();
  const ask = (part: Part, place = project.end) => {
    const answered = following.requested(part);
    return () => {
      shows[part] = place;
      if (part === 'places') row = { num: 1, version: place + 1, values: { num: 1, cost: `of ${place}` } };
      answered(hasCursors ? at(place) : null);
    };
  };
  const reread = (part: Part) => {
    read.push(part);
    ask(part)();
  };
  const live = new Live({
    user: 'ada',
    holders: [{ held: () => row, replace: (_, change) => void (row &&= change(row)) }],
    isBusy: () => false,
    changed: () => undefined,
    isOwn: () => false,
    missed: () => undefined,
    dependence: () => ({ places: new Set(['cost']), figures: new Set(['cost']) }),
    mayMove: () => true,
    renew: () => {
      const shown = following.beginHeld();
      reread('figures');
      reread('places');
      shown();
      return Promise.resolve('shown');
    },
    summarize: () => {
      reread('figures');
      return Promise.resolve();
    },
    isRedefined: () => Promise.resolve(false),
  });
  const following = new Following({
    follow: (from) => {
      feed.continueFrom(from);
      if (from !== null) live.continued();
    },
    changesAfter: (since) => feed.changesAfter(since),
    addMissing: (part, events) => live.addMissing(part, events),
    reread: (part) => live.reread(part),
  });
  feed.listen({ began: (again) => live.began(again), delivered: (events) => {
      delivered(events.length);
      live.delivered(events);
    } });
  live.reads();
  following.begin();
  return { ask, asked, shows, read, delivered, feed, following, live, row: () => row };
}

const settled = () => vi.advanceTimersByTimeAsync(5000);

describe('a page that follows from what it has read', () => {
  it('does not receive an edit that its answers count, and reads nothing twice', async () => {
    const project = new Project();
    project.edit(1);
    const { ask, asked, shows, read, delivered } = page(project);
    for (const answer of [ask('places'), ask('figures')]) answer();
    await settled();
    expect(asked).toEqual(['@1']);
    expect([shows, read, delivered.mock.calls]).toEqual([{ places: 1, figures: 1 }, [], []]);
  });

  it('does not miss an edit between its read and its subscription, and counts it once', async () => {
    const project = new Project();
    const { ask, asked, shows, read, delivered, row } = page(project);
    const [places, figures] = [ask('places'), ask('figures')];
    project.edit(1);
    for (const answer of [places, figures]) answer();
    await settled();
    expect(asked.slice(0, 2)).toEqual(['@0', '@1']);
    expect(delivered.mock.calls).toEqual([[1]]);
    expect([shows, read]).toEqual([{ places: 1, figures: 1 }, ['figures', 'places']]);
    expect(row()?.version).toBe(2);
  });

  it('shows the changes that each answer lacks, whichever is older', async () => {
    for (const [rows, groups, rereads] of [
      [2, 0, ['figures']],
      [0, 2, ['figures', 'places']],
      [1, 0, ['figures', 'places']],
      [2, 2, []],
    ] as const) {
      const project = new Project();
      for (const cost of [1, 2]) project.edit(cost);
      const { ask, shows, read } = page(project);
      const [places, figures] = [ask('places', rows), ask('figures', groups)];
      for (const answer of [places, figures]) answer();
      await settled();
      expect(shows).toEqual({ places: 2, figures: 2 });
      expect(read).toEqual(rereads);
    }
  });

  it('ignores an event at or below a row’s version', async () => {
    const project = new Project();
    const { ask, read, row, delivered } = page(project);
    const places = ask('places');
    for (const value of [2, 3, 4]) project.edit(value, 'note');
    places();
    // The row was read from its document, which is ahead of the place of the answer.
    Object.assign(row() ?? {}, { version: 3, values: { num: 1, note: 'as of version 3' } });
    await settled();
    expect(delivered.mock.calls).toEqual([[3]]);
    expect(row()).toMatchObject({ version: 4, values: { note: '4' } });
    project.edit(5, 'other');
    await settled();
    expect(row()).toMatchObject({ version: 5, values: { note: '4', other: '5' } });
    expect(read).toEqual([]);
  });

  it('continues from a reread, and does not receive the changes that it contains', async () => {
    const project = new Project();
    const { ask, asked, read, delivered } = page(project);
    ask('places')();
    await settled();
    project.edit(1);
    await vi.advanceTimersByTimeAsync(0);
    expect(read).toEqual(['figures', 'places']);
    project.edit(2);
    await settled();
    expect(delivered.mock.calls).toEqual([[1], [1]]);
    expect(read).toHaveLength(4);
    await settled();
    expect([read.length, asked.at(-1)]).toEqual([4, '@2']);
  });

  it('continues from the reads after a reset', async () => {
    const project = new Project();
    const { ask, asked, shows, read, delivered } = page(project);
    for (const answer of [ask('places'), ask('figures')]) answer();
    await settled();
    project.reset();
    await settled();
    project.edit(1, 'note');
    await settled();
    expect([shows, read]).toEqual([{ places: 1, figures: 1 }, ['figures', 'places']]);
    expect(asked).toEqual(['@0', '@1', '@1', '@2']);
    expect(delivered.mock.calls).toEqual([[1], [1]]);
  });

  it('misses nothing and counts nothing twice after a network failure', async () => {
    const project = new Project();
    const { ask, asked, shows, read, delivered } = page(project);
    for (const answer of [ask('places'), ask('figures')]) answer();
    project.away = 2;
    project.edit(1);
    await settled();
    expect(asked.slice(0, 3)).toEqual(['@0', '@0', '@0']);
    expect(delivered.mock.calls).toEqual([[1]]);
    expect([shows, read]).toEqual([{ places: 1, figures: 1 }, ['figures', 'places']]);
  });

  it('starts now and reads everything again if no answer has a cursor', async () => {
    const project = new Project();
    const { ask, asked, shows, read } = page(project, { hasCursors: false });
    const places = ask('places');
    project.edit(1);
    places();
    await settled();
    expect(asked).toEqual([null, '@1']);
    expect([shows, read]).toEqual([{ places: 1, figures: 1 }, ['figures', 'places']]);
  });

  it('reads a part again if its answer cannot be compared', async () => {
    const project = new Project();
    const given = page(project, { answers: false });
    const [places, figures] = [given.ask('places'), given.ask('figures', -1)];
    for (const answer of [places, figures]) answer();
    await vi.advanceTimersByTimeAsync(0);
    expect(given.read).toEqual(['figures']);
    given.feed.stop();
  });

  it('ignores answers of a former view', async () => {
    const project = new Project();
    const { ask, asked, following } = page(project);
    const old = ask('places');
    project.edit(1);
    following.begin();
    ask('places')();
    old();
    await settled();
    expect(asked).toEqual(['@1']);
  });
});
