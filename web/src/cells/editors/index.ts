/** The editor of each type, and why its content is no value. A check box has none: it is toggled in its cell. */
import type { FieldType } from '../../api/types';
import { isComposing } from '../../composing';
import { Note } from '../note';
import { parseTyped } from '../parse';
import { areaEditor } from './area';
import { optionEditor, optionsEditor, userEditor } from './choice';
import type { CellEditor, EditorParams } from './editor';
import { dateEditor, numberEditor } from './plain';

const EDITORS: Readonly<Record<FieldType, (params: EditorParams) => CellEditor>> = {
  text: areaEditor,
  number: numberEditor,
  date: dateEditor,
  datetime: dateEditor,
  bool: areaEditor,
  enum: optionEditor,
  multi_enum: optionsEditor,
  user: userEditor,
};

export interface OpenEditor extends CellEditor {
  /** Whether the result is a value of the field. If not, the editor says why, until the user continues. */
  settles(): boolean;
}

export function editorFor(params: EditorParams): OpenEditor {
  const editor = EDITORS[params.field.type]({ ...params, done: () => settles() && params.done() });
  const { element } = editor;
  const note = new Note();
  const show = (message: string) => {
    note.show(message, element);
    if (message) element.setAttribute('aria-invalid', 'true');
    else element.removeAttribute('aria-invalid');
  };
  const settles = () => {
    const result = editor.result();
    const parsed = result && parseTyped(params.field, result);
    show(parsed && !parsed.ok ? parsed.message : '');
    return parsed?.ok ?? true;
  };
  element.addEventListener('input', () => show(''));
  element.addEventListener('keydown', (event) => {
    // The keys of an input method belong to it. An editor whose content is no value stays open.
    const ends = event.key === 'Enter' || event.key === 'Tab';
    if (isComposing(event)) event.stopPropagation();
    else if (ends && !event.defaultPrevented && !settles()) {
      event.preventDefault();
      event.stopPropagation();
    }
  });
  return {
    ...editor,
    open: () => {
      editor.open();
      if (params.begin?.isTyped === false) settles();
    },
    close: () => {
      note.destroy();
      editor.close();
    },
    settles,
  };
}
