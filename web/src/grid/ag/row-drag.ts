/**
 * Drags rows by the gutter: with the mouse by all of it, with a finger by its handle (`.grip`), so that a finger can scroll.
 */
import type { Edge } from '../../manual/target';
import type { Point } from '../../place';
import { followDrag } from '../../ui/dragging';
import type { GridOwner } from '../grid';
import { GUTTER } from './special';

/** Within so many pixels of an edge the rows scroll, by so many pixels a second. */
const SCROLL_EDGE = 36;
const SPEED = 600;

export interface RowDragOptions {
  readonly host: HTMLElement;
  readonly viewport: HTMLElement;
  readonly owner: GridOwner;
  /** Pixels of the heads of the columns, and of the summaries below the rows. */
  readonly head: number;
  readonly foot: () => number;
}

/** Listen to presses on the gutter. Returns how to stop. */
export function followRowDrag({ host, viewport, owner, head, foot }: RowDragOptions): () => void {
  const line = document.createElement('div');
  line.className = 'drop-line';
  line.hidden = true;
  host.append(line);
  const area = () => {
    const { top, bottom, left, right } = viewport.getBoundingClientRect();
    return { top: top + head, bottom: bottom - foot(), left, right };
  };
  /** The edge of a row that is nearest to a height. Above and below the rows it is that of the first and the last one. */
  const edgeAt = ({ y }: Point): Edge | null => {
    const { top, bottom } = area();
    const inside = Math.min(Math.max(y, top), bottom - 1);
    const rows = [...host.querySelectorAll('.ag-row:not(.footer)')].flatMap((row) => {
      const box = row.getBoundingClientRect();
      return box.height > 0 ? [{ box, row: Number(row.getAttribute('row-index')) }] : [];
    });
    const under = rows.find(({ box }) => inside >= box.top && inside < box.bottom);
    if (under) return { row: under.row, side: inside < under.box.top + under.box.height / 2 ? 'before' : 'after' };
    const last = rows.reduce<(typeof rows)[number] | null>((lowest, one) => (lowest && lowest.box.bottom > one.box.bottom ? lowest : one), null);
    return last && { row: last.row, side: 'after' };
  };
  const show = (edge: Edge | null) => {
    const row = edge && host.querySelector(`.ag-row[row-index="${edge.row}"]`);
    line.hidden = !row;
    if (!row) return;
    const { top, bottom } = row.getBoundingClientRect();
    const limits = area();
    const box = host.getBoundingClientRect();
    const y = edge.side === 'before' ? top : bottom;
    line.style.top = `${Math.min(Math.max(y, limits.top), limits.bottom) - box.top}px`;
  };
  const end = (take: boolean) => {
    show(null);
    host.classList.remove('is-dragging');
    owner.dragged(take);
  };
  const down = (event: PointerEvent) => {
    const { target } = event;
    const cell = target instanceof Element ? target.closest(`.ag-row:not(.footer) .ag-cell[col-id="${GUTTER}"]`) : null;
    if (event.button !== 0 || !cell || !(target instanceof Element) || !owner.mayDrag()) return;
    if (event.pointerType === 'mouse' ? target.closest('input, button') : !target.closest('.grip')) return;
    const row = Number(cell.closest('.ag-row')?.getAttribute('row-index'));
    followDrag(event, {
      start: () => {
        const text = owner.drag(row);
        if (text !== null) host.classList.add('is-dragging');
        return text;
      },
      over: (at) => show(owner.draggedOver(edgeAt(at))),
      scroll: ({ y }, seconds) => {
        const { top, bottom } = area();
        const towards = y < top + SCROLL_EDGE ? -1 : y > bottom - SCROLL_EDGE ? 1 : 0;
        const before = viewport.scrollTop;
        viewport.scrollTop += towards * SPEED * seconds;
        return viewport.scrollTop !== before;
      },
      drop: () => end(true),
      cancel: () => end(false),
    });
  };
  host.addEventListener('pointerdown', down);
  return () => {
    host.removeEventListener('pointerdown', down);
    line.remove();
  };
}
