/** Editors that are one line: numbers, dates and times. */
import { isComposing } from '../../composing';
import { words } from '../../words';
import { textOf } from '../text';
import { filled, focusIn, inputIn, type CellEditor, type EditorParams } from './editor';

export function numberEditor(params: EditorParams): CellEditor {
  const { field, value, begin } = params;
  const input = inputIn(params);
  input.inputMode = 'decimal';
  input.classList.add('numeric');
  return {
    element: input,
    result: filled(input, textOf(field.type, value), begin),
    open: () => focusIn(input, begin),
    close: () => undefined,
  };
}

/**
 * A date, typed as text in any form that `parseText` knows, or picked with the browser's picker beside it. The
 * browser's own input would lose an incomplete date.
 */
export function dateEditor(params: EditorParams): CellEditor {
  const { field, value, begin } = params;
  const element = document.createElement('div');
  element.className = 'editor-date';
  const input = inputIn(params);
  const result = filled(input, textOf(field.type, value), begin);
  const picker = document.createElement('input');
  picker.type = field.type === 'date' ? 'date' : 'datetime-local';
  picker.className = 'picker';
  picker.tabIndex = -1;
  picker.setAttribute('aria-hidden', 'true');
  if (field.type === 'date') picker.max = '9999-12-31';
  else picker.step = '1';
  const button = document.createElement('button');
  button.type = 'button';
  button.tabIndex = -1;
  button.setAttribute('aria-label', words.cell.pick(field.name));
  button.className = 'editor-pick';
  button.textContent = '▾';
  const pick = () => {
    picker.value = textOf(field.type, value).replace(' ', 'T').slice(0, field.type === 'date' ? 10 : 19);
    try {
      picker.showPicker();
    } catch {
      // Without a gesture of the user the picker stays closed; the date can be typed.
    }
  };
  // The focus stays in the input.
  for (const part of [button, picker]) part.addEventListener('mousedown', (event) => event.preventDefault());
  button.addEventListener('click', pick);
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowDown' || !event.altKey || isComposing(event)) return;
    event.preventDefault();
    pick();
  });
  picker.addEventListener('input', (event) => {
    event.stopPropagation();
    input.value = picker.value.replace('T', ' ');
    input.dispatchEvent(new Event('input', { bubbles: true }));
    input.focus();
  });
  element.append(input, button, picker);
  return { element, result, open: () => focusIn(input, begin), close: () => undefined };
}
