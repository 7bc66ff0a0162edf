/**
 * Drags cards by the mouse, and on a touch screen by their handle (`.grip`), so that a finger can scroll. A card is an
 * element with its number in `data-card`; it is dropped into an element with the key of a column in `data-column`.
 */

/** Pixels that the mouse moves before a press becomes a drag. */
const SLACK = 5;
/** Within so many pixels of an edge the board scrolls, by so many in a frame. */
const EDGE = 48;
const SPEED = 14;

export interface Dragging {
  /** The drag of a card begins. Returns the text beside the pointer; null if the card cannot be dragged. */
  start(num: number): string | null;
  /** The pointer is over a column; null for none. */
  over(column: string | null): void;
  drop(): void;
  cancel(): void;
}

/** Begin to drag a card that was pressed. `board` scrolls sideways. */
export function beginDrag(event: PointerEvent, board: HTMLElement, dragging: Dragging): void {
  const { target } = event;
  const card = target instanceof Element ? target.closest<HTMLElement>('[data-card]') : null;
  if (event.button !== 0 || !card || !(target instanceof Element)) return;
  if (event.pointerType !== 'mouse' && !target.closest('.grip')) return;
  const num = Number(card.dataset['card']);
  let ghost: HTMLElement | null = null;
  let at = { x: event.clientX, y: event.clientY };
  let frame = 0;
  const release = new AbortController();
  const { signal } = release;
  const end = () => {
    cancelAnimationFrame(frame);
    ghost?.remove();
    release.abort();
  };
  const look = () => {
    const column = document.elementFromPoint(at.x, at.y)?.closest<HTMLElement>('[data-column]');
    dragging.over(column && board.contains(column) ? (column.dataset['column'] ?? null) : null);
  };
  const scroll = () => {
    const { left, right } = board.getBoundingClientRect();
    const by = at.x < left + EDGE ? -SPEED : at.x > right - EDGE ? SPEED : 0;
    if (by) {
      board.scrollLeft += by;
      look();
    }
    frame = requestAnimationFrame(scroll);
  };
  const moved = (now: PointerEvent) => {
    if (now.pointerId !== event.pointerId) return;
    at = { x: now.clientX, y: now.clientY };
    if (!ghost) {
      if (Math.hypot(at.x - event.clientX, at.y - event.clientY) < SLACK) return;
      const text = dragging.start(num);
      if (text === null) {
        end();
        return;
      }
      ghost = ghostOf(text);
      frame = requestAnimationFrame(scroll);
    }
    ghost.style.translate = `${at.x + SLACK}px ${at.y + SLACK}px`;
    look();
  };
  const up = (now: PointerEvent) => {
    if (now.pointerId !== event.pointerId) return;
    const isDragging = ghost !== null;
    end();
    if (!isDragging) return;
    // The press was no click on a card.
    const swallow = (click: Event) => {
      click.preventDefault();
      click.stopPropagation();
    };
    window.addEventListener('click', swallow, { capture: true, once: true });
    setTimeout(() => window.removeEventListener('click', swallow, { capture: true }));
    dragging.drop();
  };
  const cancel = () => {
    const isDragging = ghost !== null;
    end();
    if (isDragging) dragging.cancel();
  };
  const key = (now: KeyboardEvent) => {
    if (now.key !== 'Escape' || !ghost) return;
    now.preventDefault();
    now.stopPropagation();
    cancel();
  };
  window.addEventListener('pointermove', moved, { signal });
  window.addEventListener('pointerup', up, { signal });
  window.addEventListener('pointercancel', cancel, { signal });
  window.addEventListener('blur', cancel, { signal });
  window.addEventListener('keydown', key, { signal, capture: true });
}

function ghostOf(text: string): HTMLElement {
  const ghost = document.createElement('div');
  ghost.className = 'card-ghost';
  ghost.setAttribute('aria-hidden', 'true');
  ghost.textContent = text;
  document.body.append(ghost);
  return ghost;
}
