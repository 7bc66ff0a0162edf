/**
 * Cells that are too small for their content. A part of a number would read as another number, so it becomes a row of
 * signs; options without room are counted. The whole content is in a tooltip, and screen readers get it anyway.
 */
import { words } from '../../words';

/** Pixels for the number of options without room. */
const ROOM = 32;
/** Pixels of the widest of the characters that plain numbers have, and of the padding of a cell. */
const WIDEST_DIGIT = 10;
const PADDING = 20;
const PLAIN_NUMBER = /^[-\d.,\s%]*$/;
const SIGNS = '###';

const drawn = new Set<HTMLElement>();
/** The content of the cells that show signs in its place. */
const replaced = new WeakMap<HTMLElement, readonly ChildNode[]>();

/**
 * Look at a cell of numbers or options in the next frame, together with all others that are drawn until then. A number
 * that surely fits its column, by the width of that, is not measured.
 */
export function fitLater(cell: HTMLElement, columnWidth = 0): void {
  if (!cell.firstChild || surelyFits(cell, columnWidth)) return;
  if (!drawn.size) requestAnimationFrame(fitDrawn);
  drawn.add(cell);
}

function surelyFits({ children, textContent }: HTMLElement, columnWidth: number): boolean {
  return !children.length && textContent.length * WIDEST_DIGIT + PADDING <= columnWidth && PLAIN_NUMBER.test(textContent);
}

/** A cell gets another content and look. This is called for each cell that is drawn, and so does as little as it can. */
export function forget(cell: HTMLElement): void {
  if (!replaced.delete(cell)) return;
  cell.removeAttribute('aria-label');
  cell.removeAttribute('role');
}

/** Show the whole content of a cell again, to measure it. */
export function unfit(cell: HTMLElement): void {
  const content = replaced.get(cell);
  forget(cell);
  if (content) cell.replaceChildren(...content);
  cell.querySelector('.cell-more')?.remove();
  cell.classList.remove('is-counted');
  for (const pill of cell.querySelectorAll<HTMLElement>('.pill[hidden]')) pill.hidden = false;
}

function fitDrawn(): void {
  const cells = [...drawn].filter((cell) => cell.isConnected);
  drawn.clear();
  // All are measured before any is changed, so that the browser makes one layout.
  const clipped = cells.flatMap((cell) => (overflows(cell) ? [{ cell, fitting: fittingIn(cell) }] : []));
  for (const { cell, fitting } of clipped) {
    if (cell.classList.contains('cell-number')) showSigns(cell);
    else countRest(cell, fitting);
  }
}

function overflows({ scrollWidth, clientWidth, scrollHeight, clientHeight }: Element): boolean {
  return scrollWidth > clientWidth || scrollHeight > clientHeight + 1;
}

/** How many children of a cell fit beside the number of the others, which is at the end of the last line. */
function fittingIn(cell: HTMLElement): number {
  const { right, bottom } = cell.getBoundingClientRect();
  const boxes = [...cell.children].map((child) => child.getBoundingClientRect());
  const last = Math.max(...boxes.flatMap((box) => (box.bottom <= bottom + 1 ? [box.top] : [])));
  return boxes.filter((box) => box.top < last || (box.top === last && box.right <= right - ROOM)).length;
}

function showSigns(cell: HTMLElement): void {
  const { textContent } = cell;
  replaced.set(cell, [...cell.childNodes]);
  cell.textContent = SIGNS;
  cell.setAttribute('role', 'img');
  cell.setAttribute('aria-label', textContent);
}

function countRest(cell: HTMLElement, fitting: number): void {
  // The first one is shown in any case, cut at its end.
  const rest = [...cell.children].slice(Math.max(1, fitting));
  if (!rest.length) return;
  cell.classList.toggle('is-counted', fitting < 1);
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
  const pills = [...cell.querySelectorAll('.pill')];
  if (![cell, ...pills].some(overflows) && !cell.querySelector('.cell-more')) return '';
  return pills.length ? pills.map(({ textContent }) => textContent).join(', ') : cell.textContent;
}
