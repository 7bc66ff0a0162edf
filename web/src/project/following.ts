/**
 * Lets the feed continue from the page's reads, so that each change is shown once. A change that an answer counts is
 * not delivered again; all others are.
 */
import type { FeedEvent } from '../live/events';
import { Reading, type Part, type Step } from '../live/reading';

/** The feed, and the parts that show its changes. */
export interface Followed {
  /** Continue from a cursor; null: start now, unless it has started. */
  follow(from: string | null): void;
  /** All changes after a cursor by now; null if they need more than one answer. */
  changesAfter(since: string): Promise<readonly FeedEvent[] | null>;
  /** A part lacks these changes. */
  addMissing(part: Part, events: readonly FeedEvent[]): void;
  /** A part must be read again. */
  reread(part: Part): void;
}

/** Reports the request of a part; the returned function takes the cursor of the answer. */
export type Requested = (part: Part) => (changes: string | null) => void;

export const unfollowed: Requested = () => () => undefined;

export class Following {
  private reading = new Reading();

  constructor(private readonly followed: Followed) {}

  /** Everything on the screen is requested again, from now on. */
  begin(): void {
    this.reading = new Reading();
  }

  /**
   * Everything on the screen is requested again, and is shown in one step. Returns what to call then; without that call
   * nothing changes.
   */
  beginHeld(): () => void {
    const reading = new Reading(true);
    this.reading = reading;
    return () => this.take(reading, reading.shown());
  }

  /** A part is requested now. Returns a function that takes the cursor of its answer. */
  readonly requested: Requested = (part) => {
    const { reading } = this;
    const answered = reading.requested(part);
    return (changes) => this.take(reading, answered(changes));
  };

  private take(reading: Reading, steps: readonly Step[]): void {
    // Another reading has begun by now.
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
          this.followed.reread(step.part);
      }
    }
  }

  /**
   * An answer is from another time: show the changes that it lacks. Changes that it has are delivered once more at
   * worst.
   */
  private async compare(reading: Reading, part: Part, since: string): Promise<void> {
    const events = await this.followed.changesAfter(since).catch(() => null);
    if (reading !== this.reading) return;
    if (events) this.followed.addMissing(part, events);
    else this.followed.reread(part);
  }
}
