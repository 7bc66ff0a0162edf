/** Follows a pressed pointer: once it has moved some pixels, it drags something. Escape cancels. */
import type { Point } from '../place';

/** Pixels that the pointer moves before a press becomes a drag. */
const SLACK = 5;

/** The event of the window when a press becomes a drag. */
export const DRAG_BEGINS = 'gridview-drag';

export interface Press {
  /** How far the pointer has moved, in pixels. Only that begins the drag. */
  distance(by: Point): number;
  /** The drag begins. Returns whether something can be dragged. */
  begin(): boolean;
  /** The pointer is here. */
  move(at: Point): void;
  drop(): void;
  cancel(): void;
}

/** Follow a pointer that was pressed. Only a drag that has begun is dropped or cancelled. */
export function followPress(event: PointerEvent, press: Press): void {
  let isDragging = false;
  const release = new AbortController();
  const { signal } = release;
  const moved = (now: PointerEvent) => {
    if (now.pointerId !== event.pointerId) return;
    const { clientX: x, clientY: y } = now;
    if (!isDragging) {
      if (press.distance({ x: x - event.clientX, y: y - event.clientY }) < SLACK) return;
      isDragging = press.begin();
      if (!isDragging) {
        release.abort();
        return;
      }
      window.dispatchEvent(new Event(DRAG_BEGINS));
    }
    press.move({ x, y });
  };
  const up = (now: PointerEvent) => {
    if (now.pointerId !== event.pointerId) return;
    release.abort();
    if (!isDragging) return;
    // A finger whose moves are prevented clicks nothing.
    if (event.pointerType === 'mouse') ignoreClick();
    press.drop();
  };
  const cancel = () => {
    release.abort();
    if (isDragging) press.cancel();
  };
  const key = (now: KeyboardEvent) => {
    if (now.key !== 'Escape' || !isDragging) return;
    now.preventDefault();
    now.stopPropagation();
    cancel();
  };
  if (event.pointerType !== 'mouse') refuseFling(event);
  // Dragging would also select the texts on its way.
  document.addEventListener('selectstart', (start) => start.preventDefault(), { signal });
  window.addEventListener('pointermove', moved, { signal });
  window.addEventListener('pointerup', up, { signal });
  window.addEventListener('pointercancel', cancel, { signal });
  window.addEventListener('blur', cancel, { signal });
  window.addEventListener('keydown', key, { signal, capture: true });
}

/** The press was no click on what is under the pointer. */
function ignoreClick(): void {
  const swallow = (click: Event) => {
    click.preventDefault();
    click.stopPropagation();
  };
  window.addEventListener('click', swallow, { capture: true, once: true });
  setTimeout(() => window.removeEventListener('click', swallow, { capture: true }));
}

/**
 * Chromium takes a quick drag of a finger for a fling, even where `touch-action` forbids scrolling. The tap that follows
 * within about 300 ms would only stop the fling, without a click. A move that is prevented begins no fling.
 */
function refuseFling({ target, pointerId }: PointerEvent): void {
  const over = new AbortController();
  const { signal } = over;
  const end = (now: PointerEvent) => {
    if (now.pointerId === pointerId) over.abort();
  };
  // Moves of a finger are sent to the element that it touched, even if that has left the document.
  target?.addEventListener('touchmove', (move) => move.cancelable && move.preventDefault(), { passive: false, signal });
  for (const type of ['pointerup', 'pointercancel'] as const) window.addEventListener(type, end, { signal, capture: true });
}
