/** The head of a column: type icon, full name, sort arrow with its rank, and the button of the column menu. */
import type { IHeaderComp, IHeaderParams } from 'ag-grid-community';
import { words } from '../../words';
import type { GridColumn, GridOwner } from '../grid';
import { icon } from '../../ui/icons';

export interface HeaderParams {
  readonly column: GridColumn;
  readonly owner: GridOwner;
}

export class ColumnHeader implements IHeaderComp {
  private readonly element = document.createElement('div');
  /** The same element for the life of the head: it may have the focus. */
  private readonly menu = document.createElement('button');
  private head!: HTMLElement;
  private own!: HeaderParams;

  init(params: IHeaderParams & { readonly own: HeaderParams }): void {
    this.element.className = 'head';
    this.element.addEventListener('click', (event) => {
      if (event.target instanceof Element && event.target.closest('.head-menu')) return;
      this.own.owner.sort(this.own.column.field.id, event.shiftKey);
    });
    this.menu.type = 'button';
    this.menu.className = 'head-menu';
    this.menu.tabIndex = -1;
    this.menu.append(icon('menu'));
    this.menu.addEventListener('click', () => this.own.owner.openMenu(this.own.column.field.id, this.menu));
    this.element.append(this.menu);
    this.head = params.eGridHeader;
    this.refresh(params);
  }

  getGui(): HTMLElement {
    return this.element;
  }

  refresh({ own }: IHeaderParams & { readonly own: HeaderParams }): boolean {
    this.own = own;
    const { field, sort } = own.column;
    const name = document.createElement('span');
    name.className = 'head-name';
    name.textContent = field.name;
    name.title = field.description ? `${field.name}\n${field.description}` : field.name;
    this.menu.setAttribute('aria-label', words.header.menu(field.name));
    // The library knows of no sort, and takes the attribute away as soon as this returns.
    queueMicrotask(() => this.head.setAttribute('aria-sort', sort ? (sort.direction === 'asc' ? 'ascending' : 'descending') : 'none'));
    for (const child of [...this.element.children]) if (child !== this.menu) child.remove();
    this.element.prepend(icon(field.type), name, ...(sort ? [arrow(sort)] : []));
    return true;
  }
}

function arrow({ direction, rank }: NonNullable<GridColumn['sort']>): HTMLElement {
  const element = document.createElement('span');
  element.className = 'head-sort';
  element.setAttribute('role', 'img');
  element.setAttribute('aria-label', words.header.sorted(direction, rank));
  element.append(icon(direction === 'asc' ? 'up' : 'down'));
  if (rank !== null) element.append(String(rank));
  return element;
}
