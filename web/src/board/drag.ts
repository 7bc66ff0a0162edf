/**
 * Drags cards by the mouse, and on a touch screen by their handle (`.grip`), so that a finger can scroll. A card is an
 * element with its number in `data-card`; it is dropped into an element with the key of a column in `data-column`.
 */
import type { Point } from '../place';
import { followDrag } from '../ui/dragging';

/** Within so many pixels of an edge the board and its columns scroll, by so many pixels a second. */
const EDGE = 48;
const SPEED = 840;

export interface Dragging {
  /** The drag of a card begins. Returns the text beside the pointer; null if the card cannot be dragged. */
  start(num: number): string | null;
  /** The pointer is over a column; null for none. `y`: its height on the screen. */
  over(column: string | null, y: number): void;
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
  const columnAt = ({ x, y }: Point) => {
    const column = document.elementFromPoint(x, y)?.closest<HTMLElement>('[data-column]');
    return column && board.contains(column) ? column : null;
  };
  followDrag(event, {
    start: () => dragging.start(num),
    over: (at) => dragging.over(columnAt(at)?.dataset['column'] ?? null, at.y),
    scroll: (at, seconds) => {
      const step = SPEED * seconds;
      const { left, right } = board.getBoundingClientRect();
      const sideways = at.x < left + EDGE ? -step : at.x > right - EDGE ? step : 0;
      board.scrollLeft += sideways;
      const cards = columnAt(at)?.querySelector('.board-cards');
      const box = cards?.getBoundingClientRect();
      const along = !box ? 0 : at.y < box.top + EDGE ? -step : at.y > box.bottom - EDGE ? step : 0;
      if (cards) cards.scrollTop += along;
      return sideways !== 0 || along !== 0;
    },
    drop: () => dragging.drop(),
    cancel: () => dragging.cancel(),
  });
}
