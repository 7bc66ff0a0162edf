/** The placements that put rows back where they are now. Pure. */
import type { Placing } from '../edits/placing';

/** A row that is about to be placed: its run, and its offset there. */
export interface Spot {
  readonly num: number;
  readonly run: string;
  readonly offset: number;
}

/**
 * Place rows back: each block of rows that are beside each other after the row before it, or else before the one after it.
 * `at` returns the issue at an offset of a run; null if none is known.
 */
export function placingsBack(spots: readonly Spot[], at: (run: string, offset: number) => number | null): readonly Placing[] {
  const blocks: Spot[][] = [];
  for (const spot of [...spots].sort((a, b) => (a.run < b.run ? -1 : a.run > b.run ? 1 : a.offset - b.offset))) {
    const block = blocks.at(-1);
    const last = block?.at(-1);
    if (block && last?.run === spot.run && last.offset + 1 === spot.offset) block.push(spot);
    else blocks.push([spot]);
  }
  return blocks.flatMap((block): Placing[] => {
    const [first, last] = [block[0], block.at(-1)];
    if (!first || !last) return [];
    const nums = block.map(({ num }) => num);
    const before = at(first.run, first.offset - 1);
    if (before !== null) return [{ nums, anchor: { after: before } }];
    const after = at(last.run, last.offset + 1);
    return after === null ? [] : [{ nums, anchor: { before: after } }];
  });
}
