/**
 * Opens the menu of what is pressed: by the right button of a mouse, as the browser reports it, and by a finger that
 * rests. Not every browser reports such a finger.
 */
import type { Point } from '../place';
import { isTyping } from './typing';

/** Milliseconds that a finger rests, and pixels by which it may move meanwhile. */
const LONG = 500;
const STILL = 10;

export interface ContextOptions<Pressed> {
  readonly host: HTMLElement;
  /** What has a menu at an element. */
  readonly find: (element: Element) => Pressed | null;
  /** Open the menu of it, at a point of the window. */
  readonly open: (pressed: Pressed, at: Point) => void;
  /** A finger rests on it, and its menu is about to open. */
  readonly rested?: (pressed: Pressed) => void;
}

/** Listen for menus. Returns how to stop. */
export function followContext<Pressed>({ host, find, open, rested }: ContextOptions<Pressed>): () => void {
  const stop = new AbortController();
  let finger: { readonly id: number; readonly at: Point; readonly timer: ReturnType<typeof setTimeout> } | null = null;
  /** Whether the finger that is down has opened a menu. */
  let isOpened = false;

  const foundAt = (target: EventTarget | null): Pressed | null => (target instanceof Element && !isTyping(target) ? find(target) : null);
  const release = () => {
    if (finger) clearTimeout(finger.timer);
    finger = null;
  };
  const rest = (found: Pressed, at: Point) => {
    finger = null;
    isOpened = true;
    rested?.(found);
    open(found, at);
  };

  const capture = { capture: true, signal: stop.signal };
  host.addEventListener(
    'pointerdown',
    ({ pointerType, pointerId, isPrimary, target, clientX: x, clientY: y }) => {
      release();
      isOpened = false;
      const found = pointerType === 'touch' && isPrimary ? foundAt(target) : null;
      if (found) finger = { id: pointerId, at: { x, y }, timer: setTimeout(() => rest(found, { x, y }), LONG) };
    },
    capture,
  );
  host.addEventListener(
    'pointermove',
    ({ pointerId, clientX, clientY }) => {
      if (finger?.id === pointerId && Math.hypot(clientX - finger.at.x, clientY - finger.at.y) > STILL) release();
    },
    capture,
  );
  for (const type of ['pointerup', 'pointercancel'] as const) host.addEventListener(type, release, capture);
  host.addEventListener(
    'contextmenu',
    (event) => {
      const found = foundAt(event.target);
      if (!found) return;
      event.preventDefault();
      event.stopPropagation();
      const at = { x: event.clientX, y: event.clientY };
      if (finger) {
        release();
        rest(found, at);
      } else if (!isOpened) open(found, at);
    },
    capture,
  );
  // The finger that has opened a menu clicks nothing when it is lifted.
  host.addEventListener(
    'click',
    (event) => {
      if (!isOpened) return;
      isOpened = false;
      event.preventDefault();
      event.stopPropagation();
    },
    capture,
  );
  return () => {
    release();
    stop.abort();
  };
}
