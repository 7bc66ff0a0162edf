/**
 * Follows the changes of a project from a cursor on. A socket delivers them, or each request asks with the last cursor
 * and waits for the next change.
 *
 * Each change is delivered exactly once, despite any failure between. `Ask` fetches the pages.
 */
import { ApiError } from '../api/problem';
import type { FeedEvent } from './events';
import type { PresentUser, Socket } from './socket';

export interface FeedPage {
  readonly items: readonly FeedEvent[];
  readonly next: string;
  /** Seconds to pause before the next request, if too many requests wait at the API. */
  readonly pause?: number;
}

/** Asks for the changes after a cursor, for up to `wait` seconds; without a cursor, for the current one. */
export type Ask = (since: string | null, wait: number, signal: AbortSignal) => Promise<FeedPage>;

export interface Listener {
  /** There was no cursor, so the feed follows all reads from now on. `again` if changes before that may be missing. */
  began(again: boolean): void;
  delivered(events: readonly FeedEvent[]): void;
  /** Others who have the project open, with the issues that they look at. */
  people?(people: readonly PresentUser[]): void;
}

export interface FeedOptions {
  /** Reports whether the page is hidden; returns how to stop that. */
  readonly visibility: (changed: (hidden: boolean) => void) => () => void;
  readonly random?: () => number;
  /** Delivers changes while it can connect. Without it, or when it cannot, the API is polled. */
  readonly socket?: Socket;
  /** Called with the token of a socket's changes, and their number: reads that carry it include them. */
  readonly onToken?: (token: string, changes: number) => void;
}

/** Seconds that a request waits for a change. */
const WAIT = 20;
/** Seconds after which a hidden page stops following, until it is visible again. */
const HIDDEN_FOR = 300;
const MAX_PAUSE = 30;
/** Seconds of polling after no socket could be opened, before another is tried. */
const CONNECT_AGAIN = 60;

/** Seconds before a failed request is sent again: twice as long each time, and different for each page. */
export function pauseAfter(failures: number, random: number): number {
  return Math.min(MAX_PAUSE, 2 ** (failures - 1)) * (0.5 + random / 2);
}

export class Feed {
  private cursor: string | null = null;
  private listener: Listener | null = null;
  private hasBegun = false;
  /** The cursor that was given last, and whether changes after it have been delivered. */
  private origin: string | null = null;
  private hasDelivered = false;
  /** Whether a socket delivers changes, or is about to. */
  private byASocket = false;
  /** When to try a socket next, in milliseconds. */
  private connectAt = 0;
  /** Whether newer sockets of the user replaced this page's. Pages do not compete for the place. */
  private isReplaced = false;
  private readonly stopping = new AbortController();
  private request = new AbortController();
  /** Resolves when the page is visible again; null while it is. */
  private sleep: { readonly over: Promise<void>; readonly wake: () => void } | null = null;

  constructor(
    private readonly ask: Ask,
    private readonly options: FeedOptions,
  ) {}

  /**
   * Continue from a cursor, regardless of earlier deliveries. The first call starts the feed; a listener must be set by
   * then.
   *
   * Null starts from now on, if the feed has not started; everything read before must then be read again.
   *
   * Returns whether changes before the cursor may have been left out.
   */
  continueFrom(cursor: string | null): boolean {
    const isThere = cursor === this.origin && !this.hasDelivered;
    if (this.isStopped() || (this.hasBegun && (cursor === null || isThere))) return false;
    this.cursor = this.origin = cursor;
    this.hasDelivered = false;
    if (!this.hasBegun) {
      this.begin();
      return false;
    }
    if (cursor !== null && this.byASocket) this.options.socket?.continueFrom(cursor);
    else this.request.abort();
    return true;
  }

  private begin(): void {
    this.hasBegun = true;
    let hiding: ReturnType<typeof setTimeout> | undefined;
    const stop = this.options.visibility((hidden) => {
      clearTimeout(hiding);
      if (hidden) hiding = setTimeout(() => this.rest(), 1000 * HIDDEN_FOR);
      else {
        // The user has returned to this page: it may replace another one.
        if (this.isReplaced) this.connectAt = 0;
        this.sleep?.wake();
      }
    });
    this.stopping.signal.addEventListener('abort', () => {
      clearTimeout(hiding);
      stop();
      this.sleep?.wake();
      this.request.abort();
    });
    void this.run();
  }

