/** Puts the editor of a field's type into the library's place for it. */
import type { ICellEditorComp, ICellEditorParams } from 'ag-grid-community';
import { editorFor, type OpenEditor } from '../../cells/editors';
import type { OpenCell, Typed } from '../../cells/editors/editor';
import { valueOf } from '../../fields/values';
import type { CellParams } from './cell';

/** The result of an editor, in its own object: the library would drop a result that equals the value. */
export interface Edited {
  readonly typed: Typed | null;
  readonly cell: OpenCell;
}

export class CellEditing implements ICellEditorComp {
  private editor!: OpenEditor;
  private cell!: OpenCell;
  private readonly closed = new AbortController();

  init({ field, owner, rowIndex, eventKey, stopEditing, eGridCell }: ICellEditorParams & CellParams): void {
    const slot = owner.at(rowIndex);
    this.cell = owner.editing(rowIndex, field.id);
    const refused = owner.refused(rowIndex, field.id);
    this.editor = editorFor({
      field,
      value: slot.kind === 'issue' ? valueOf(slot.row, field.id) : null,
      begin:
        eventKey?.length === 1
          ? { text: eventKey, isTyped: true }
          : refused !== null
            ? { text: refused, isTyped: false }
            : null,
      suggestUsers: (prefix) => owner.suggestUsers(prefix),
      mayCreate: owner.mayCreateOptions,
      done: () => stopEditing(),
    });
    eGridCell.addEventListener('focus', () => queueMicrotask(() => enterEditor(eGridCell)), { signal: this.closed.signal });
  }

  getGui(): HTMLElement {
    return this.editor.element;
  }

  afterGuiAttached(): void {
    this.editor.open();
  }

  getValue(): Edited {
    return { typed: this.editor.result(), cell: this.cell };
  }

  /** The user leaves the value as it was. */
  leave(): void {
    this.cell.take(null);
  }

  destroy(): void {
    this.closed.abort();
    this.editor.close();
    this.cell.end();
  }
}

/**
 * The library gives a cell that it has just drawn the focus a moment later, also if an editor was opened meanwhile. A
 * press at the edge of the cell gives it the focus, too. An editor that ends has left its cell by now.
 */
function enterEditor(cell: HTMLElement): void {
  if (document.activeElement === cell) cell.querySelector<HTMLElement>('.editor')?.focus();
}
