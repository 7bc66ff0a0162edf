/** Has the feed go on from what the page has read, so that each change is shown once: what an answer counts is not told again, and all else is. */
import type { FeedEvent } from '../live/events';
import { Reading, type Part, type Step } from '../live/reading';

/** What is asked of the feed, and of what shows its changes. */
export interface Followed {
  /** Go on from a cursor; null: begin now, unless it has begun. */
  follow(from: string | null): void;
  /** All that is behind a cursor by now; null: more than one answer tells. */
  behind(since: string): Promise<readonly FeedEvent[] | null>;
  /** A part lacks these changes. */
  lacks(part: Part, events: readonly FeedEvent[]): void;
  /** A part has to be read anew. */
  owe(part: Part): void;
}

/** A part is asked for; what it returns takes the cursor of the answer. */
export type Asks = (part: Part) => (changes: string | null) => void;

export const unfollowed: Asks = () => () => undefined;

export class Following {
  private reading = new Reading();

  constructor(private readonly followed: Followed) {}

  /** All that is shown is asked for anew, from now on. */
  begin(): void {
    this.reading = new Reading();
  }

  /** All that is shown is asked for anew, and is shown in one step. Returns what to call then; if it never is, all stays as it was. */
  beginHeld(): () => void {
    const reading = new Reading(true);
    this.reading = reading;
    return () => this.take(reading, reading.shown());
  }

  /** A part is asked for now; returns what takes the cursor of its answer. */
  readonly asks: Asks = (part) => {
    const { reading } = this;
    const answered = reading.asks(part);
    return (changes) => this.take(reading, answered(changes));
  };

  private take(reading: Reading, steps: readonly Step[]): void {
    // Something else is being read by now.
    if (reading !== this.reading) return;
    for (const step of steps) {
      switch (step.do) {
        case 'follow':
          this.followed.follow(step.from);
          break;
        case 'compare':
          void this.compare(reading, step.part, step.since);
          break;
        case 'reread':
          this.followed.owe(step.part);
      }
    }
  }

  /** An answer is of another age: have shown what it lacks. What it has already is told by the feed at worst, and read once more. */
  private async compare(reading: Reading, part: Part, since: string): Promise<void> {
    const events = await this.followed.behind(since).catch(() => null);
    if (reading !== this.reading) return;
    if (events) this.followed.lacks(part, events);
    else this.followed.owe(part);
  }
}
