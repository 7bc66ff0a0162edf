/** The head after the last column: a button for a new field. */
import type { IHeaderComp, IHeaderParams } from 'ag-grid-community';
import { icon } from '../../ui/icons';
import { words } from '../../words';
import type { GridOwner } from '../grid';
import { buttonOf } from './button';

export class AddHead implements IHeaderComp {
  private readonly element = buttonOf('head-add');

  init({ owner }: IHeaderParams & { readonly owner: GridOwner }): void {
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
