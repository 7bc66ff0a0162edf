/**
 * Draws the head of a group: whether it is open, the value that its issues share, their number, and the group's
 * figures.
 */
import type { Field } from '../fields/fields';
import type { Group } from '../rows/layout';
import { icon } from '../ui/icons';
import type { GroupKey } from '../view/view';
import { words } from '../words';
import { formatFigure } from './figures';
import { isRange } from '../fields/values';
import { pill } from '../cells/show';
import { labelOf } from './group-label';

export interface GroupLook {
  readonly fields: readonly Field[];
  readonly unit: GroupKey['unit'];
  readonly onToggle: () => void;
}

export function showGroup(element: HTMLElement, group: Group, { fields, unit, onToggle }: GroupLook): void {
  const field = fields.find(({ id }) => id === group.field);
  if (!field) return;
  const label = labelOf(group.value, field, unit);
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'group-toggle';
  button.tabIndex = -1;
  button.setAttribute('aria-expanded', String(group.open));
  button.setAttribute('aria-label', words.groups.head(field.name, label, group.count));
  button.append(icon(group.open ? 'menu' : 'right'));
  button.addEventListener('click', onToggle);
  const value = document.createElement('span');
  value.className = 'group-value';
  if (group.value === null || isRange(group.value) || unit || !field.options.length) value.textContent = label;
  else value.append(pill(field, String(group.value)));
  element.className = `wide-row group-head depth-${group.depth}`;
  element.replaceChildren(
    button,
    part('group-field', field.name),
    value,
    part('group-count', words.count(group.count)),
    ...group.figures.flatMap(({ field: id, fn, value: figure }) => {
      const of = fields.find((one) => one.id === id);
      return of && figure !== null ? [part('group-figure', words.groups.figure(fn, of.name, formatFigure(of, fn, figure)))] : [];
    }),
  );
}

function part(name: string, text: string): HTMLElement {
  const element = document.createElement('span');
  element.className = name;
  element.textContent = text;
  return element;
}
