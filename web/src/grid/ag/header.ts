/**
 * The head of a column: type icon, full name, a mark if it is frozen, the sort arrow, and the button of the menu. A click
 * selects the column; the arrow sorts.
 */
import type { IHeaderComp, IHeaderParams } from 'ag-grid-community';
import { words } from '../../words';
import type { Choosing } from '../../selection/range';
import type { GridColumn, GridOwner } from '../grid';
import { icon } from '../../ui/icons';
import { buttonOf } from './button';
import { choosingBy } from './choosing';

export interface HeaderParams {
  readonly column: GridColumn;
  readonly owner: GridOwner;
  /** The head was clicked. */
  readonly onSelect: (field: string, how: Choosing) => void;
}

export class ColumnHeader implements IHeaderComp {
  private readonly element = document.createElement('div');
  /** The same elements for the life of the head: one may have the focus. */
  private readonly menu = buttonOf('head-menu');
  private readonly arrow = buttonOf('head-sort');
  private head!: HTMLElement;
  private own!: HeaderParams;

  init(params: IHeaderParams & { readonly own: HeaderParams }): void {
    this.element.className = 'head';
    this.element.addEventListener('click', (event) => {
      const { target } = event;
      if (target instanceof Element && target.closest('button')) return;
      this.head.focus({ preventScroll: true });
      this.own.onSelect(this.own.column.field.id, choosingBy(event));
    });
    this.menu.append(icon('menu'));
    this.menu.addEventListener('click', () => this.own.owner.openContext({ kind: 'head', field: this.own.column.field.id }, this.menu, null));
    this.arrow.addEventListener('click', ({ shiftKey }) => this.own.owner.sort(this.own.column.field.id, shiftKey));
    this.element.append(this.arrow, this.menu);
    this.head = params.eGridHeader;
    this.refresh(params);
  }

  getGui(): HTMLElement {
    return this.element;
  }

  refresh({ own }: IHeaderParams & { readonly own: HeaderParams }): boolean {
    this.own = own;
    const { field, sort, frozen } = own.column;
    const name = document.createElement('span');
    name.className = 'head-name';
    name.textContent = field.name;
    name.title = field.description ? `${field.name}\n${field.description}` : field.name;
    this.menu.setAttribute('aria-label', words.header.menu(field.name));
    // The library knows of no sort, and takes the attribute away as soon as this returns.
    queueMicrotask(() => this.head.setAttribute('aria-sort', sort ? (sort.direction === 'asc' ? 'ascending' : 'descending') : 'none'));
    for (const child of [...this.element.children]) if (child !== this.menu && child !== this.arrow) child.remove();
    this.element.prepend(icon(field.type), name, ...(frozen === 'no' ? [] : [pin(frozen)]));
    this.showSort(sort, field.name);
    return true;
  }

  private showSort(sort: GridColumn['sort'], name: string): void {
    const label = words.header.sort(name, sort && words.header.sorted(sort.direction, sort.rank));
    this.arrow.classList.toggle('is-set', sort !== null);
    this.arrow.setAttribute('aria-label', label);
    this.arrow.title = label;
    this.arrow.replaceChildren(icon(sort?.direction === 'desc' ? 'down' : 'up'), ...(sort && sort.rank !== null ? [String(sort.rank)] : []));
  }
}

function pin(frozen: 'yes' | 'no-room'): HTMLElement {
  const element = document.createElement('span');
  element.className = `head-pin${frozen === 'no-room' ? ' has-no-room' : ''}`;
  element.setAttribute('role', 'img');
  element.setAttribute('aria-label', words.header.frozen[frozen]);
  element.title = words.header.frozen[frozen];
  element.append(icon('pin'));
  return element;
}
