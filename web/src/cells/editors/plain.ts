/** Editors that are one input: texts, numbers, dates and times. */
import { textOf } from '../text';
import { inputIn, type CellEditor, type EditorParams } from './editor';

export function textEditor(params: EditorParams): CellEditor {
  const { field, value, typed } = params;
  const input = inputIn(params, 'text');
  if (field.type === 'number') {
    input.inputMode = 'decimal';
    input.classList.add('numeric');
  }
  input.value = typed ?? textOf(field.type, value);
  return {
    element: input,
    open: () => {
      input.focus();
      if (typed === null) input.select();
    },
    result: () => ({ text: input.value }),
    close: () => undefined,
  };
}

/**
 * The browser's own picker; a date that is typed has the editor of texts, since the first key cannot be handed on to the browser's.
 * What it leaves as it was keeps all its digits.
 */
export function dateEditor(params: EditorParams): CellEditor {
  if (params.typed !== null) return textEditor(params);
  const { field, value } = params;
  const input = inputIn(params, field.type === 'date' ? 'date' : 'datetime-local');
  const before = textOf(field.type, value).replace(' ', 'T').slice(0, field.type === 'date' ? 10 : 19);
  if (field.type === 'date') input.max = '9999-12-31';
  else input.step = '1';
  input.value = before;
  const shown = input.value;
  return {
    element: input,
    open: () => {
      input.focus();
      pick(input);
    },
    result: () => (input.value === shown && !input.validity.badInput ? { value } : { text: input.validity.badInput ? '?' : input.value }),
    close: () => undefined,
  };
}

function pick(input: HTMLInputElement): void {
  try {
    input.showPicker();
  } catch {
    // Without a gesture of the user the picker stays closed; the field itself can be typed into.
  }
}
