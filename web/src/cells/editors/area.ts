/** The editor of texts, which grows with its lines. Enter takes the text; Alt+Enter and Shift+Enter break the line. */
import { isComposing } from '../../composing';
import { observeAround } from '../../place';
import { textOf } from '../text';
import { filled, focusIn, labelled, type CellEditor, type EditorParams } from './editor';

/** In pixels: the width of an area of several lines, the room at the edges of the window, and the greatest height. */
const WIDE = 280;
const MARGIN = 8;
const TALL = 320;

export function areaEditor(params: EditorParams): CellEditor {
  const { field, value, begin } = params;
  const area = labelled(document.createElement('textarea'), params);
  area.rows = 1;
  const result = filled(area, textOf(field.type, value), begin);
  const closed = new AbortController();
  area.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.altKey || event.shiftKey) || isComposing(event)) return;
    event.preventDefault();
    event.stopPropagation();
    area.setRangeText('\n', area.selectionStart, area.selectionEnd, 'end');
    area.dispatchEvent(new Event('input', { bubbles: true }));
  });
  return {
    element: area,
    open: () => {
      const cell = area.closest<HTMLElement>('.ag-cell');
      const place = cell ? () => placeOver(area, cell) : () => grow(area);
      if (cell) {
        // A cell clips its content; the top layer does not.
        area.popover = 'manual';
        area.showPopover();
        window.addEventListener('scroll', place, { capture: true, signal: closed.signal });
        window.addEventListener('resize', place, { signal: closed.signal });
        const resizing = new ResizeObserver(place);
        observeAround(cell, resizing);
        closed.signal.addEventListener('abort', () => resizing.disconnect());
      }
      area.addEventListener('input', place);
      place();
      focusIn(area, begin);
    },
    result,
    close: () => closed.abort(),
  };
}

function grow(area: HTMLTextAreaElement): void {
  area.style.height = '0';
  const edges = area.offsetHeight - area.clientHeight;
  area.style.height = `${Math.min(area.scrollHeight + edges, TALL)}px`;
}

/** Lay the area over its cell, as tall as its lines, wider where they break, and within the window. */
function placeOver(area: HTMLTextAreaElement, cell: HTMLElement): void {
  const box = cell.getBoundingClientRect();
  const { style } = area;
  style.minHeight = `${box.height}px`;
  style.width = `${box.width}px`;
  grow(area);
  if (area.offsetHeight > box.height && box.width < WIDE) {
    style.width = `${Math.min(WIDE, window.innerWidth - 2 * MARGIN)}px`;
    grow(area);
  }
  style.left = `${Math.max(MARGIN, Math.min(box.left, window.innerWidth - area.offsetWidth - MARGIN))}px`;
  style.top = `${Math.max(MARGIN, Math.min(box.top, window.innerHeight - area.offsetHeight - MARGIN))}px`;
}
