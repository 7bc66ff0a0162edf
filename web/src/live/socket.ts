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
  readonly renewed?: string;
  readonly error?: { readonly status?: number } | null;
}

const SECOND = 1000;
/** Milliseconds within which a socket has to answer the subscription. */
const PATIENCE = 10 * SECOND;
/** Between two words about where the user looks: the API refuses more than one a second. */
const LOOK = 1.2 * SECOND;
/** The status of a message that came too soon: the API takes 20 at once, and 5 a second. */
const TOO_MANY = 429;
/** Before a refused message is sent again: twice as long each time, and never for all tabs at once. */
const SHORTEST_PAUSE = 0.5 * SECOND;
const LONGEST_PAUSE = 8 * SECOND;
/** Why a socket ended whose user has opened too many newer ones. */
const REPLACED = 'replaced';
/** A socket whose client is silent ends after 8 minutes. */
const STAY = 240 * SECOND;
/** So long before its end a socket is renewed. */
const RENEW_BEFORE = 60 * SECOND;

/** How a conversation ended: it told something at all, it told nothing, or newer sockets of the user took its place. */
export type Ending = 'worked' | 'failed' | 'replaced';

/** Milliseconds before a message that was refused so many times in a row is sent again. */
export function pauseBefore(attempt: number, random: number): number {
  return Math.min(LONGEST_PAUSE, SHORTEST_PAUSE * 2 ** (attempt - 1)) * (0.5 + random / 2);
}

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
    private readonly random: () => number = Math.random,
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

  /** Have told what is behind a cursor, until the socket ends or the signal aborts. Answers how it ended. */
  async follow(since: string, followed: Followed, signal: AbortSignal): Promise<Ending> {
    let ticket: IssuedTicket;
    this.cursor = since;
    try {
      ticket = await this.buyTicket();
      if (signal.aborted) return 'failed';
      return await this.converse(this.open(`${ticket.url}?ticket=${encodeURIComponent(ticket.ticket)}`), ticket, followed, signal);
    } catch {
      return 'failed';
    } finally {
      this.speaking = this.resubscribe = null;
      this.looks.stop();
      followed.people([]);
    }
  }

  private converse(channel: Channel, ticket: IssuedTicket, followed: Followed, signal: AbortSignal): Promise<Ending> {
    return new Promise((resolve) => {
      let subscription = 0;
      let worked = false;
      let isReplaced = false;
      let refusals = 0;
      let retrying: ReturnType<typeof setTimeout> | undefined;
      /** What to do again after the pause, once each. */
      const owed = new Map<string, () => void>();
      let renewing: ReturnType<typeof setTimeout> | undefined;
      const say = (message: object) => channel.send(formatJson(message));
      const subscribe = () => {
        subscription += 1;
        say({ do: 'subscribe', id: `s${subscription}`, since: this.cursor });
      };
      const unsubscribe = (id: string) => say({ do: 'unsubscribe', id });
      const subscribeAnew = () => {
        unsubscribe(`s${subscription}`);
        subscribe();
      };
      /** Do again what the API has refused for now. */
      const again = (what: string, act: () => void) => {
        owed.set(what, act);
        if (retrying !== undefined) return;
        refusals += 1;
        retrying = setTimeout(() => {
          retrying = undefined;
          const acts = [...owed.values()];
          owed.clear();
          for (const one of acts) one();
        }, pauseBefore(refusals, this.random()));
      };
      const end = () => {
        clearTimeout(waiting);
        clearTimeout(renewing);
        clearTimeout(retrying);
        clearInterval(staying);
        signal.removeEventListener('abort', end);
        channel.onopen = channel.onmessage = channel.onclose = null;
        channel.close();
        resolve(isReplaced ? REPLACED : worked ? 'worked' : 'failed');
      };
      const renewAt = (until: string) => {
        renewing = setTimeout(() => void renew(), Math.max(new Date(until).getTime() - Date.now() - RENEW_BEFORE, SECOND));
      };
      let isRenewing = false;
      const renew = async () => {
        clearTimeout(renewing);
        try {
          const next = await this.buyTicket();
          if (signal.aborted) return;
          isRenewing = true;
          say({ do: 'renew', ticket: next.ticket });
          renewAt(next.until);
        } catch {
          // The socket ends with the token, and whoever follows looks then what has become of the session.
        }
      };
      /** A message came too soon. It is known by the subscription that it was about, if there is one. */
      const refused = (id: string | undefined) => {
        if (id === undefined) {
          this.looks.ask();
          if (isRenewing) again('renew', () => void renew());
        } else again(id, () => (id === `s${subscription}` ? subscribe() : unsubscribe(id)));
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
        if (frame.bye !== undefined) {
          isReplaced = frame.bye === REPLACED;
          end();
        } else if (frame.renewed !== undefined) isRenewing = false;
        else if (frame.people) followed.people(frame.people);
        else if (frame.error?.status === TOO_MANY) refused(frame.id);
        else if (frame.id !== `s${subscription}`) return;
        else if (frame.error !== undefined) end();
        else if (frame.items && frame.next !== undefined) {
          if (frame.since !== this.cursor) {
            subscribeAnew();
            return;
          }
          worked = true;
          refusals = 0;
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
