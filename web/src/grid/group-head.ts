/**
 * Draws the head of a group: its label, and its figures below the heads of their columns. The label shows whether the
 * group is open, the value that its issues share, and their number.
 */
import type { Field } from '../fields/fields';
import type { Group, GroupFigure } from '../rows/layout';
import { icon } from '../ui/icons';
import type { GroupKey } from '../view/view';
import { words } from '../words';
import { buttonOf } from './ag/button';
import { showFigure } from './footer-text';
import { formatFigure } from './figures';
import { isRange } from '../fields/values';
import { pill } from '../cells/show';
import { labelOf } from './group-label';
import type { HeadRoom } from './head-room';

export interface GroupLook extends HeadRoom {
  readonly fields: readonly Field[];
  readonly unit: GroupKey['unit'];
  /** Whether the user may start an issue in the group. */
  readonly mayAdd: boolean;
}

/** The buttons are the same elements for the life of the label: one may have the focus, or be pressed. */
export function showGroup(element: HTMLElement, group: Group, { fields, unit, mayAdd, room, listed }: GroupLook): void {
  const field = fields.find(({ id }) => id === group.field);
  if (!field) return;
  const name = labelOf(group.value, field, unit);
  const { toggle, parts, add } = partsOf(element);
  toggle.setAttribute('aria-expanded', String(group.open));
  toggle.setAttribute('aria-label', words.groups.head(field.name, name, group.count));
  toggle.replaceChildren(icon(group.open ? 'menu' : 'right'));
  add.hidden = !mayAdd;
  const value = part('group-value', name);
  value.title = name;
  if (group.value !== null && !isRange(group.value) && !unit && field.options.length) value.replaceChildren(pill(field, String(group.value)));
  parts.replaceChildren(
    part('group-field', field.name),
    value,
    part('group-count', words.count(group.count)),
    ...figuresIn(group, fields, (id) => listed.has(id)).map(({ of, fn, text }) => part('group-figure', words.groups.figure(fn, of.name, text))),
  );
  element.className = `group-label depth-${group.depth}`;
  element.style.maxWidth = `${room}px`;
}

interface LabelParts {
  readonly toggle: HTMLElement;
  readonly parts: HTMLElement;
  readonly add: HTMLElement;
}

function partsOf(element: HTMLElement): LabelParts {
  const [toggle, parts, add] = [...element.children] as HTMLElement[];
  if (toggle && parts && add) return { toggle, parts, add };
  const made = { toggle: buttonOf('group-toggle'), parts: part('group-parts', ''), add: buttonOf('group-add') };
  made.add.setAttribute('aria-label', words.context.newInGroup);
  made.add.title = words.context.newInGroup;
  made.add.append(icon('plus'));
  element.replaceChildren(made.toggle, made.parts, made.add);
  return made;
}

/** Draw the figures of a group for one field. */
export function showFigures(element: HTMLElement, group: Group, field: Field): void {
  element.className = 'footer-cell';
  const figures = figuresIn(group, [field], () => true);
  element.title = figures.map(({ fn, text }) => words.groups.figure(fn, field.name, text)).join('\n');
  const texts = figures.map(({ fn, text }) => ({ name: words.summary.functions[fn], value: text }));
  const [only] = texts;
  // The groups may be ordered by another figure of the column than its summary.
  if (only && texts.length === 1) showFigure(element, only.name, only.value);
  else showFigure(element, '', texts.map(({ name, value }) => `${name} ${value}`).join(', '));
}

interface FigureText extends GroupFigure {
  readonly of: Field;
  readonly text: string;
}

function figuresIn({ figures }: Group, fields: readonly Field[], isWanted: (field: string) => boolean): readonly FigureText[] {
  return figures.flatMap((figure) => {
    const of = fields.find(({ id }) => id === figure.field);
    return of && figure.value !== null && isWanted(of.id) ? [{ ...figure, of, text: formatFigure(of, figure.fn, figure.value) }] : [];
  });
}

function part(name: string, text: string): HTMLElement {
  const element = document.createElement('span');
  element.className = name;
  element.textContent = text;
  return element;
}
