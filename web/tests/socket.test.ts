import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from '../src/api/problem';
import type { FeedEvent } from '../src/live/events';
import { Feed, type FeedPage } from '../src/live/feed';
import { pauseBefore, Socket, type Channel, type PresentUser } from '../src/live/socket';

beforeEach(() => void vi.useFakeTimers({ now: new Date('2024-05-01T00:00:00Z') }));
afterEach(() => void vi.useRealTimers());

const flush = () => vi.advanceTimersByTimeAsync(0);

/** A WebSocket to the test. */
class FakeChannel implements Channel {
  onopen: Channel['onopen'] = null;
  onmessage: Channel['onmessage'] = null;
  onclose: Channel['onclose'] = null;
  readonly said: Record<string, unknown>[] = [];
  closed = false;

  constructor(readonly url: string) {}

  send(text: string): void {
    this.said.push(JSON.parse(text) as Record<string, unknown>);
  }

  close(): void {
    this.closed = true;
  }

  accept(): void {
    this.onopen?.call({} as WebSocket, {} as Event);
  }

  receive(frame: unknown): void {
    this.onmessage?.call({} as WebSocket, { data: typeof frame === 'string' ? frame : JSON.stringify(frame) } as MessageEvent);
  }

  drop(): void {
    this.onclose?.call({} as WebSocket, {} as CloseEvent);
  }

  get subscriptions(): unknown[] {
    return this.said.filter((one) => one['do'] === 'subscribe').map((one) => one['since']);
  }
}

function nth(channels: readonly FakeChannel[], place: number): FakeChannel {
  const found = channels[place];
  if (!found) throw new Error(`There is no connection ${place}.`);
  return found;
}

function sockets(tickets: (() => Promise<{ ticket: string; url: string; token_expires: string }>)[] = []) {
  const channels: FakeChannel[] = [];
  let sold = 0;
  const socket = new Socket(
    () => {
      sold += 1;
      return tickets.shift()?.() ?? Promise.resolve({ ticket: `t=${sold}`, url: 'wss://x/live', token_expires: new Date(Date.now() + 900_000).toISOString() });
    },
    (url) => {
      channels.push(new FakeChannel(url));
      return nth(channels, channels.length - 1);
    },
    () => 1,
  );
  return { socket, channels, sold: () => sold };
}

function follow(since = 'a', given = sockets()) {
  const received: FeedEvent[] = [];
  const people: (readonly PresentUser[])[] = [];
  const cursors: string[] = [];
  const stopping = new AbortController();
  const over = given.socket.follow(
    since,
    {
      delivered: (items, next) => {
        received.push(...items);
        cursors.push(next);
      },
      people: (others) => people.push(others),
    },
    stopping.signal,
  );
  return { ...given, received, people, cursors, stopping, over };
}

const reset: FeedEvent = { kind: 'reset' };

