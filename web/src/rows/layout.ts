/**
 * The content of each row of the screen: a run of issues, or the head of a group. Pure.
 *
 * A grid without groups is one run. With groups, the counts give the length of each run before any of its issues is
 * known.
 */
import type { Filter } from '../api/types';
import type { CellValue, GroupValue } from '../fields/values';
import type { SummaryFunction } from '../view/footers';

/** A run of issues that one query answers: its filter, and how many match. */
export interface Run {
  readonly key: string;
  readonly filter: Filter | null;
  readonly count: number;
}

/** The key of the run of issues that were added here and are not yet in their place in the sort. */
export const ADDED = 'added';

export interface Group {
  /** Distinguishes the group from all others, also in an address. */
  readonly key: string;
  readonly depth: number;
  readonly field: string;
  readonly value: GroupValue;
  /** Its values by all group fields, from the outermost on; the last is its own. */
  readonly values: readonly GroupValue[];
  /** The filter that selects its issues; null if no request can. */
  readonly filter: Filter | null;
  readonly count: number;
  readonly open: boolean;
  readonly figures: readonly GroupFigure[];
}

/** Some issues of a run: from an offset to another, both included. */
export interface Part {
  readonly run: Run;
  readonly first: number;
  readonly last: number;
}

/** A figure of a group's numbers, such as the sum of their costs. */
export interface GroupFigure {
  readonly field: string;
  readonly fn: SummaryFunction;
  readonly value: CellValue;
}

export type Place =
  | { readonly kind: 'group'; readonly group: Group }
  | { readonly kind: 'issue'; readonly run: Run; readonly offset: number };

export type Piece = { readonly kind: 'group'; readonly group: Group } | { readonly kind: 'run'; readonly run: Run };

/** The head of a group, with its row of the screen, and the row after the last one of its group. */
export interface HeadOver {
  readonly group: Group;
  readonly row: number;
  readonly end: number;
}

/** The key of the run that has the issues of an innermost group. */
export function runKeyOf(group: string): string {
  return `/${group}`;
}

export class Layout {
  readonly length: number;
  private readonly starts: readonly number[];
  /** For each piece, the heads over it, from the outermost on. Found when they are first needed. */
  private over: readonly (readonly HeadOver[])[] | null = null;

  constructor(readonly pieces: readonly Piece[]) {
    const starts: number[] = [];
    let start = 0;
    for (const piece of pieces) {
      starts.push(start);
      start += piece.kind === 'group' ? 1 : piece.run.count;
    }
    this.starts = starts;
    this.length = start;
  }

  static ofOneRun(filter: Filter | null, count: number): Layout {
    return new Layout([{ kind: 'run', run: { key: '', filter, count } }]);
  }

  /** The content of a row of the screen; undefined beyond the end. */
  at(index: number): Place | undefined {
    const found = this.pieceAt(index);
    const piece = this.pieces[found];
    if (!piece) return undefined;
    return piece.kind === 'group' ? piece : { kind: 'issue', run: piece.run, offset: index - (this.starts[found] ?? 0) };
  }

  /** The heads of the groups that a row of the screen is in, from the outermost on. A head is in its own group. */
  headsOver(index: number): readonly HeadOver[] {
    this.over ??= this.findHeads();
    return this.over[this.pieceAt(index)] ?? [];
  }

  /** The issues in the rows of the screen from one to another, both included. */
  parts(first: number, last: number): readonly Part[] {
    return this.pieces.flatMap((piece, place): Part[] => {
      if (piece.kind === 'group') return [];
      const start = this.starts[place] ?? 0;
      const from = Math.max(first - start, 0);
      const to = Math.min(last - start, piece.run.count - 1);
      return from <= to ? [{ run: piece.run, first: from, last: to }] : [];
    });
  }

  /** The run with a key. */
  run(key: string): Run | undefined {
    for (const piece of this.pieces) if (piece.kind === 'run' && piece.run.key === key) return piece.run;
    return undefined;
  }

  /** The row of the screen that contains an issue of a run. */
  indexOf(run: string, offset: number): number | undefined {
    const piece = this.pieces.findIndex((one) => one.kind === 'run' && one.run.key === run);
    const start = this.starts[piece];
    return start === undefined ? undefined : start + offset;
  }

  /** The place of the piece that has a row of the screen; -1 beyond the end. */
  private pieceAt(index: number): number {
    if (index < 0 || index >= this.length) return -1;
    let low = 0;
    let high = this.starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.starts[middle] ?? Infinity) <= index) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  private findHeads(): readonly (readonly HeadOver[])[] {
    let open: { readonly group: Group; readonly row: number; end: number }[] = [];
    return this.pieces.map((piece, place) => {
      const row = this.starts[place] ?? 0;
      if (piece.kind === 'group') open = [...open.slice(0, piece.group.depth), { group: piece.group, row, end: row }];
      // Issues that were added here are below all groups, and in none.
      else if (piece.run.key !== runKeyOf(open.at(-1)?.group.key ?? '')) open = [];
      const end = this.starts[place + 1] ?? this.length;
      for (const head of open) head.end = end;
      return open;
    });
  }
}
