/** A cell of the row below all others: the owner draws the summary of the column. */
import type { ICellRendererComp, ICellRendererParams } from 'ag-grid-community';
import type { CellParams } from './cell';

type Params = ICellRendererParams & CellParams;

export class FooterCell implements ICellRendererComp {
  private readonly element = document.createElement('div');

  init(params: Params): void {
    this.element.className = 'footer-cell';
    this.refresh(params);
  }

  getGui(): HTMLElement {
    return this.element;
  }

  refresh({ field, owner }: Params): boolean {
    owner.drawFooter(field.id, this.element);
    return true;
  }
}
