/**
 * Receives the changes of a project by a WebSocket (docs/live.md).
 *
 * A frame that does not continue from the last cursor is ignored, and the subscription restarts with that cursor. So no
 * change is missed or counted twice. However the socket ends, the caller continues with its own cursor.
 */
import { formatJson, parseJson } from '../api/json';
import type { IssuedTicket } from '../api/types';
import { Throttle } from './throttle';
import type { FeedEvent } from './events';

/** A user who has the project open, and the issue that they look at. */
export interface PresentUser {
  readonly user: string;
  readonly name: string;
  readonly num: number | null;
}

/** The parts of a WebSocket that are used here. */
export type Channel = Pick<WebSocket, 'send' | 'close' | 'onopen' | 'onmessage' | 'onclose'>;

export interface SocketListener {
  delivered(items: readonly FeedEvent[], next: string): void;
  people(people: readonly PresentUser[]): void;
  /**
   * Called with a token and a number: reads that carry the token include that many changes, which are delivered next.
   */
  readonly onToken?: ((token: string, changes: number) => void) | undefined;
}

interface Frame {
  readonly id?: string;
  readonly since?: string | null;
  readonly items?: readonly FeedEvent[];
  readonly next?: string;
  readonly token?: string;
  readonly people?: readonly PresentUser[];
  readonly bye?: string;
  readonly renewed?: string;
  readonly error?: { readonly status?: number } | null;
}

const SECOND = 1000;
/** Milliseconds within which a socket must answer the subscription. */
const ANSWER_TIMEOUT = 10 * SECOND;
/** Milliseconds between two reports of where the user looks: the API refuses more than one a second. */
const LOOK = 1.2 * SECOND;
/** The status of a message that came too early: the API takes 20 at once, and 5 a second. */
const TOO_MANY = 429;
/** Milliseconds before a refused message is sent again: twice as long each time, and different for each tab. */
const SHORTEST_PAUSE = 0.5 * SECOND;
const LONGEST_PAUSE = 8 * SECOND;
/** The reason when a socket ends because its user has opened too many newer ones. */
const REPLACED = 'replaced';
/** A socket whose client is silent ends after 8 minutes. */
const STAY = 240 * SECOND;
/** How long before its end a socket is renewed. */
const RENEW_BEFORE = 60 * SECOND;
/** By how much the least wait grows with each ticket of the same token: none is newer yet, or the page's clock is ahead. */
const SAME_TOKEN = 15 * SECOND;
const LONGEST_SAME_TOKEN = 45 * SECOND;

/** How a conversation ended: it delivered something, it delivered nothing, or newer sockets of the user replaced it. */
export type Ending = 'worked' | 'failed' | 'replaced';

/** Milliseconds before a ticket is bought again, by the end of its token, and how often in a row that was the same. */
function untilRenewal(expires: string, sameTokens: number): number {
  const least = sameTokens ? Math.min(sameTokens * SAME_TOKEN, LONGEST_SAME_TOKEN) : SECOND;
  return Math.max(new Date(expires).getTime() - Date.now() - RENEW_BEFORE, least);
}

/** Milliseconds before a message that was refused so many times in a row is sent again. */
export function pauseBefore(attempt: number, random: number): number {
  return Math.min(LONGEST_PAUSE, SHORTEST_PAUSE * 2 ** (attempt - 1)) * (0.5 + random / 2);
}

export class Socket {
  private num: number | null = null;
  private send: ((message: object) => void) | null = null;
  /** The cursor after which changes are to be delivered. */
  private cursor = '';
  /** Restarts the subscription from the cursor. */
  private resubscribe: (() => void) | null = null;
  private readonly looks = new Throttle(LOOK, () => this.sendLook());

  constructor(
    private readonly buyTicket: () => Promise<IssuedTicket>,
    private readonly open: (url: string) => Channel,
    private readonly random: () => number = Math.random,
  ) {}

  /** Report the issue at which the user looks; `null` for none. */
  look(num: number | null): void {
    if (num === this.num) return;
    this.num = num;
    if (this.send) this.looks.ask();
  }

  /** Continue from another cursor, with the socket that is open or about to be. */
  continueFrom(cursor: string): void {
    this.cursor = cursor;
    this.resubscribe?.();
  }

  /** Receive the changes after a cursor, until the socket ends or the signal aborts. Returns how it ended. */
  async follow(since: string, listener: SocketListener, signal: AbortSignal): Promise<Ending> {
    let ticket: IssuedTicket;
    this.cursor = since;
    try {
      ticket = await this.buyTicket();
      if (signal.aborted) return 'failed';
      return await this.converse(this.open(`${ticket.url}?ticket=${encodeURIComponent(ticket.ticket)}`), ticket, listener, signal);
    } catch {
      return 'failed';
    } finally {
      this.send = this.resubscribe = null;
      this.looks.stop();
      listener.people([]);
    }
  }

