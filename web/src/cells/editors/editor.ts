/** An editor stands in a cell while its value is edited. Which one depends on the type of the field. */
import type { CellValue } from '../../fields/values';
import type { Field } from '../../fields/fields';

/** What came out: a text that is still to be understood, or a value that was chosen. */
export type Typed = { readonly text: string } | { readonly value: CellValue };

export interface CellEditor {
  readonly element: HTMLElement;
  /** The element is in the page: take the focus. */
  open(): void;
  result(): Typed;
  close(): void;
}

export interface EditorParams {
  readonly field: Field;
  readonly value: CellValue;
  /** The key with which typing began; null where the editor was opened otherwise. */
  readonly typed: string | null;
  /** Users whose id or name begins so. */
  readonly suggestUsers: (prefix: string) => Promise<readonly string[]>;
  /** End the editing, and take the result. */
  readonly done: () => void;
}

export function inputIn(params: EditorParams, type: string): HTMLInputElement {
  const input = document.createElement('input');
  input.type = type;
  input.className = 'editor';
  input.autocomplete = 'off';
  input.setAttribute('aria-label', params.field.name);
  return input;
}
