/** Follows the pointer while it drags something, with a text beside it. Escape cancels. */
import type { Point } from '../place';

/** Pixels that the pointer moves before a press becomes a drag. */
const SLACK = 5;

export interface Drag {
  /** The drag begins. Returns the text beside the pointer; null if nothing can be dragged. */
  start(): string | null;
  /** The pointer is here. */
  over(at: Point): void;
  /** Called in each frame: scroll if the pointer is near an edge. Returns whether something has scrolled. */
  scroll(at: Point): boolean;
  drop(): void;
  cancel(): void;
}

/** Follow a pointer that was pressed. */
export function followDrag(event: PointerEvent, drag: Drag): void {
  let ghost: HTMLElement | null = null;
  let at: Point = { x: event.clientX, y: event.clientY };
  let frame = 0;
  const release = new AbortController();
  const { signal } = release;
  const end = () => {
    cancelAnimationFrame(frame);
    ghost?.remove();
    release.abort();
  };
  const scroll = () => {
    if (drag.scroll(at)) drag.over(at);
    frame = requestAnimationFrame(scroll);
  };
  const moved = (now: PointerEvent) => {
    if (now.pointerId !== event.pointerId) return;
    at = { x: now.clientX, y: now.clientY };
    if (!ghost) {
      if (Math.hypot(at.x - event.clientX, at.y - event.clientY) < SLACK) return;
      const text = drag.start();
      if (text === null) {
        end();
        return;
      }
      ghost = ghostOf(text);
      frame = requestAnimationFrame(scroll);
    }
    ghost.style.translate = `${at.x + SLACK}px ${at.y + SLACK}px`;
    drag.over(at);
  };
  const up = (now: PointerEvent) => {
    if (now.pointerId !== event.pointerId) return;
    const isDragging = ghost !== null;
    end();
    if (!isDragging) return;
    // The press was no click on what is under the pointer.
    const swallow = (click: Event) => {
      click.preventDefault();
      click.stopPropagation();
    };
    window.addEventListener('click', swallow, { capture: true, once: true });
    setTimeout(() => window.removeEventListener('click', swallow, { capture: true }));
    drag.drop();
  };
  const cancel = () => {
    const isDragging = ghost !== null;
    end();
    if (isDragging) drag.cancel();
  };
  const key = (now: KeyboardEvent) => {
    if (now.key !== 'Escape' || !ghost) return;
    now.preventDefault();
    now.stopPropagation();
    cancel();
  };
  // Dragging would also select the texts on its way.
  document.addEventListener('selectstart', (start) => start.preventDefault(), { signal });
  window.addEventListener('pointermove', moved, { signal });
  window.addEventListener('pointerup', up, { signal });
  window.addEventListener('pointercancel', cancel, { signal });
  window.addEventListener('blur', cancel, { signal });
  window.addEventListener('keydown', key, { signal, capture: true });
}

function ghostOf(text: string): HTMLElement {
  const ghost = document.createElement('div');
  ghost.className = 'drag-ghost';
  ghost.setAttribute('aria-hidden', 'true');
  ghost.textContent = text;
  document.body.append(ghost);
  return ghost;
}