describe('the socket', () => {
  it('connects with a ticket, subscribes from the cursor and delivers changes', async () => {
    const { channels, received, cursors } = follow();
    await flush();
    const channel = nth(channels, 0);
    expect(channel.url).toBe('wss://x/live?ticket=t%3D1');
    channel.accept();
    expect(channel.said).toEqual([
      { do: 'subscribe', id: 's1', since: 'a' },
      { do: 'look', num: null },
    ]);
    channel.receive({ id: 's1', since: 'a', items: [], next: 'b' });
    channel.receive({ id: 's1', since: 'b', items: [reset], next: 'c' });
    expect(received).toEqual([reset]);
    expect(cursors).toEqual(['b', 'c']);
  });

  it('ignores a frame that does not continue from its cursor, and subscribes again from there', async () => {
    const { channels, received, cursors } = follow();
    await flush();
    const channel = nth(channels, 0);
    channel.accept();
    channel.receive({ id: 's1', since: 'a', items: [], next: 'b' });
    channel.receive({ id: 's1', since: 'z', items: [reset], next: 'c' });
    expect(channel.subscriptions).toEqual(['a', 'b']);
    channel.receive({ id: 's1', since: 'b', items: [reset], next: 'c' });
    expect(received).toEqual([]);
    channel.receive({ id: 's2', since: 'b', items: [reset], next: 'd' });
    expect(received).toEqual([reset]);
    expect(cursors).toEqual(['b', 'd']);
  });

  it('ends at a goodbye, a refused subscription and a lost connection', async () => {
    for (const end of [
      (channel: FakeChannel) => channel.receive({ bye: 'idle' }),
      (channel: FakeChannel) => channel.receive({ id: 's1', error: { status: 404 } }),
      (channel: FakeChannel) => channel.drop(),
    ]) {
      const { channels, over, people } = follow();
      await flush();
      nth(channels, 0).accept();
      nth(channels, 0).receive({ id: 's1', since: 'a', items: [], next: 'b' });
      nth(channels, 0).receive({ people: [{ user: 'bob', name: 'Bob', num: 1 }] });
      end(nth(channels, 0));
      expect(await over).toBe('worked');
      expect(nth(channels, 0).closed).toBe(true);
      expect(people.at(-1)).toEqual([]);
    }
  });

  it('reports that it could not connect', async () => {
    const refused = sockets([() => Promise.reject(new ApiError({ type: 'x', title: 'x', status: 409 }))]);
    expect(await follow('a', refused).over).toBe('failed');
    const closed = follow();
    await flush();
    nth(closed.channels, 0).drop();
    expect(await closed.over).toBe('failed');
    const silent = follow();
    await flush();
    nth(silent.channels, 0).accept();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await silent.over).toBe('failed');
    expect(nth(silent.channels, 0).closed).toBe(true);
  });

  it('ignores unknown frames', async () => {
    const { channels, received } = follow();
    await flush();
    nth(channels, 0).accept();
    for (const frame of ['{', 'null', '1', '[]', {}, { id: 's9', items: [reset], next: 'x', since: 'a' }, { error: {} }]) nth(channels, 0).receive(frame);
    expect(received).toEqual([]);
    expect(nth(channels, 0).closed).toBe(false);
  });

  it('sends the user’s place at most once in 1.2 seconds, and again before it is silent for too long', async () => {
    const { socket, channels } = follow();
    await flush();
    const channel = nth(channels, 0);
    const looks = () => channel.said.filter((one) => one['do'] === 'look').map((one) => one['num']);
    channel.accept();
    channel.receive({ id: 's1', since: 'a', items: [], next: 'b' });
    for (const num of [1, 2, 3]) socket.look(num);
    expect(looks()).toEqual([null]);
    await vi.advanceTimersByTimeAsync(1200);
    expect(looks()).toEqual([null, 3]);
    socket.look(3);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(looks()).toEqual([null, 3]);
    await vi.advanceTimersByTimeAsync(240_000);
    expect(looks()).toEqual([null, 3, 3]);
  });

  it('sends the user’s place again if the API refused it as too early', async () => {
    const { socket, channels } = follow();
    await flush();
    const channel = nth(channels, 0);
    const looks = () => channel.said.filter((one) => one['do'] === 'look').map((one) => one['num']);
    channel.accept();
    socket.look(3);
    await vi.advanceTimersByTimeAsync(1200);
    channel.receive({ error: { status: 429 } });
    channel.receive({ error: { status: 400 } });
    channel.receive({ error: null });
    await vi.advanceTimersByTimeAsync(1200);
    expect(looks()).toEqual([null, 3, 3]);
    await vi.advanceTimersByTimeAsync(5000);
    expect(looks()).toHaveLength(3);
  });

  it('subscribes again after a pause if that was too early, longer each time, without ending', async () => {
    const { channels, received } = follow();
    await flush();
    const channel = nth(channels, 0);
    channel.accept();
    channel.receive({ id: 's1', error: { status: 429 } });
    await vi.advanceTimersByTimeAsync(499);
    expect(channel.subscriptions).toEqual(['a']);
    await vi.advanceTimersByTimeAsync(1);
    expect(channel.subscriptions).toEqual(['a', 'a']);
    channel.receive({ id: 's2', error: { status: 429 } });
    await vi.advanceTimersByTimeAsync(999);
    expect(channel.subscriptions).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(channel.subscriptions).toEqual(['a', 'a', 'a']);
    channel.receive({ id: 's3', since: 'a', items: [reset], next: 'b' });
    channel.receive({ id: 's3', since: 'b', items: [], next: 'c' });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(received).toEqual([reset]);
    expect(channel.subscriptions).toHaveLength(3);
    expect(channel.closed).toBe(false);
  });

  it('ends an old subscription again if that was too early, so that subscriptions do not add up', async () => {
    const { socket, channels } = follow();
    await flush();
    const channel = nth(channels, 0);
    const ended = () => channel.said.filter((one) => one['do'] === 'unsubscribe').map((one) => one['id']);
    channel.accept();
    channel.receive({ id: 's1', since: 'a', items: [], next: 'b' });
    for (const cursor of ['c', 'd', 'e']) socket.continueFrom(cursor);
    expect(ended()).toEqual(['s1', 's2', 's3']);
    for (const id of ['s2', 's3', 's4']) channel.receive({ id, error: { status: 429 } });
    await vi.advanceTimersByTimeAsync(500);
    expect(ended()).toEqual(['s1', 's2', 's3', 's2', 's3']);
    expect(channel.subscriptions).toEqual(['a', 'c', 'd', 'e', 'e']);
    channel.receive({ id: 's5', since: 'e', items: [], next: 'f' });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(ended()).toHaveLength(5);
  });

  it('ignores a refused subscription if another replaced it', async () => {
    const { socket, channels } = follow();
    await flush();
    const channel = nth(channels, 0);
    channel.accept();
    channel.receive({ id: 's1', error: { status: 429 } });
    socket.continueFrom('b');
    await vi.advanceTimersByTimeAsync(500);
    expect(channel.subscriptions).toEqual(['a', 'b']);
  });

  it('is renewed again if that was too early', async () => {
    const { channels } = follow();
    await flush();
    const channel = nth(channels, 0);
    const renewals = () => channel.said.filter((one) => one['do'] === 'renew').map((one) => one['ticket']);
    channel.accept();
    channel.receive({ id: 's1', since: 'a', items: [], next: 'b' });
    await vi.advanceTimersByTimeAsync(14 * 60_000);
    channel.receive({ error: { status: 429 } });
    await vi.advanceTimersByTimeAsync(500);
    expect(renewals()).toEqual(['t=2', 't=3']);
    channel.receive({ renewed: '2024-05-01T00:29:00Z' });
    channel.receive({ error: { status: 429 } });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(renewals()).toEqual(['t=2', 't=3']);
  });

  it('reports that newer sockets of the user replaced it', async () => {
    const { channels, over } = follow();
    await flush();
    nth(channels, 0).accept();
    nth(channels, 0).receive({ id: 's1', since: 'a', items: [], next: 'b' });
    nth(channels, 0).receive({ bye: 'replaced' });
    expect(await over).toBe('replaced');
  });

  it('pauses longer after each refusal, up to a limit, differently in each tab', () => {
    expect([1, 2, 3, 4, 5, 6].map((attempt) => pauseBefore(attempt, 1))).toEqual([500, 1000, 2000, 4000, 8000, 8000]);
    expect(pauseBefore(1, 0)).toBe(250);
  });

  it('is renewed a minute before the user’s token expires', async () => {
    const { channels } = follow();
    await flush();
    nth(channels, 0).accept();
    nth(channels, 0).receive({ id: 's1', since: 'a', items: [], next: 'b' });
    await vi.advanceTimersByTimeAsync(13 * 60_000);
    expect(nth(channels, 0).said.filter((one) => one['do'] === 'renew')).toEqual([]);
    await vi.advanceTimersByTimeAsync(61_000);
    expect(nth(channels, 0).said.filter((one) => one['do'] === 'renew')).toEqual([{ do: 'renew', ticket: 't=2' }]);
  });

  it('is renewed less and less often while the user’s token is the same, such as by a clock that is ahead', async () => {
    const same = () => Promise.resolve({ ticket: 't', url: 'wss://x/live', token_expires: '2024-05-01T00:00:10Z' });
    const { channels, sold } = follow('a', sockets(Array.from({ length: 20 }, () => same)));
    await flush();
    nth(channels, 0).accept();
    nth(channels, 0).receive({ id: 's1', since: 'a', items: [], next: 'b' });
    const counts: number[] = [];
    for (const seconds of [1, 15, 30, 45, 45, 45]) {
      await vi.advanceTimersByTimeAsync(seconds * 1000 - 1);
      counts.push(sold());
      await vi.advanceTimersByTimeAsync(1);
    }
    expect(counts).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('is not renewed if it ended while the ticket was bought', async () => {
    let sell: () => void = () => undefined;
    const ticket = { ticket: 't', url: 'wss://x/live', token_expires: '2024-05-01T00:15:00Z' };
    const late = () => new Promise<typeof ticket>((resolve) => (sell = () => resolve(ticket)));
    const { channels, sold, over } = follow('a', sockets([() => Promise.resolve(ticket), late]));
    await flush();
    const channel = nth(channels, 0);
    channel.accept();
    channel.receive({ id: 's1', since: 'a', items: [], next: 'b' });
    await vi.advanceTimersByTimeAsync(14 * 60_000);
    expect(sold()).toBe(2);
    channel.drop();
    sell();
    expect(await over).toBe('worked');
    await vi.advanceTimersByTimeAsync(60 * 60_000);
    expect([sold(), channel.said.filter((one) => one['do'] === 'renew')]).toEqual([2, []]);
  });
});

describe('the feed with a socket', () => {
  function feed(answers: (FeedPage | ApiError)[], since: string | null = null) {
    const given = sockets();
    const held: [string, number][] = [];
    const asked: (string | null)[] = [];
    const received: unknown[] = [];
    let hide: (hidden: boolean) => void = () => undefined;
    const made = new Feed(
      (since, _, signal) => {
        asked.push(since);
        const answer = answers.shift();
        if (answer instanceof ApiError) return Promise.reject(answer);
        if (answer) return Promise.resolve(answer);
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new DOMException('', 'AbortError'))));
      },
      { visibility: (changed) => ((hide = changed), () => undefined), random: () => 0, socket: given.socket, onToken: (token, changes) => held.push([token, changes]) },
    );
    made.listen({
      began: (again) => received.push(again ? 'again' : 'began'),
      delivered: (events) => received.push(...events.map((one) => one.kind)),
      people: (others) => received.push(others.map(({ user }) => user).join()),
    });
    made.continueFrom(since);
    return { ...given, made, asked, received, held, hide: (hidden: boolean) => hide(hidden) };
  }

  it('requests its first cursor once; sockets deliver all later changes', async () => {
    const { channels, asked, received } = feed([{ items: [], next: 'a' }]);
    await flush();
    nth(channels, 0).accept();
    nth(channels, 0).receive({ id: 's1', since: 'a', items: [reset], next: 'b' });
    nth(channels, 0).receive({ people: [{ user: 'bob', name: 'Bob', num: 7 }] });
    nth(channels, 0).receive({ bye: 'age' });
    await vi.advanceTimersByTimeAsync(1);
    nth(channels, 1).accept();
    expect(nth(channels, 1).subscriptions).toEqual(['b']);
    expect(asked).toEqual([null]);
    expect(received).toEqual(['began', 'reset', 'bob', '']);
  });

  it('requests nothing if it begins with the cursor of an answer, and keeps tokens for later reads', async () => {
    const { channels, asked, received, held } = feed([], 'a');
    await flush();
    nth(channels, 0).accept();
    expect(nth(channels, 0).subscriptions).toEqual(['a']);
    nth(channels, 0).receive({ id: 's1', since: 'a', items: [], next: 'b' });
    nth(channels, 0).receive({ id: 's1', since: 'b', items: [reset, reset], next: 'c', token: 't' });
    expect([asked, received, held]).toEqual([[], ['reset', 'reset'], [['t', 2]]]);
  });

  it('continues from another cursor with the same socket, open or not', async () => {
    const { channels, received, made } = feed([], 'a');
    await flush();
    expect(made.continueFrom('b')).toBe(true);
    nth(channels, 0).accept();
    nth(channels, 0).receive({ id: 's1', since: 'b', items: [reset], next: 'c' });
    expect(made.continueFrom('d')).toBe(true);
    expect(nth(channels, 0).subscriptions).toEqual(['b', 'd']);
    // Frames of the old subscription that arrive late are ignored.
    nth(channels, 0).receive({ id: 's1', since: 'c', items: [reset], next: 'e' });
    nth(channels, 0).receive({ id: 's2', since: 'd', items: [], next: 'e' });
    expect(nth(channels, 0).said.filter((one) => one['do'] !== 'look')).toEqual([
      { do: 'subscribe', id: 's1', since: 'b' },
      { do: 'unsubscribe', id: 's1' },
      { do: 'subscribe', id: 's2', since: 'd' },
    ]);
    expect(received).toEqual(['reset']);
    nth(channels, 0).drop();
    await vi.advanceTimersByTimeAsync(1000);
    nth(channels, 1).accept();
    expect(nth(channels, 1).subscriptions).toEqual(['e']);
  });

  it('polls from the new cursor if no socket can be opened', async () => {
    const { channels, asked, made } = feed([], 'a');
    await flush();
    made.continueFrom('b');
    nth(channels, 0).drop();
    await flush();
    expect(asked).toEqual(['b']);
  });

  it('begins again if its cursor is too old for a socket and for the API', async () => {
    const expired = new ApiError({ type: 'https://x/cursor-expired', title: 'x', status: 410 });
    const { channels, asked, received } = feed([expired, { items: [], next: 'z' }], 'a');
    await flush();
    nth(channels, 0).accept();
    nth(channels, 0).receive({ id: 's1', error: { status: 410 } });
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked).toEqual(['a', null, 'z']);
    expect(received).toEqual(['', 'again']);
  });

  it('polls if too many sockets are open, and connects again later', async () => {
    const tooMany = new ApiError({ type: 'https://x/too-many', title: 'x', status: 429 }, 5);
    const { channels, asked } = feed([tooMany, { items: [], next: 'b' }, { items: [], next: 'c' }], 'a');
    await flush();
    nth(channels, 0).drop();
    await flush();
    expect(asked).toEqual(['a']);
    await vi.advanceTimersByTimeAsync(5000);
    expect(asked).toEqual(['a', 'a', 'b', 'c']);
    expect(channels.length).toBe(1);
  });

  it('polls if it cannot connect, and tries a socket after a minute', async () => {
    const { channels, asked, received } = feed([
      { items: [], next: 'a' },
      { items: [reset], next: 'b' },
    ]);
    await flush();
    nth(channels, 0).drop();
    await flush();
    expect(asked).toEqual([null, 'a', 'b']);
    expect(received).toEqual(['began', '', 'reset']);
    expect(channels.length).toBe(1);
  });

  it('polls after newer tabs replaced it, until the user returns', async () => {
    const empty = Array.from({ length: 30 }, (_, place): FeedPage => ({ items: [], next: `p${place}` }));
    let hide: (hidden: boolean) => void = () => undefined;
    const { socket, channels } = sockets();
    const asked: (string | null)[] = [];
    const made = new Feed(
      async (since, wait) => {
        asked.push(since);
        await new Promise((resolve) => setTimeout(resolve, 1000 * wait));
        return empty.shift() ?? { items: [], next: 'end' };
      },
      { visibility: (changed) => ((hide = changed), () => undefined), random: () => 0, socket },
    );
    made.listen({ began: () => undefined, delivered: () => undefined });
    made.continueFrom('a');
    await flush();
    nth(channels, 0).accept();
    nth(channels, 0).receive({ id: 's1', since: 'a', items: [], next: 'b' });
    nth(channels, 0).receive({ bye: 'replaced' });
    await vi.advanceTimersByTimeAsync(300_000);
    expect(channels).toHaveLength(1);
    expect(asked.slice(0, 3)).toEqual(['b', 'p0', 'p1']);
    hide(true);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(channels).toHaveLength(1);
    hide(false);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(channels).toHaveLength(2);
    made.stop();
  });

  it('closes the socket of a page that is hidden for long, and of a closed page', async () => {
    const { channels, hide, made } = feed([{ items: [], next: 'a' }]);
    await flush();
    nth(channels, 0).accept();
    nth(channels, 0).receive({ id: 's1', since: 'a', items: [], next: 'b' });
    hide(true);
    await vi.advanceTimersByTimeAsync(300_000);
    expect(nth(channels, 0).closed).toBe(true);
    hide(false);
    await vi.advanceTimersByTimeAsync(1000);
    nth(channels, 1).accept();
    expect(nth(channels, 1).subscriptions).toEqual(['b']);
    made.stop();
    expect(nth(channels, 1).closed).toBe(true);
  });
});
