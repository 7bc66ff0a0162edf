/** Which cards of a column are drawn, and where. Cards have one height, so that no card has to be measured. Pure. */

/** The greatest height of an element in pixels that all browsers draw. */
const MAX_HEIGHT = 15_000_000;

/** Cards that are drawn above and below the ones in view. */
const SPARE = 3;

export interface Column {
  readonly count: number;
  /** Pixels from the top of a card to that of the next. */
  readonly pitch: number;
}

/** The height of the scrolled element. Beyond the limit of browsers, the scroll bar moves by less than the cards do. */
export function heightOf({ count, pitch }: Column): number {
  return Math.min(MAX_HEIGHT, count * pitch);
}

/** Whether the scroll bar moves by less than the cards do. */
export function isStretched(column: Column): boolean {
  return column.count * column.pitch > heightOf(column);
}

/** The pixels of the cards above the view. */
export function offsetAt(column: Column, scrolled: number, view: number): number {
  const whole = column.count * column.pitch;
  const height = heightOf(column);
  if (whole <= height) return scrolled;
  return (Math.min(scrolled, height - view) / (height - view)) * (whole - view);
}

/** The place of the scroll bar that has these pixels above the view. */
export function scrolledTo(column: Column, offset: number, view: number): number {
  const whole = column.count * column.pitch;
  const height = heightOf(column);
  const bounded = Math.max(0, Math.min(offset, whole - view));
  return whole <= height ? bounded : (bounded / (whole - view)) * (height - view);
}

export interface Drawn {
  /** Places of cards, both included; the last is less than the first if there is none. */
  readonly first: number;
  readonly last: number;
  /** The place of the first card that is at least partly in view. */
  readonly top: number;
}

export function drawn(column: Column, scrolled: number, view: number): Drawn {
  const offset = offsetAt(column, scrolled, view);
  const top = Math.max(0, Math.min(column.count - 1, Math.floor(offset / column.pitch)));
  const bottom = Math.floor((offset + view) / column.pitch);
  return { first: Math.max(0, top - SPARE), last: Math.min(column.count - 1, bottom + SPARE), top };
}

/** The top of a card in the scrolled element. */
export function topOf(column: Column, place: number, scrolled: number, view: number): number {
  return place * column.pitch - offsetAt(column, scrolled, view) + scrolled;
}

/** The place of the scroll bar that has a card in view, and changes least. */
export function revealing(column: Column, place: number, scrolled: number, view: number): number {
  const offset = offsetAt(column, scrolled, view);
  const top = place * column.pitch;
  const bottom = top + column.pitch;
  if (top < offset) return scrolledTo(column, top, view);
  return bottom > offset + view ? scrolledTo(column, bottom - view, view) : scrolled;
}

/** The place before which a card goes that is dropped so many pixels below the top of the view: the nearest gap. */
export function placeAt(column: Column, y: number, scrolled: number, view: number): number {
  const gap = Math.round((offsetAt(column, scrolled, view) + y) / column.pitch);
  return Math.max(0, Math.min(column.count, gap));
}
