/** Keeps the colors of rows by rules up to date. Rows come judged, and changed rows are judged again. */
import type { Judged } from '../fields/values';
import { isOutdated, withJudged, type Ruling } from '../view/rules';
import { Renewing, type RenewedRows } from './renewing';

/** Judges issues by rules. Issues that it does not find are left out. */
export type Judge = (ruling: Ruling, nums: readonly number[]) => Promise<ReadonlyMap<number, Judged>>;

export class Judging extends Renewing {
  constructor(rows: RenewedRows, rulingNow: () => Ruling, judge: Judge) {
    super(rows, {
      isNeeded: () => rulingNow().filters.size > 0,
      isOutdated: (row) => isOutdated(row, rulingNow()),
      read: async (nums) => {
        const ruling = rulingNow();
        const judged = await judge(ruling, nums);
        // Rows are read again if there are other rules by now.
        return ruling === rulingNow() ? new Map([...judged].map(([num, one]) => [num, (row) => withJudged(row, one)])) : new Map();
      },
    });
  }
}
