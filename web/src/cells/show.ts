/** Draws the value of a cell. Plain DOM: the grid draws hundreds of cells in a frame. */
import type { Field } from '../fields/fields';
import type { CellValue } from '../fields/values';
import { words } from '../words';
import { colorOf } from './colors';
import { formatValue, isList } from './format';

/** Put a value of a field into an element, in the place of what was there. */
export function showValue(element: HTMLElement, field: Field, value: CellValue): void {
  if (value === null) element.replaceChildren(...(field.type === 'bool' ? [emptyBox()] : []));
  else if (typeof value === 'boolean') element.replaceChildren(tick(value));
  else if (isList(value)) element.replaceChildren(...value.map((item) => pill(field, item)));
  else if (field.type === 'enum') element.replaceChildren(pill(field, String(value)));
  else element.textContent = formatValue(field.type, value);
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
