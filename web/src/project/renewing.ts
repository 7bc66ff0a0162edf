/**
 * Keeps parts of rows up to date that only the API knows. Rows in view that are outdated are read again: a few at a time,
 * in one request.
 */
import { Throttle } from '../live/throttle';
import type { Row } from '../fields/values';

const PAUSE = 300;
/** Requests for a version of an issue: an answer may be older than the change that has just been shown. */
const MAX_REQUESTS = 5;

export interface RenewedRows {
  /** The issues in view, without the ones that are being read again. */
  inView(): readonly Row[];
  replace(num: number, change: (row: Row) => Row): void;
  onChange(listener: () => void): () => void;
}

export interface Renewal {
  /** Whether rows have such a part at all. */
  isNeeded(): boolean;
  isOutdated(row: Row): boolean;
  /** Reads issues. Returns how to renew the row of each issue that was found. */
  read(nums: readonly number[]): Promise<ReadonlyMap<number, (row: Row) => Row>>;
}

export class Renewing {
  private readonly looking = new Throttle(PAUSE, () => void this.renew());
  private readonly requests = new Map<number, { readonly version: number; readonly count: number }>();
  private isRunning = false;
  private readonly unlisten: () => void;

  constructor(
    private readonly rows: RenewedRows,
    private readonly renewal: Renewal,
  ) {
    this.unlisten = rows.onChange(() => this.look());
  }

  /** Other rows are in view, or they have changed. */
  look(): void {
    if (this.renewal.isNeeded()) this.looking.ask();
  }

  stop(): void {
    this.unlisten();
    this.looking.stop();
  }

  private async renew(): Promise<void> {
    if (this.isRunning) return;
    const outdated = this.rows.inView().filter((row) => this.renewal.isOutdated(row) && this.mayRequest(row));
    if (!outdated.length) return;
    this.isRunning = true;
    try {
      const renewed = await this.renewal.read(outdated.map(({ num }) => num));
      for (const { num, version } of outdated) this.requests.set(num, { version, count: this.countOf(num, version) + 1 });
      for (const [num, change] of renewed) this.rows.replace(num, change);
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
