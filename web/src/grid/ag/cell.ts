/** A cell of an issue, drawn by its field's type, or of the head of a group, with the figures of the group. */
import type { ICellRendererComp, ICellRendererParams } from 'ag-grid-community';
import { showValue } from '../../cells/show';
import type { Field } from '../../fields/fields';
import { valueOf } from '../../fields/values';
import { words } from '../../words';
import type { GridOwner } from '../grid';
import { paintCell } from './classes';
import { fitLater, forget } from './clipped';
import { GUTTER_WIDTH } from './special';

export interface CellParams {
  readonly field: Field;
  readonly owner: GridOwner;
}

type Params = ICellRendererParams & CellParams;

export class IssueCell implements ICellRendererComp {
  private readonly element = document.createElement('span');

  init(params: Params): void {
    this.draw(params);
  }

  getGui(): HTMLElement {
    return this.element;
  }

  refresh(params: Params): boolean {
    this.draw(params);
    return true;
  }

  private draw({ node, field, owner, eGridCell, column }: Params): void {
    const index = node.rowIndex ?? -1;
    const slot = owner.at(index);
    paintCell(eGridCell, owner, index, field.id);
    forget(this.element);
    if (slot.kind === 'group') {
      owner.drawFigures(index, field.id, this.element, GUTTER_WIDTH);
      return;
    }
    if (this.element.title) this.element.title = '';
    this.element.className = `cell cell-${field.type}${slot.kind === 'loading' ? ' cell-loading' : ''}`;
    if (slot.kind === 'issue') {
      showValue(this.element, field, valueOf(slot.row, field.id));
      if (field.type === 'number' || field.type === 'multi_enum') fitLater(this.element, column?.getActualWidth());
    } else this.element.textContent = slot.kind === 'gone' && field.id === 'name' ? words.cell.gone : '';
  }
}
