/** The color of a row: by the first rule that it matches, or else by the option of the chosen field. */
import { colorOf } from '../cells/colors';
import type { Color } from '../fields/palette';
import { valueOf, type Row } from '../fields/values';
import type { ProjectModel } from '../project/model';
import { colorOfRow } from '../view/rules';

export function rowColor(model: ProjectModel, row: Row): Color | null {
  const field = model.field(model.view.peek().color ?? '');
  const value = field ? valueOf(row, field.id) : null;
  return colorOfRow(model.ruling.peek(), row) ?? (field && typeof value === 'string' ? colorOf(field, value) : null);
}
