/** Reads again when the clock gives the filter another meaning: at midnight for “today”, each minute for “now”. */
import type { Filter } from '../api/types';
import { untilTurn } from '../view/relative';

const SECOND = 1000;
/** Milliseconds after the turn: the clocks of the page and of the API differ a little. */
const LATE = 2 * SECOND;
/** Milliseconds over which the pages of all users spread their reads. */
const SPREAD = 8 * SECOND;
/** Milliseconds from a turn until each read. By a clock that is ahead, the API has the turn later. */
const AFTER = [0, 300 * SECOND, 1800 * SECOND] as const;

export class Turning {
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly turned: () => void,
    private readonly random: () => number = Math.random,
  ) {}

  /** This is the filter now. */
  watch(filter: Filter | null): void {
    this.stop();
    const now = Date.now();
    const left = Math.min(...AFTER.map((after) => untilTurn(filter, now - after) ?? Infinity));
    if (left === Infinity) return;
    this.timer = setTimeout(() => {
      this.watch(filter);
      this.turned();
    }, left + LATE + SPREAD * this.random());
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}
