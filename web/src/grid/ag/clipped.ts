/**
 * Cells that are too small for their content. A part of a number would read as another number, so it becomes a row of
 * signs; options without room are counted. The whole content is in a tooltip, and screen readers get it anyway.
 */
import { words } from '../../words';

/** Pixels for the number of options without room. */
const ROOM = 32;
const SIGNS = '###';

const drawn = new Set<HTMLElement>();

/** Look at a cell of numbers or options in the next frame, together with all others that are drawn until then. */
export function fitLater(cell: HTMLElement): void {
  if (!drawn.size) requestAnimationFrame(fitDrawn);
  drawn.add(cell);
}

/** Show the whole content of a cell again, for a new value or to measure it. */
export function unfit(cell: HTMLElement): void {
  const label = cell.getAttribute('aria-label');
  if (label !== null) {
    cell.textContent = label;
    cell.removeAttribute('aria-label');
    cell.removeAttribute('role');
  }
  cell.querySelector('.cell-more')?.remove();
  for (const pill of cell.querySelectorAll<HTMLElement>('.pill[hidden]')) pill.hidden = false;
}

function fitDrawn(): void {
  const cells = [...drawn].filter((cell) => cell.isConnected);
  drawn.clear();
  // All are measured before any is changed, so that the browser makes one layout.
  const clipped = cells.flatMap((cell) => (cell.scrollWidth > cell.clientWidth ? [{ cell, fitting: fittingIn(cell) }] : []));
  for (const { cell, fitting } of clipped) {
    if (cell.classList.contains('cell-number')) showSigns(cell);
    else countRest(cell, fitting);
  }
}

/** How many children of a cell fit beside the number of the others. */
function fittingIn(cell: HTMLElement): number {
  const end = cell.getBoundingClientRect().right - ROOM;
  return [...cell.children].filter((child) => child.getBoundingClientRect().right <= end).length;
}

function showSigns(cell: HTMLElement): void {
  const { textContent } = cell;
  // A bar or stars are no digits.
  if (cell.children.length) return;
  cell.textContent = SIGNS;
  cell.setAttribute('role', 'img');
  cell.setAttribute('aria-label', textContent);
}

function countRest(cell: HTMLElement, fitting: number): void {
  // The first one is shown in any case, cut at its end.
  const rest = [...cell.children].slice(Math.max(1, fitting));
  if (!rest.length) return;
  for (const pill of rest) if (pill instanceof HTMLElement) pill.hidden = true;
  const more = document.createElement('span');
  more.className = 'cell-more';
  more.textContent = words.cell.more(rest.length);
  more.setAttribute('role', 'img');
  more.setAttribute('aria-label', rest.map(({ textContent }) => textContent).join(', '));
  cell.append(more);
}

/** Give a cell a tooltip while a pointer is on it, if it does not show its whole content. Returns how to stop. */
export function followTruncated(host: HTMLElement): () => void {
  const over = ({ target }: Event) => {
    const cell = target instanceof Element ? target.closest<HTMLElement>('.cell') : null;
    if (!cell) return;
    const whole = wholeOf(cell);
    if (whole) cell.title = whole;
    else cell.removeAttribute('title');
  };
  host.addEventListener('pointerover', over, { passive: true });
  return () => host.removeEventListener('pointerover', over);
}

/** The whole content of a cell that does not show it; otherwise empty. */
function wholeOf(cell: HTMLElement): string {
  const label = cell.getAttribute('aria-label');
  if (label !== null) return label;
  const isCut = cell.scrollWidth > cell.clientWidth || cell.scrollHeight > cell.clientHeight + 1 || cell.querySelector('.cell-more');
  if (!isCut) return '';
  const parts = [...cell.querySelectorAll('.pill')].map(({ textContent }) => textContent);
  return parts.length ? parts.join(', ') : cell.textContent;
}
