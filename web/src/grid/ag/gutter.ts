/**
 * The gutter has the number of each row of the screen. For an issue it also has a check box, a button that opens its panel, and
 * in a manual order a handle that drags it. In the
 * head of a group it has the label of the group, which extends over the columns beside it. The adapter hears the clicks
 * of all of them.
 */
import type { ICellRendererComp, ICellRendererParams, IHeaderComp, IHeaderParams } from 'ag-grid-community';
import { isDraft } from '../../fields/values';
import { icon } from '../../ui/icons';
import { words } from '../../words';
import type { GridOwner } from '../grid';
import { buttonOf } from './button';
import { GUTTER_WIDTH } from './special';

/** Rows that scroll into view copy it: that costs less than to build it. */
const TEMPLATE = templateOf();

type Params = ICellRendererParams & { readonly owner: GridOwner };

export class GutterCell implements ICellRendererComp {
  private readonly element = TEMPLATE.cloneNode(true) as HTMLElement;
  /** In heads of groups. */
  private label: HTMLElement | null = null;

  init(params: Params): void {
    this.refresh(params);
  }

  getGui(): HTMLElement {
    return this.element;
  }

  refresh({ node, owner }: Params): boolean {
    const index = node.rowIndex ?? -1;
    const [number, box, open] = this.element.children as unknown as readonly [HTMLElement, HTMLInputElement, HTMLElement];
    number.textContent = node.rowPinned ? '' : String(index + 1);
    const slot = node.rowPinned ? null : owner.at(index);
    this.showLabel(slot?.kind === 'group', owner, index);
    const num = slot?.kind === 'issue' && !isDraft(slot.row.num) ? slot.row.num : null;
    this.element.classList.toggle('is-empty', num === null);
    box.hidden = open.hidden = num === null;
    if (num === null) return true;
    box.setAttribute('aria-label', words.gutter.check(num));
    box.checked = owner.isChecked(index);
    open.setAttribute('aria-label', words.gutter.open(num));
    open.title = words.toolbar.openIssue;
    return true;
  }

  private showLabel(isHead: boolean, owner: GridOwner, index: number): void {
    if (!isHead && !this.label) return;
    this.element.classList.toggle('is-head', isHead);
    if (!isHead) {
      this.label?.remove();
      this.label = null;
      return;
    }
    if (!this.label) this.element.append((this.label = document.createElement('div')));
    owner.drawHead(index, this.label, GUTTER_WIDTH);
  }
}

export class GutterHead implements IHeaderComp {
  private readonly element = document.createElement('div');

  init({ owner }: IHeaderParams & { readonly owner: GridOwner }): void {
    this.element.className = 'gutter gutter-head';
    const box = boxOf('gutter-all');
    box.setAttribute('aria-label', words.gutter.checkAll);
    box.title = words.gutter.checkAll;
    this.element.append(box);
    paintGutterHead(this.element, owner);
  }

  getGui(): HTMLElement {
    return this.element;
  }

  refresh(): boolean {
    return true;
  }
}

/** Show in a row whether its issue is checked. */
export function paintGutter(row: Element, owner: GridOwner, index: number): void {
  const box = row.querySelector<HTMLInputElement>('.gutter-box');
  if (box && !box.hidden) box.checked = owner.isChecked(index);
}

export function paintGutterHead(host: Element, owner: GridOwner): void {
  const box = host.querySelector<HTMLInputElement>('.gutter-all');
  if (!box) return;
  const state = owner.checkedAll();
  box.checked = state === 'all';
  box.indeterminate = state === 'some';
}

function templateOf(): HTMLElement {
  const element = document.createElement('div');
  element.className = 'gutter';
  const number = document.createElement('span');
  number.className = 'gutter-number';
  const open = buttonOf('gutter-open');
  open.append(icon('expand'));
  const grip = document.createElement('span');
  grip.className = 'grip';
  grip.title = words.gutter.drag;
  grip.append(icon('grip'));
  element.append(number, boxOf('gutter-box'), open, grip);
  return element;
}

function boxOf(name: string): HTMLInputElement {
  const box = document.createElement('input');
  box.type = 'checkbox';
  box.className = name;
  box.tabIndex = -1;
  return box;
}
