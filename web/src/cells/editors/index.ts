/** The editor of each type. A check box has none: it is turned over where it stands. */
import type { FieldType } from '../../api/types';
import { optionEditor, optionsEditor, userEditor } from './choice';
import type { CellEditor, EditorParams } from './editor';
import { dateEditor, textEditor } from './plain';

const EDITORS: Readonly<Record<FieldType, (params: EditorParams) => CellEditor>> = {
  text: textEditor,
  number: textEditor,
  date: dateEditor,
  datetime: dateEditor,
  bool: textEditor,
  enum: optionEditor,
  multi_enum: optionsEditor,
  user: userEditor,
};

export function editorFor(params: EditorParams): CellEditor {
  return EDITORS[params.field.type](params);
}
