/**
 * The next match of a search: among the loaded rows by their cells, and among all rows by the numbers of matches. Pure.
 */
import type { Row } from '../fields/values';
import type { Layout } from '../rows/layout';
import type { Slot } from '../rows/store';
import type { Cell } from './range';

/** Forward or backward. */
export type Step = 1 | -1;

export interface SearchedRows {
  /** The number of rows of the screen. */
  readonly length: number;
  readonly at: (row: number) => Slot;
  /** The columns of a row with a match, from the left. */
  readonly columnsOf: (row: Row) => readonly number[];
}

/** The cell before all cells, or after them, from which a search of all rows begins. */
export function beforeAll({ length }: Pick<SearchedRows, 'length'>, step: Step): Cell {
  return step > 0 ? { row: 0, column: -1 } : { row: length - 1, column: Infinity };
}

/** The next matching cell after one; null without any up to the end; undefined if a row before it is not loaded. */
export function nextCell({ length, at, columnsOf }: SearchedRows, from: Cell, step: Step): Cell | null | undefined {
  for (let row = from.row; row >= 0 && row < length; row += step) {
    const slot = at(row);
    if (slot.kind === 'loading' || slot.kind === 'failed') return undefined;
    if (slot.kind !== 'issue') continue;
    const columns = columnsOf(slot.row).filter((column) => row !== from.row || (column - from.column) * step > 0);
    const column = step > 0 ? columns[0] : columns.at(-1);
    if (column !== undefined) return { row, column };
  }
  return null;
}

/** The number of runs that begin before a row of the screen, without the run that the row belongs to. */
export function runsBefore({ pieces }: Layout, row: number): number {
  let runs = 0;
  let end = 0;
  for (const piece of pieces) {
    end += piece.kind === 'group' ? 1 : piece.run.count;
    if (row < end) return runs;
    if (piece.kind === 'run') runs += 1;
  }
  return runs;
}

/** The place of an issue among the matches. */
export interface AmongMatches {
  readonly run: number;
  /** The matches before it in its run. */
  readonly before: number;
  /** Whether it is one itself. */
  readonly matches: boolean;
}

export interface NextMatch {
  readonly run: number;
  /** Its number among the matches of its run, from 0. */
  readonly offset: number;
  /** Whether the search has continued from the other end. */
  readonly wrapped: boolean;
}

/** The number of an issue among all matches, from 0: of itself, or of the first after it. */
export function indexOfMatch(counts: readonly number[], { run, before }: AmongMatches): number {
  return sumOf(counts.slice(0, run)) + before;
}

/** The next match after an issue, or before it; null without matches. `counts`: the matches of each run. */
export function nextMatch(counts: readonly number[], here: AmongMatches, step: Step): NextMatch | null {
  const total = sumOf(counts);
  if (!total) return null;
  const wanted = indexOfMatch(counts, here) + (step < 0 ? -1 : here.matches ? 1 : 0);
  let offset = ((wanted % total) + total) % total;
  const run = counts.findIndex((count) => {
    if (offset < count) return true;
    offset -= count;
    return false;
  });
  return { run, offset, wrapped: wanted < 0 || wanted >= total };
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
