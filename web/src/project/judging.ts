/**
 * Keeps the colors of rows by rules up to date. Rows come judged. Those in view that have changed since, by anyone, are
 * judged again: a few at a time, in one request.
 */
import { Throttle } from '../live/throttle';
import type { Judged, Row } from '../fields/values';
import { isOutdated, withJudged, type Ruling } from '../view/rules';

const PAUSE = 300;
/** Requests for a version of an issue: an answer may be older than the change that has just been shown. */
const MAX_REQUESTS = 5;

export interface JudgedRows {
  /** The issues in view, without the ones that are being read again. */
  inView(): readonly Row[];
  replace(num: number, change: (row: Row) => Row): void;
  onChange(listener: () => void): () => void;
}

/** Judges issues by rules. Issues that it does not find are left out. */
export type Judge = (ruling: Ruling, nums: readonly number[]) => Promise<ReadonlyMap<number, Judged>>;

export class Judging {
  private readonly looking = new Throttle(PAUSE, () => void this.judgeOutdated());
  private readonly requests = new Map<number, { readonly version: number; readonly count: number }>();
  private isRunning = false;
  private readonly unlisten: () => void;

  constructor(
    private readonly rows: JudgedRows,
    private readonly rulingNow: () => Ruling,
    private readonly judge: Judge,
  ) {
    this.unlisten = rows.onChange(() => this.look());
  }

  /** Other rows are in view, or they have changed. */
  look(): void {
    if (this.rulingNow().filters.size) this.looking.ask();
  }

  stop(): void {
    this.unlisten();
    this.looking.stop();
  }

  private async judgeOutdated(): Promise<void> {
    if (this.isRunning) return;
    const ruling = this.rulingNow();
    const outdated = this.rows.inView().filter((row) => isOutdated(row, ruling) && this.mayRequest(row));
    if (!outdated.length) return;
    this.isRunning = true;
    try {
      const judged = await this.judge(ruling, outdated.map(({ num }) => num));
      for (const { num, version } of outdated) this.requests.set(num, { version, count: this.countOf(num, version) + 1 });
      // Rows are read again if there are other rules by now.
      if (ruling === this.rulingNow()) for (const [num, one] of judged) this.rows.replace(num, (row) => withJudged(row, one));
      this.look();
    } catch {
      // The next change, or the next scroll, tries again.
    } finally {
      this.isRunning = false;
    }
  }

  private mayRequest({ num, version }: Row): boolean {
    return this.countOf(num, version) < MAX_REQUESTS;
  }

  private countOf(num: number, version: number): number {
    const made = this.requests.get(num);
    return made?.version === version ? made.count : 0;
  }
}
