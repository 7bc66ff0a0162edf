/** Puts the editor of a field's type into the library's place for it. */
import type { ICellEditorComp, ICellEditorParams } from 'ag-grid-community';
import { editorFor } from '../../cells/editors';
import type { CellEditor, Typed } from '../../cells/editors/editor';
import { valueOf } from '../../fields/values';
import type { CellParams } from './cell';

export class CellEditing implements ICellEditorComp {
  private editor!: CellEditor;
  private ended!: () => void;

  init({ field, owner, rowIndex, eventKey, stopEditing }: ICellEditorParams & CellParams): void {
    const slot = owner.at(rowIndex);
    this.ended = owner.editing(rowIndex, field.id);
    this.editor = editorFor({
      field,
      value: slot.kind === 'issue' ? valueOf(slot.row, field.id) : null,
      typed: eventKey?.length === 1 ? eventKey : null,
      suggestUsers: (prefix) => owner.suggestUsers(prefix),
      done: () => stopEditing(),
    });
  }

  getGui(): HTMLElement {
    return this.editor.element;
  }

  afterGuiAttached(): void {
    this.editor.open();
  }

  getValue(): Typed {
    return this.editor.result();
  }

  destroy(): void {
    this.editor.close();
    this.ended();
  }
}
