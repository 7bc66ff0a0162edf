/** Keeps a panel in front of the page beside its anchor and inside the window, when either moves or grows. */

/** Pixels between a panel and its anchor, and between a panel and the edges of the window. */
const GAP = 4;
const MARGIN = 8;
/** A panel is never lower than this unless its content is: it covers its anchor instead. */
const LEAST_HEIGHT = 120;

interface Extent {
  readonly width: number;
  readonly height: number;
}

/** A point, in pixels. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A point of the window, from the upper left corner of an element. */
export function pointIn(element: Element, { x, y }: Point): Point {
  const { left, top } = element.getBoundingClientRect();
  return { x: x - left, y: y - top };
}

export interface Place {
  readonly left: number;
  readonly top: number;
  readonly maxHeight: number;
}

/** The place of a panel: below its anchor, or above it if it fits only there or has more room. */
export function placeOf(anchor: Pick<DOMRect, 'left' | 'top' | 'bottom'>, panel: Extent, window: Extent): Place {
  const within = (value: number, size: number, extent: number) => Math.max(MARGIN, Math.min(value, extent - size - MARGIN));
  const below = window.height - anchor.bottom - GAP - MARGIN;
  const above = anchor.top - GAP - MARGIN;
  const isBelow = panel.height <= below || below >= above;
  const room = isBelow ? below : above;
  const maxHeight = Math.min(Math.max(room, LEAST_HEIGHT), window.height - 2 * MARGIN);
  const height = Math.min(panel.height, maxHeight);
  return {
    left: within(anchor.left, panel.width, window.width),
    top: within(isBelow ? anchor.bottom + GAP : anchor.top - GAP - height, height, window.height),
    maxHeight,
  };
}

interface BesideOptions {
  readonly tallest?: number;
  /** A point of the anchor, from its upper left corner, that the panel is beside; null: beside the whole anchor. */
  readonly at?: Point | null;
}

function boxOf(anchor: Element, at: Point | null): Pick<DOMRect, 'left' | 'top' | 'bottom'> {
  const box = anchor.getBoundingClientRect();
  return at ? { left: box.left + at.x, top: box.top + at.y, bottom: box.top + at.y } : box;
}

/** Observe the elements around an anchor: with their size, such as below a new notice, it may move. */
export function observeAround(anchor: Element, resizing: ResizeObserver): void {
  for (let around = anchor.parentElement; around; around = around.parentElement) resizing.observe(around);
}

/**
 * Place an open panel. It is placed again with each change of its size, of the window, or of an element around its anchor.
 * Returns how to stop.
 */
export function keepBeside(panel: HTMLElement, anchor: Element, { tallest = Infinity, at = null }: BesideOptions = {}): () => void {
  let box = boxOf(anchor, at);
  const place = () => {
    // The anchor may be drawn again, as the head of a column; then the panel stays beside its last place.
    if (anchor.isConnected) box = boxOf(anchor, at);
    // The height of its whole content, which may be more than it shows.
    const height = Math.min(panel.scrollHeight + panel.offsetHeight - panel.clientHeight, tallest);
    const extent = { width: document.documentElement.clientWidth, height: window.innerHeight };
    const { left, top, maxHeight } = placeOf(box, { width: panel.offsetWidth, height }, extent);
    panel.style.left = `${left}px`;
    panel.style.top = `${top}px`;
    panel.style.maxHeight = `${Math.min(maxHeight, tallest)}px`;
  };
  const scrolled = ({ target }: Event) => {
    if (target instanceof Node && target.contains(anchor)) place();
  };
  const resizing = new ResizeObserver(place);
  resizing.observe(panel);
  observeAround(anchor, resizing);
  window.addEventListener('resize', place);
  window.addEventListener('scroll', scrolled, { capture: true, passive: true });
  place();
  return () => {
    resizing.disconnect();
    window.removeEventListener('resize', place);
    window.removeEventListener('scroll', scrolled, { capture: true });
  };
}
