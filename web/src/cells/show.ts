/** Draws the value of a cell. Plain DOM: the grid draws hundreds of cells in a frame. */
import type { Field } from '../fields/fields';
import { linkOf, starsOf } from '../fields/format';
import { unavailableIn, valueOf, type CellValue, type Reason, type Row } from '../fields/values';
import { words } from '../words';
import { colorOf } from './colors';
import { formatValue, isList } from './format';

/** Put the value of a field in a row into an element, or a mark that says why a formula has none. */
export function showCell(element: HTMLElement, field: Field, row: Row, how: { readonly links?: boolean } = {}): void {
  const value = valueOf(row, field.id);
  const reason = value === null ? unavailableIn(row, field.id) : undefined;
  if (reason) element.replaceChildren(unavailable(reason));
  else showValue(element, field, value, how);
}

/** Put a value of a field into an element, in the place of what was there. `links`: texts that lead elsewhere do. */
export function showValue(element: HTMLElement, field: Field, value: CellValue, { links = true } = {}): void {
  if (value === null) element.replaceChildren(...(field.type === 'bool' ? [emptyBox()] : []));
  else if (typeof value === 'boolean') element.replaceChildren(field.format?.as === 'star' ? star(value) : tick(value));
  else if (isList(value)) element.replaceChildren(...value.map((item) => pill(field, item)));
  else if (field.type === 'enum') element.replaceChildren(pill(field, String(value)));
  else element.replaceChildren(formatted(field, value, links));
}

/** A text or a number in its field's format. */
function formatted(field: Field, value: Exclude<CellValue, null | boolean | readonly string[]>, links: boolean): Node {
  const text = formatValue(field, value);
  const { format } = field;
  const address = links && typeof value === 'string' ? linkOf(format, value) : null;
  if (address) return link(address, text);
  if (format?.as === 'progress' && typeof value !== 'string') return progress(Number(value), text);
  const stars = format?.as === 'rating' && typeof value !== 'string' ? starsOf(format, value) : null;
  if (!stars) return document.createTextNode(text);
  const element = document.createElement('span');
  element.className = 'stars';
  element.setAttribute('role', 'img');
  element.setAttribute('aria-label', words.cell.stars(stars.on, stars.of));
  element.textContent = text;
  return element;
}

/** A link to a page that learns nothing about this one. */
function link(address: string, text: string): HTMLAnchorElement {
  const element = document.createElement('a');
  element.href = address;
  element.rel = 'noopener noreferrer';
  element.target = '_blank';
  // The grid's cells have the focus; Enter edits them.
  element.tabIndex = -1;
  element.textContent = text;
  return element;
}

function unavailable(reason: Reason): HTMLElement {
  const element = document.createElement('span');
  element.className = 'unavailable';
  element.setAttribute('role', 'img');
  element.setAttribute('aria-label', words.computed.unavailable[reason]);
  element.title = words.computed.unavailable[reason];
  return element;
}

function progress(part: number, text: string): HTMLElement {
  const element = document.createElement('span');
  element.className = 'progress';
  const bar = document.createElement('span');
  bar.className = 'progress-bar';
  bar.style.setProperty('--part', String(Math.min(Math.max(part, 0), 1)));
  element.append(bar, text);
  return element;
}

function star(on: boolean): HTMLElement {
  const element = tick(on);
  element.className = on ? 'star on' : 'star';
  return element;
}

export function pill(field: Field, value: string): HTMLElement {
  const element = document.createElement('span');
  element.className = `pill pill-${colorOf(field, value)}`;
  element.textContent = value;
  return element;
}

/** No value: neither yes nor no, and nothing to read out. */
function emptyBox(): HTMLElement {
  const element = document.createElement('span');
  element.className = 'tick none';
  element.setAttribute('aria-hidden', 'true');
  return element;
}

function tick(on: boolean): HTMLElement {
  const element = document.createElement('span');
  element.className = on ? 'tick on' : 'tick';
  element.setAttribute('role', 'img');
  element.setAttribute('aria-label', on ? words.cell.yes : words.cell.no);
  return element;
}
