/**
 * Has the changes of a project told by a WebSocket (docs/live.md). A frame that does not go on from the last cursor is left aside, and the subscription begins anew with that
 * cursor; so nothing is missed and nothing counts twice. Whatever ends the socket, who asked goes on with the cursor it has.
 */
import { formatJson, parseJson } from '../api/json';
import type { IssuedTicket } from '../api/types';
import { AtMost } from './at-most';
import type { FeedEvent } from './events';

/** Somebody who has the project open, and the issue that they look at. */
export interface Looker {
  readonly user: string;
  readonly name: string;
  readonly num: number | null;
}

/** What is needed of a WebSocket. */
export type Channel = Pick<WebSocket, 'send' | 'close' | 'onopen' | 'onmessage' | 'onclose'>;

export interface Followed {
  told(items: readonly FeedEvent[], next: string): void;
  people(people: readonly Looker[]): void;
  /** Reads that carry this token hold the changes that are told next, so many. */
  readonly holds?: ((token: string, changes: number) => void) | undefined;
}

interface Frame {
  readonly id?: string;
  readonly since?: string | null;
  readonly items?: readonly FeedEvent[];
  readonly next?: string;
  readonly token?: string;
  readonly people?: readonly Looker[];
  readonly bye?: string;
  readonly error?: { readonly status?: number } | null;
}

const SECOND = 1000;
/** Milliseconds within which a socket has to answer the subscription. */
const PATIENCE = 10 * SECOND;
/** Between two words about where the user looks: the API refuses more than one a second. */
const LOOK = 1.2 * SECOND;
/** The status of what was said too soon. */
const TOO_MANY = 429;
/** A socket whose client is silent ends after 8 minutes. */
const STAY = 240 * SECOND;
/** So long before its end a socket is renewed. */
const RENEW_BEFORE = 60 * SECOND;

export class Socket {
  private num: number | null = null;
  private speaking: ((message: object) => void) | null = null;
  /** Behind it is what is to be told. */
  private cursor = '';
  /** Has told what is behind the cursor. */
  private resubscribe: (() => void) | null = null;
  private readonly looks = new AtMost(LOOK, () => this.sayLook());

  constructor(
    private readonly buyTicket: () => Promise<IssuedTicket>,
    private readonly open: (url: string) => Channel,
  ) {}

  /** Say at which issue the user looks; `null`: at none. */
  look(num: number | null): void {
    if (num === this.num) return;
    this.num = num;
    if (this.speaking) this.looks.ask();
  }

  /** Have told what is behind another cursor from now on, by the socket that is open or about to be. */
  goOn(cursor: string): void {
    this.cursor = cursor;
    this.resubscribe?.();
  }

  /** Have told what is behind a cursor, until the socket ends or the signal aborts. Answers whether it told anything at all. */
  async follow(since: string, followed: Followed, signal: AbortSignal): Promise<boolean> {
    let ticket: IssuedTicket;
    this.cursor = since;
    try {
      ticket = await this.buyTicket();
      if (signal.aborted) return false;
      return await this.converse(this.open(`${ticket.url}?ticket=${encodeURIComponent(ticket.ticket)}`), ticket, followed, signal);
    } catch {
      return false;
    } finally {
      this.speaking = this.resubscribe = null;
      this.looks.stop();
      followed.people([]);
    }
  }

  private converse(channel: Channel, ticket: IssuedTicket, followed: Followed, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      let subscription = 0;
      let worked = false;
      let renewing: ReturnType<typeof setTimeout> | undefined;
      const say = (message: object) => channel.send(formatJson(message));
      const subscribe = () => {
        subscription += 1;
        say({ do: 'subscribe', id: `s${subscription}`, since: this.cursor });
      };
      const subscribeAnew = () => {
        say({ do: 'unsubscribe', id: `s${subscription}` });
        subscribe();
      };
      const end = () => {
        clearTimeout(waiting);
        clearTimeout(renewing);
        clearInterval(staying);
        signal.removeEventListener('abort', end);
        channel.onopen = channel.onmessage = channel.onclose = null;
        channel.close();
        resolve(worked);
      };
      const renewAt = (until: string) => {
        renewing = setTimeout(() => void renew(), Math.max(new Date(until).getTime() - Date.now() - RENEW_BEFORE, SECOND));
      };
      const renew = async () => {
        try {
          const next = await this.buyTicket();
          if (signal.aborted) return;
          say({ do: 'renew', ticket: next.ticket });
          renewAt(next.until);
        } catch {
          // The socket ends with the token, and whoever follows looks then what has become of the session.
        }
      };
      const waiting = setTimeout(() => {
        if (!worked) end();
      }, PATIENCE);
      const staying = setInterval(() => this.sayLook(), STAY);
      signal.addEventListener('abort', end);
      channel.onopen = () => {
        subscribe();
        this.resubscribe = subscribeAnew;
        this.speaking = say;
        this.looks.ask();
        renewAt(ticket.until);
      };
      channel.onclose = end;
      channel.onmessage = ({ data }: MessageEvent<unknown>) => {
        const frame = frameIn(data);
        if (frame.bye !== undefined) end();
        else if (frame.people) followed.people(frame.people);
        // It came too soon behind the one before. What is refused is not told by itself.
        else if (frame.id === undefined && frame.error?.status === TOO_MANY) this.looks.ask();
        else if (frame.id !== `s${subscription}`) return;
        else if (frame.error !== undefined) end();
        else if (frame.items && frame.next !== undefined) {
          if (frame.since !== this.cursor) {
            subscribeAnew();
            return;
          }
          worked = true;
          this.cursor = frame.next;
          if (frame.token !== undefined) followed.holds?.(frame.token, frame.items.length);
          followed.told(frame.items, frame.next);
        }
      };
    });
  }

  private sayLook(): void {
    this.speaking?.({ do: 'look', num: this.num });
  }
}

/** What a message says; nothing where it is none of ours. */
function frameIn(data: unknown): Frame {
  try {
    const frame: unknown = typeof data === 'string' ? parseJson(data) : null;
    return frame !== null && typeof frame === 'object' ? frame : {};
  } catch {
    return {};
  }
}
