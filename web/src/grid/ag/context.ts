/**
 * Opens the menu of what is pressed: by the right button of a mouse, as the browser reports it, and by a finger that
 * rests. Not every browser reports such a finger.
 */
import type { Point } from '../../place';
import { isTyping } from '../../ui/typing';
import type { Context, GridOwner } from '../grid';

/** Milliseconds that a finger rests, and pixels by which it may move meanwhile. */
const LONG = 500;
const STILL = 10;

/** What is pressed, and its element. */
export interface Pressed {
  readonly context: Context;
  readonly anchor: HTMLElement;
}

export interface ContextOptions {
  readonly host: HTMLElement;
  readonly owner: GridOwner;
  readonly find: (element: Element) => Pressed | null;
  /** A finger rests on this: a cell gets the focus, unless it is selected. */
  readonly rested: (context: Context) => void;
}

/** Listen for menus. Returns how to stop. */
export function followContext({ host, owner, find, rested }: ContextOptions): () => void {
  const stop = new AbortController();
  let finger: { readonly id: number; readonly at: Point; readonly timer: ReturnType<typeof setTimeout> } | null = null;
  /** Whether the finger that is down has opened a menu. */
  let isOpened = false;

  const foundAt = (target: EventTarget | null): Pressed | null =>
    target instanceof Element && !isTyping(target) && !target.closest('.ag-cell-inline-editing') ? find(target) : null;
  const open = ({ context, anchor }: Pressed, at: Point) => {
    const { left, top } = anchor.getBoundingClientRect();
    owner.openContext(context, anchor, { x: at.x - left, y: at.y - top });
  };
  const release = () => {
    if (finger) clearTimeout(finger.timer);
    finger = null;
  };
  const rest = (found: Pressed, at: Point) => {
    finger = null;
    isOpened = true;
    rested(found.context);
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
