/**
 * The cards of a column as they are drawn. Cards that have just left are not among them, and cards that have just arrived
 * are. Pure.
 */

/** A card that is not in the run yet. */
export interface Arrival {
  readonly num: number;
  /** The offset of the issue of the run before which it is. */
  readonly before: number;
}

/** A card: the issue at an offset of the run, or one that has arrived. */
export type Card = { readonly kind: 'offset'; readonly offset: number } | { readonly kind: 'arrived'; readonly num: number };

type Segment =
  | { readonly kind: 'offset'; readonly start: number; readonly offset: number; readonly length: number }
  | { readonly kind: 'arrived'; readonly start: number; readonly num: number };

export class Lane {
  readonly length: number;
  private readonly segments: readonly Segment[];

  /** `count` issues of the run, without those at the offsets in `left`. */
  constructor(count: number, left: readonly number[] = [], arrivals: readonly Arrival[] = []) {
    const segments: Segment[] = [];
    let start = 0;
    let offset = 0;
    const runTo = (end: number) => {
      if (end > offset) segments.push({ kind: 'offset', start, offset, length: end - offset });
      start += Math.max(0, end - offset);
      offset = Math.max(offset, end);
    };
    const arriving = [...arrivals].sort((a, b) => a.before - b.before);
    const arriveTo = (end: number) => {
      for (let next = arriving[0]; next && next.before <= end; next = arriving[0]) {
        arriving.shift();
        runTo(next.before);
        segments.push({ kind: 'arrived', start, num: next.num });
        start += 1;
      }
    };
    for (const gone of [...left].filter((one) => one < count).sort((a, b) => a - b)) {
      arriveTo(gone);
      runTo(gone);
      offset = gone + 1;
    }
    arriveTo(count);
    runTo(count);
    for (const { num } of arriving) {
      segments.push({ kind: 'arrived', start, num });
      start += 1;
    }
    this.segments = segments;
    this.length = start;
  }

  /** The card at a place from the top; undefined beyond the end. */
  at(place: number): Card | undefined {
    const segment = this.segments[this.segmentAt(place)];
    if (!segment || place < 0 || place >= this.length) return undefined;
    return segment.kind === 'arrived' ? segment : { kind: 'offset', offset: segment.offset + place - segment.start };
  }

  /** The place of a card that has arrived, or of the issue at an offset; undefined if it is not drawn. */
  placeOf(card: Card): number | undefined {
    for (const segment of this.segments) {
      if (segment.kind === 'arrived') {
        if (card.kind === 'arrived' && card.num === segment.num) return segment.start;
      } else if (card.kind === 'offset' && card.offset >= segment.offset && card.offset < segment.offset + segment.length) {
        return segment.start + card.offset - segment.offset;
      }
    }
    return undefined;
  }

  /** The offset in the run of the first issue from a place on; the end of the run if there is none. */
  offsetFrom(place: number): number {
    for (const segment of this.segments.slice(Math.max(0, this.segmentAt(place)))) {
      if (segment.kind === 'offset') return segment.offset + Math.max(0, place - segment.start);
    }
    const last = this.segments.findLast(({ kind }) => kind === 'offset');
    return last?.kind === 'offset' ? last.offset + last.length : 0;
  }

  private segmentAt(place: number): number {
    let low = 0;
    let high = this.segments.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.segments[middle]?.start ?? Infinity) <= place) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
