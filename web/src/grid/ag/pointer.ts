/**
 * The mouse, a pen and fingers on cells: they select ranges, and drag the fill handle at the corner of a range.
 *
 * The library focuses a cell on `pointerdown`, and the browser on the `mousedown` that follows: both would move the
 * anchor of the range.
 */
import type { GridOwner } from '../grid';
import type { Cell } from '../../selection/range';
import { isAdding } from './choosing';

/** Pixels of the corner of a range that are its handle. A finger covers more of them. */
const HANDLE = 9;
const HANDLE_FOR_FINGERS = 22;
/** Pixels from the edge of the viewport where dragging begins to scroll, and milliseconds between two steps of it. */
const EDGE = 28;
const SCROLL_MS = 40;
/** The number of the right button. */
const RIGHT = 2;

export interface PointerOptions {
  readonly viewport: HTMLElement;
  readonly owner: GridOwner;
  /** Pixels of the row of summaries at the lower edge, which is no part of a range. */
  readonly footer: () => number;
  /** The cell of the screen that an element of the library belongs to. */
  readonly cellOf: (element: HTMLElement) => Cell | null;
  /** A cell was pressed, which may have the focus already; the library focuses it. */
  readonly pressed: (cell: Cell) => void;
  /** A cell was pressed with Ctrl, and begins one more range; the library focuses it. */
  readonly added: (cell: Cell) => void;
  /** A finger tapped a cell: it gets the focus. */
  readonly tapped: (cell: Cell) => void;
  /** Keep the focus at the anchor of the range, or return it there, also from an editor. Nothing scrolls. */
  readonly hold: (anchor: Cell) => void;
}

/** Listen to pointers. Returns how to stop. */
export function followPointer({ viewport, owner, footer, cellOf, pressed, added, tapped, hold }: PointerOptions): () => void {
  const stop = new AbortController();
  let drag: AbortController | null = null;
  /** The meaning of the last press: `taken` from library and browser, a `tap` unless the finger scrolls, or none. */
  let press: 'taken' | 'tap' | null = null;

  const elementAt = (target: EventTarget | null): HTMLElement | null =>
    target instanceof Element ? target.closest<HTMLElement>('.ag-cell:not(.ag-cell-inline-editing)') : null;
  const cellAt = (x: number, y: number): Cell | null => {
    // Heads of groups that stay at the top cover some.
    const element = document.elementsFromPoint(x, y).find((one) => viewport.contains(one) && one.closest('.ag-cell'));
    const cell = element?.closest<HTMLElement>('.ag-cell');
    return cell ? cellOf(cell) : null;
  };

  const begin = (pointerId: number, reached: (cell: Cell) => void, ended: (gesture: 'done' | 'cancelled') => void) => {
    drag?.abort();
    const own = new AbortController();
    drag = own;
    let pointer = { x: 0, y: 0 };
    const reach = () => {
      const box = viewport.getBoundingClientRect();
      const x = Math.min(Math.max(pointer.x, box.left + 2), box.right - 20);
      const y = Math.min(Math.max(pointer.y, box.top + 40), box.bottom - footer() - 20);
      const cell = cellAt(x, y);
      if (cell) reached(cell);
    };
    const scroll = setInterval(() => {
      const box = viewport.getBoundingClientRect();
      const down = pointer.y > box.bottom - footer() - EDGE ? 1 : pointer.y < box.top + EDGE ? -1 : 0;
      const right = pointer.x > box.right - EDGE ? 1 : pointer.x < box.left + EDGE ? -1 : 0;
      if ((!down && !right) || (!pointer.x && !pointer.y)) return;
      viewport.scrollBy(right * 60, down * 64);
      reach();
    }, SCROLL_MS);
    own.signal.addEventListener('abort', () => clearInterval(scroll));
    const listen = (type: 'pointermove' | 'pointerup' | 'pointercancel', act: (event: PointerEvent) => void) =>
      window.addEventListener(type, (event) => event.pointerId === pointerId && act(event), { signal: own.signal });
    const end = (gesture: 'done' | 'cancelled') => () => {
      own.abort();
      ended(gesture);
    };
    listen('pointermove', (event) => {
      pointer = { x: event.clientX, y: event.clientY };
      reach();
    });
    listen('pointerup', end('done'));
    listen('pointercancel', end('cancelled'));
  };

  const down = (event: PointerEvent) => {
    press = null;
    const element = elementAt(event.target);
    const cell = element && cellOf(element);
    if (event.button === RIGHT && cell) {
      // The menu is about the whole range if the cell is in it.
      const anchor = owner.isSelected(cell) ? owner.anchor() : null;
      if (!anchor) {
        pressed(cell);
        return;
      }
      press = 'taken';
      event.stopPropagation();
      hold(anchor);
      return;
    }
    if (event.button !== 0 || !event.isPrimary || !element || !cell) return;
    const anchor = owner.anchor();
    const isFinger = event.pointerType === 'touch';
    const box = element.getBoundingClientRect();
    const size = isFinger ? HANDLE_FOR_FINGERS : HANDLE;
    const onHandle = element.classList.contains('is-corner') && box.right - event.clientX < size && box.bottom - event.clientY < size;
    if (anchor && (onHandle || (event.shiftKey && !isFinger))) {
      press = 'taken';
      event.stopPropagation();
      hold(anchor);
      if (onHandle) {
        begin(event.pointerId, (to) => owner.filling(to), (gesture) => owner.filled(gesture === 'done'));
        return;
      }
      owner.reached(cell, !isAdding(event));
    } else if (isFinger) {
      // It may be going to scroll: only a tap, which ends in a click, selects.
      press = 'tap';
      event.stopPropagation();
      return;
    } else if (anchor && isAdding(event)) added(cell);
    else pressed(cell);
    begin(event.pointerId, (to) => owner.reached(to), () => undefined);
  };

  const capture = { capture: true, signal: stop.signal };
  viewport.addEventListener('pointerdown', down, capture);
  viewport.addEventListener(
    'mousedown',
    (event) => {
      if (press !== 'taken') return;
      event.preventDefault();
      event.stopPropagation();
    },
    capture,
  );
  // A finger on the handle neither scrolls nor clicks.
  viewport.addEventListener('touchstart', (event) => press === 'taken' && event.preventDefault(), { ...capture, passive: false });
  viewport.addEventListener(
    'click',
    ({ target }) => {
      const element = press === 'tap' ? elementAt(target) : null;
      const cell = element && cellOf(element);
      if (cell) tapped(cell);
    },
    capture,
  );

  return () => {
    drag?.abort();
    stop.abort();
  };
}
