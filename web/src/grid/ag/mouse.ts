/** The mouse on cells: ranges by dragging and by shift, and the fill handle at the corner of a range. */
import type { GridOwner } from '../grid';
import type { Cell } from '../../selection/range';

/** Pixels of the corner of a range that are its handle. */
const HANDLE = 9;
/** Pixels from the edge of the viewport where dragging begins to scroll, and milliseconds between two steps of it. */
const EDGE = 28;
const SCROLL_MS = 40;

export interface MouseOptions {
  readonly viewport: HTMLElement;
  readonly owner: GridOwner;
  /** Pixels of the row of summaries at the lower edge, which is no part of a range. */
  readonly footer: () => number;
  /** The cell of the screen that an element of the library belongs to. */
  readonly cellOf: (element: HTMLElement) => Cell | null;
  /** A cell was clicked, which may have the focus already. */
  readonly focused: (cell: Cell) => void;
}

/** Listen to the mouse. Returns how to stop. */
export function followMouse({ viewport, owner, footer, cellOf, focused }: MouseOptions): () => void {
  const stop = new AbortController();
  let drag: AbortController | null = null;

  const cellAt = (x: number, y: number): Cell | null => {
    const element = document.elementFromPoint(x, y)?.closest<HTMLElement>('.ag-cell');
    return element && viewport.contains(element) ? cellOf(element) : null;
  };

  const begin = (tell: (cell: Cell) => void, end: () => void) => {
    drag?.abort();
    const own = new AbortController();
    drag = own;
    let pointer = { x: 0, y: 0 };
    const reach = () => {
      const box = viewport.getBoundingClientRect();
      const x = Math.min(Math.max(pointer.x, box.left + 2), box.right - 20);
      const y = Math.min(Math.max(pointer.y, box.top + 40), box.bottom - footer() - 20);
      const cell = cellAt(x, y);
      if (cell) tell(cell);
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
    const options = { signal: own.signal };
    window.addEventListener(
      'pointermove',
      (event) => {
        pointer = { x: event.clientX, y: event.clientY };
        reach();
      },
      options,
    );
    const finish = () => {
      own.abort();
      end();
    };
    window.addEventListener('pointerup', finish, options);
    window.addEventListener('pointercancel', finish, options);
  };

  // Before the library: it would move the focus, and with it the anchor of the range.
  viewport.addEventListener(
    'mousedown',
    (event) => {
      const element = event.target instanceof Element ? event.target.closest<HTMLElement>('.ag-cell') : null;
      if (event.button !== 0 || !element || element.classList.contains('ag-cell-inline-editing')) return;
      const cell = cellOf(element);
      if (!cell) return;
      const box = element.getBoundingClientRect();
      const onHandle = box.right - event.clientX < HANDLE && box.bottom - event.clientY < HANDLE;
      if (onHandle && element.classList.contains('is-corner')) {
        event.preventDefault();
        event.stopPropagation();
        begin((to) => owner.filling(to), () => owner.filling(null));
        return;
      }
      if (event.shiftKey) {
        event.preventDefault();
        event.stopPropagation();
        owner.reached(cell);
      } else focused(cell);
      begin((to) => owner.reached(to), () => undefined);
    },
    { capture: true, signal: stop.signal },
  );

  return () => {
    drag?.abort();
    stop.abort();
  };
}
