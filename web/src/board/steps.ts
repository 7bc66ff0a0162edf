/** Where the arrow keys lead on a board. Pure. */
import type { Anchor } from '../edits/placing';

/** A card: its column among the shown ones, and its place from the top. */
export interface Spot {
  readonly column: number;
  readonly place: number;
}

/** What the keys know of a column. */
export interface Extent {
  readonly count: number;
  /** The first card in view: cards at one height are beside each other. */
  readonly top: number;
}

/** The card to which a key leads from another; null for other keys, and at an edge. `page`: the cards of a page. */
export function stepped(key: string, { column, place }: Spot, columns: readonly Extent[], page: number): Spot | null {
  const here = columns[column];
  const last = Math.max(0, (here?.count ?? 0) - 1);
  const down = (to: number): Spot | null => {
    const next = Math.max(0, Math.min(last, to));
    return next === place ? null : { column, place: next };
  };
  const beside = (by: -1 | 1): Spot | null => {
    const there = columns[column + by];
    if (!there) return null;
    const wanted = place - (here?.top ?? 0) + there.top;
    return { column: column + by, place: Math.max(0, Math.min(there.count - 1, wanted)) };
  };
  switch (key) {
    case 'ArrowUp':
      return down(place - 1);
    case 'ArrowDown':
      return down(place + 1);
    case 'PageUp':
      return down(place - page);
    case 'PageDown':
      return down(place + page);
    case 'Home':
      return down(0);
    case 'End':
      return down(last);
    case 'ArrowLeft':
      return beside(-1);
    case 'ArrowRight':
      return beside(1);
    default:
      return null;
  }
}

/** The column over which a carried card comes by an arrow key; null for other keys, and at an edge. */
export function carriedTo(key: string, column: number, columns: number): number | null {
  const next = key === 'ArrowLeft' ? column - 1 : key === 'ArrowRight' ? column + 1 : key === 'Home' ? 0 : key === 'End' ? columns - 1 : column;
  return next === column || next < 0 || next >= columns ? null : next;
}

/**
 * The next gap above or below one in a column, as the place of the card after it; null at an edge. The gaps around the carried
 * card, at `own`, are one.
 */
export function gapBeyond(gap: number, by: -1 | 1, own: number | null, count: number): number | null {
  const from = own !== null && gap === own + 1 ? own : gap;
  const next = from === own && by > 0 ? own + 2 : from + by;
  const settled = next === (own ?? NaN) + 1 ? (own ?? 0) : next;
  return settled < 0 || settled > count ? null : settled;
}

/** The card beside which cards go that move by one in their column; null if there is none. `places`: theirs. `numAt`: the loaded card at a place. */
export function anchorBeyond(places: readonly number[], by: -1 | 1, numAt: (place: number) => number | null): Anchor | null {
  const beside = numAt(by < 0 ? Math.min(...places) - 1 : Math.max(...places) + 1);
  if (beside === null) return null;
  return by < 0 ? { before: beside } : { after: beside };
}
