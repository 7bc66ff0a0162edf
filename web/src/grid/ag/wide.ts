/** A row that is no issue: the owner draws it across all columns. */
import type { ICellRendererComp, ICellRendererParams } from 'ag-grid-community';
import type { GridOwner } from '../grid';

export class WideRow implements ICellRendererComp {
  private readonly element = document.createElement('div');

  init(params: ICellRendererParams & { readonly owner: GridOwner }): void {
    this.element.className = 'wide-row';
    this.element.setAttribute('role', 'gridcell'); // a row may contain only cells
    this.refresh(params);
  }

  getGui(): HTMLElement {
    return this.element;
  }

  refresh({ node, owner }: ICellRendererParams & { readonly owner: GridOwner }): boolean {
    owner.drawWide(node.rowIndex ?? -1, this.element);
    return true;
  }
}
