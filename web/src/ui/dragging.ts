/** Follows the pointer while it drags something, with a text beside it. */
import type { Point } from '../place';
import { followPress } from './press';

/** Pixels from the pointer to the text beside it. */
const BESIDE = 5;
/** The most milliseconds that count for one frame, so that nothing jumps after the page was busy. */
const LONGEST_FRAME = 100;

export interface Drag {
  /** The drag begins. Returns the text beside the pointer; null if nothing can be dragged. */
  start(): string | null;
  /** The pointer is here. */
  over(at: Point): void;
  /**
   * Called in each frame, `seconds` after the one before: scroll if the pointer is near an edge. Returns whether something
   * has scrolled.
   */
  scroll(at: Point, seconds: number): boolean;
  drop(): void;
  cancel(): void;
}

/** Follow a pointer that was pressed. */
export function followDrag(event: PointerEvent, drag: Drag): void {
  let ghost: HTMLElement | null = null;
  let at: Point = { x: event.clientX, y: event.clientY };
  let frame = 0;
  let last = 0;
  const end = () => {
    cancelAnimationFrame(frame);
    ghost?.remove();
  };
  const next = () => {
    frame = requestAnimationFrame(scroll);
  };
  const scroll = (now: number) => {
    // A frame may have begun before the drag.
    if (drag.scroll(at, Math.min(Math.max(now - last, 0), LONGEST_FRAME) / 1000)) drag.over(at);
    last = now;
    next();
  };
  followPress(event, {
    distance: ({ x, y }) => Math.hypot(x, y),
    begin: () => {
      const text = drag.start();
      if (text === null) return false;
      ghost = ghostOf(text);
      last = performance.now();
      next();
      return true;
    },
    move: (now) => {
      at = now;
      if (ghost) ghost.style.translate = `${at.x + BESIDE}px ${at.y + BESIDE}px`;
      drag.over(at);
    },
    drop: () => {
      end();
      drag.drop();
    },
    cancel: () => {
      end();
      drag.cancel();
    },
  });
}

function ghostOf(text: string): HTMLElement {
  const ghost = document.createElement('div');
  ghost.className = 'drag-ghost';
  ghost.setAttribute('aria-hidden', 'true');
  ghost.textContent = text;
  document.body.append(ghost);
  return ghost;
}
