/** An editor is in a cell while its value is edited. Which one depends on the type of the field. */
import type { CellValue } from '../../fields/values';
import type { Field } from '../../fields/fields';

/** A text that is still to be parsed, or a chosen value. `create` has its options that the field does not have yet. */
export type Typed = { readonly text: string } | { readonly value: CellValue; readonly create?: readonly string[] };

/** The input of an editor, which has the focus while its value is edited. */
export type Input = HTMLInputElement | HTMLTextAreaElement;

export interface CellEditor {
  readonly element: HTMLElement;
  /** The element is in the page: take the focus. */
  open(): void;
  /** The entered value; null if it is unchanged. */
  result(): Typed | null;
  close(): void;
}

/** The cell of an open editor. It stays that of its issue, even if the rows move. */
export interface OpenCell {
  /** The editor has this result; null: it leaves the value as it was. */
  readonly take: (typed: Typed | null) => void;
  /** The editor is closed. */
  readonly end: () => void;
}

export interface EditorParams {
  readonly field: Field;
  readonly value: CellValue;
  /** The text to begin with instead of the value's: the typed key, or a text that was refused. */
  readonly begin: Beginning | null;
  /** Users whose id or name begins with the text. */
  readonly suggestUsers: (prefix: string) => Promise<readonly string[]>;
  /** Whether the user may add options to the field. */
  readonly mayCreate: boolean;
  /** End the editing, and take the result. */
  readonly done: () => unknown;
}

export interface Beginning {
  readonly text: string;
  /** Whether the text is the first that the user typed. */
  readonly isTyped: boolean;
}

export function inputIn(params: EditorParams): HTMLInputElement {
  const input = document.createElement('input');
  input.type = 'text';
  return labelled(input, params);
}

export function labelled<T extends Input>(input: T, { field }: EditorParams): T {
  input.className = 'editor';
  input.autocomplete = 'off';
  input.setAttribute('aria-label', field.name);
  return input;
}

/**
 * Fill the input with a text of the value, or with the beginning of the editing. Returns a function that reads its
 * result.
 */
export function filled(input: Input, text: string, begin: Beginning | null): () => Typed | null {
  input.value = text;
  // Inputs normalize their text: an area has only one kind of line break.
  const shown = input.value;
  if (begin) input.value = begin.text;
  return () => (input.value === shown ? null : { text: input.value });
}

/** Focus the input: with all of its text selected, unless the user goes on typing. */
export function focusIn(input: Input, begin: Beginning | null): void {
  input.focus();
  if (begin?.isTyped) input.setSelectionRange(input.value.length, input.value.length);
  else input.select();
}
