/** The issues in some rows of the screen, as a job of the API takes them: any number, held or not. Pure. */
import type { Filter } from '../api/types';
import type { Layout } from './layout';

/** The issues of one query: all that match its filter, or some rows of it. */
export interface Target {
  readonly filter: Filter | null;
  /** Both included, counted from 0 in the order of the view; null: all of them. */
  readonly rows: { readonly from: number; readonly to: number } | null;
  /** Their number at the time of the choice. */
  readonly count: number;
}

/**
 * The greatest number of runs of issues, such as groups, in a selection that jobs change: a project has at most 20 open
 * jobs.
 */
export const MAX_TARGETS = 10;

/**
 * The rows of the screen from one to another, both included: a target for each run that they touch, without the heads
 * of groups.
 */
export function targetsOf(layout: Layout, first: number, last: number): readonly Target[] {
  const targets: Target[] = [];
  let start = 0;
  for (const piece of layout.pieces) {
    const length = piece.kind === 'group' ? 1 : piece.run.count;
    if (piece.kind === 'run') {
      const from = Math.max(first - start, 0);
      const to = Math.min(last - start, length - 1);
      const { filter } = piece.run;
      if (from <= to) targets.push({ filter, rows: from === 0 && to === length - 1 ? null : { from, to }, count: to - from + 1 });
    }
    start += length;
  }
  return targets;
}

/** Values of one `in`, and the most issues that one filter can name: it has up to 50 conditions. */
const IN = 200;
export const MAX_NAMED = 50 * IN;

/** The filter of these issues, at most `MAX_NAMED`, by their numbers. */
export function filterOfNums(nums: readonly number[]): Filter {
  const parts: Filter[] = [];
  for (let start = 0; start < nums.length; start += IN) parts.push({ field: 'num', op: 'in', value: nums.slice(start, start + IN) });
  const [only] = parts;
  return only && parts.length === 1 ? only : { or: parts };
}

/** These issues as the target of a job, wherever they are in the order. */
export function targetOfNums(nums: readonly number[]): Target {
  return { filter: filterOfNums(nums), rows: null, count: nums.length };
}

export function countOf(targets: readonly Target[]): number {
  return targets.reduce((sum, { count }) => sum + count, 0);
}
