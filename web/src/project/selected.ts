/** The numbers in the selected cells, and their figures. */
import { isExact, type Exact } from '../api/json';
import type { Field } from '../fields/fields';
import { valueOf } from '../fields/values';
import { figuresOf, type Figures } from '../selection/figures';
import type { Rectangle } from '../selection/range';
import type { ProjectModel } from './model';
import { fetchFigures } from './queries';

/** Cells of one selection that are read: more would delay its drawing. */
const MOST_CELLS = 20_000;

export interface Selected {
  readonly figures: Figures;
  /** The field of the numbers; null where they are of several. */
  readonly field: Field | null;
  /** Whether some of the selected rows are not loaded, so that their numbers are missing. */
  readonly isPart: boolean;
}

/** The figures of the numbers in the cells whose rows are loaded; null for fewer than two numbers. */
export function loadedFigures(model: ProjectModel, range: Rectangle): Selected | null {
  const fields = numberFieldsOf(model, range);
  if (!fields.length) return null;
  const last = Math.min(range.bottom, range.top + Math.floor(MOST_CELLS / fields.length) - 1);
  const numbers: Exact[] = [];
  let isPart = last < range.bottom;
  for (let index = range.top; index <= last; index += 1) {
    const slot = model.rows.at(index);
    if (slot.kind === 'loading' || slot.kind === 'failed') isPart = true;
    if (slot.kind !== 'issue') continue;
    for (const { id } of fields) {
      const value = valueOf(slot.row, id);
      if (isExact(value)) numbers.push(value);
    }
  }
  const figures = numbers.length > 1 ? figuresOf(numbers) : null;
  return figures && { figures, field: fields.length === 1 ? (fields[0] ?? null) : null, isPart };
}

/** The number field of which every row is selected, and only it; null for another selection, and for rows in groups. */
export function wholeColumn(model: ProjectModel, range: Rectangle): Field | null {
  if (model.arranged.peek().groups.length || range.left !== range.right || range.top > 0 || range.bottom < model.size.rows - 1) return null;
  return numberFieldsOf(model, range)[0] ?? null;
}

/** The figures of a field in all issues that match the filter. */
export async function wholeFigures(model: ProjectModel, field: Field, signal: AbortSignal): Promise<Selected | null> {
  const figures = await fetchFigures(model.api, model.project.id, field.id, model.filter, signal);
  return figures && { figures, field, isPart: false };
}

function numberFieldsOf(model: ProjectModel, { left, right }: Rectangle): readonly Field[] {
  const places = Array.from({ length: right - left + 1 }, (_, place) => model.fieldAt(left + place));
  return places.flatMap((field) => (field?.type === 'number' && field.id !== 'num' ? [field] : []));
}