  listen(listener: Listener): void {
    this.listener = listener;
  }

  /**
   * All changes after a cursor until now, regardless of deliveries; null if they need more than one answer. Throws
   * what `Ask` throws.
   */
  async changesAfter(since: string): Promise<readonly FeedEvent[] | null> {
    const { items, next } = await this.ask(since, 0, this.stopping.signal);
    if (!items.length) return items;
    const more = await this.ask(next, 0, this.stopping.signal);
    return more.items.length ? null : items;
  }

  /** Report the issue at which the user looks; `null` for none. */
  look(num: number | null): void {
    this.options.socket?.look(num);
  }

  stop(): void {
    this.stopping.abort();
  }

  private isStopped(): boolean {
    return this.stopping.signal.aborted;
  }

  private async run(): Promise<void> {
    let failures = 0;
    let again = this.cursor !== null;
    while (!this.isStopped()) {
      await this.sleep?.over;
      this.request = new AbortController();
      const { signal } = this.request;
      if (await this.listened(signal)) {
        await this.pause((this.options.random ?? Math.random)());
        continue;
      }
      try {
        const { items, next, pause } = await this.ask(this.cursor, this.cursor === null ? 0 : WAIT, signal);
        if (signal.aborted) continue;
        const begins = this.cursor === null;
        const missing = again;
        this.cursor = next;
        failures = 0;
        again = true;
        if (begins) this.notify((listener) => listener.began(missing));
        else this.deliver(items);
        // A read that begins meanwhile has another cursor, which aborts this pause.
        if (pause) await this.pause(pause, signal);
      } catch (error) {
        if (signal.aborted) continue;
        const refused = error instanceof ApiError ? error : null;
        if (refused && [401, 403, 404].includes(refused.status)) return;
        // The cursor is too old, or does not belong to this project any more.
        if (refused && [400, 410].includes(refused.status)) this.cursor = null;
        failures += 1;
        await this.pause(Math.max(refused?.retryAfter ?? 0, pauseAfter(failures, (this.options.random ?? Math.random)())));
      }
    }
  }

  /** Let a socket deliver changes until it ends, if one can be opened now. Returns whether it worked. */
  private async listened(signal: AbortSignal): Promise<boolean> {
    const { socket } = this.options;
    if (!socket || this.cursor === null || Date.now() < this.connectAt) return false;
    const delivered = (items: readonly FeedEvent[], next: string) => {
      this.cursor = next;
      this.deliver(items);
    };
    const people = (others: readonly PresentUser[]) => this.notify((listener) => listener.people?.(others));
    this.byASocket = true;
    const ending = await socket.follow(this.cursor, { delivered, people, onToken: this.options.onToken }, signal);
    this.byASocket = false;
    this.isReplaced = ending === 'replaced';
    if (this.isReplaced) this.connectAt = Infinity;
    else if (ending === 'failed' && !signal.aborted) this.connectAt = Date.now() + 1000 * CONNECT_AGAIN;
    return ending === 'worked';
  }

  private notify(notify: (listener: Listener) => void): void {
    if (this.listener) notify(this.listener);
  }

  private deliver(items: readonly FeedEvent[]): void {
    if (!items.length) return;
    this.hasDelivered = true;
    this.notify((listener) => listener.delivered(items));
  }

  /**
   * The page was hidden for long: stop until it is visible. It then continues with the same cursor, and misses nothing.
   */
  private rest(): void {
    let wake = () => this.seen();
    const over = new Promise<void>((resolve) => {
      wake = () => {
        this.seen();
        resolve();
      };
    });
    this.sleep = { over, wake };
    this.request.abort();
  }

  private seen(): void {
    this.sleep = null;
  }

  /** Wait, at most until a signal aborts. */
  private pause(seconds: number, signal: AbortSignal = this.stopping.signal): Promise<void> {
    return new Promise((resolve) => {
      const signals = [signal, this.stopping.signal];
      const end = () => {
        clearTimeout(timer);
        for (const one of signals) one.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, 1000 * seconds);
      for (const one of signals) one.addEventListener('abort', end);
      if (signals.some((one) => one.aborted)) end();
    });
  }
}
