/** The head after the last column: a button for a new field. */
import type { IHeaderComp, IHeaderParams } from 'ag-grid-community';
import { icon } from '../../ui/icons';
import { words } from '../../words';
import type { GridOwner } from '../grid';

export class AddHead implements IHeaderComp {
  private readonly element = document.createElement('button');

  init({ owner }: IHeaderParams & { readonly owner: GridOwner }): void {
    this.element.type = 'button';
    this.element.className = 'head-add';
    this.element.tabIndex = -1;
    this.element.setAttribute('aria-label', words.header.add);
    this.element.title = words.header.add;
    this.element.append(icon('plus'));
    this.element.addEventListener('click', () => owner.addField());
  }

  getGui(): HTMLElement {
    return this.element;
  }

  refresh(): boolean {
    return true;
  }
}