  private converse(channel: Channel, ticket: IssuedTicket, listener: SocketListener, signal: AbortSignal): Promise<Ending> {
    return new Promise((resolve) => {
      let subscription = 0;
      let worked = false;
      let isReplaced = false;
      let refusals = 0;
      let retrying: ReturnType<typeof setTimeout> | undefined;
      /** Actions to repeat after the pause, once each. */
      const repeats = new Map<string, () => void>();
      let renewing: ReturnType<typeof setTimeout> | undefined;
      let expires = ticket.token_expires;
      let sameTokens = 0;
      let isOver = false;
      const send = (message: object) => channel.send(formatJson(message));
      const subscribe = () => {
        subscription += 1;
        send({ do: 'subscribe', id: `s${subscription}`, since: this.cursor });
      };
      const unsubscribe = (id: string) => send({ do: 'unsubscribe', id });
      const restart = () => {
        unsubscribe(`s${subscription}`);
        subscribe();
      };
      /** Repeat an action that the API has refused for now. */
      const again = (what: string, act: () => void) => {
        repeats.set(what, act);
        if (retrying !== undefined) return;
        refusals += 1;
        retrying = setTimeout(() => {
          retrying = undefined;
          const acts = [...repeats.values()];
          repeats.clear();
          for (const one of acts) one();
        }, pauseBefore(refusals, this.random()));
      };
      const end = () => {
        isOver = true;
        clearTimeout(waiting);
        clearTimeout(renewing);
        clearTimeout(retrying);
        clearInterval(staying);
        signal.removeEventListener('abort', end);
        channel.onopen = channel.onmessage = channel.onclose = null;
        channel.close();
        resolve(isReplaced ? REPLACED : worked ? 'worked' : 'failed');
      };
      const renewLater = () => {
        renewing = setTimeout(() => void renew(), untilRenewal(expires, sameTokens));
      };
      let isRenewing = false;
      const renew = async () => {
        clearTimeout(renewing);
        try {
          const next = await this.buyTicket();
          if (isOver) return;
          isRenewing = true;
          send({ do: 'renew', ticket: next.ticket });
          sameTokens = next.token_expires === expires ? sameTokens + 1 : 0;
          expires = next.token_expires;
          renewLater();
        } catch {
          // The socket ends together with the token; the caller then checks the session.
        }
      };
      /** A message came too early. Its subscription identifies it, if it has one. */
      const refused = (id: string | undefined) => {
        if (id === undefined) {
          this.looks.ask();
          if (isRenewing) again('renew', () => void renew());
        } else again(id, () => (id === `s${subscription}` ? subscribe() : unsubscribe(id)));
      };
      const waiting = setTimeout(() => {
        if (!worked) end();
      }, ANSWER_TIMEOUT);
      const staying = setInterval(() => this.sendLook(), STAY);
      signal.addEventListener('abort', end);
      channel.onopen = () => {
        subscribe();
        this.resubscribe = restart;
        this.send = send;
        this.looks.ask();
        renewLater();
      };
      channel.onclose = end;
      channel.onmessage = ({ data }: MessageEvent<unknown>) => {
        const frame = frameIn(data);
        if (frame.bye !== undefined) {
          isReplaced = frame.bye === REPLACED;
          end();
        } else if (frame.renewed !== undefined) isRenewing = false;
        else if (frame.people) listener.people(frame.people);
        else if (frame.error?.status === TOO_MANY) refused(frame.id);
        else if (frame.id !== `s${subscription}`) return;
        else if (frame.error !== undefined) end();
        else if (frame.items && frame.next !== undefined) {
          if (frame.since !== this.cursor) {
            restart();
            return;
          }
          worked = true;
          refusals = 0;
          this.cursor = frame.next;
          if (frame.token !== undefined) listener.onToken?.(frame.token, frame.items.length);
          listener.delivered(frame.items, frame.next);
        }
      };
    });
  }

  private sendLook(): void {
    this.send?.({ do: 'look', num: this.num });
  }
}

/** The content of a message; empty for an unknown one. */
function frameIn(data: unknown): Frame {
  try {
    const frame: unknown = typeof data === 'string' ? parseJson(data) : null;
    return frame !== null && typeof frame === 'object' ? frame : {};
  } catch {
    return {};
  }
}
