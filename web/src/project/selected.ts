/** The numbers in the selected cells, and their figures. */
import { isExact, type Exact } from '../api/json';
import type { Field } from '../fields/fields';
import { valueOf } from '../fields/values';
import { figuresOf, type Figures } from '../selection/figures';
import { countOf } from '../rows/targets';
import { contains, rowCount, rowsOf, type Rectangle } from '../selection/range';
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

/** The number of issues that a job for the selected rows changes; 0 for fewer than two rows. */
export function issuesSelected(model: ProjectModel): number {
  return rowCount(rowsOf(model.ranges)) > 1 ? countOf(model.selectedTargets()) : 0;
}

/** The figures of the numbers in the cells whose rows are loaded; null for fewer than two numbers. */
export function loadedFigures(model: ProjectModel, ranges: readonly Rectangle[]): Selected | null {
  const found = new Set<Field>();
  const numbers: Exact[] = [];
  let isPart = false;
  let left = MOST_CELLS;
  for (const [place, range] of ranges.entries()) {
    const fields = numberFieldsOf(model, range);
    if (!fields.length) continue;
    for (const { field } of fields) found.add(field);
    const earlier = ranges.slice(0, place);
    const last = Math.min(range.bottom, range.top + Math.floor(left / fields.length) - 1);
    left -= (last - range.top + 1) * fields.length;
    isPart ||= last < range.bottom;
    for (let row = range.top; row <= last; row += 1) {
      const slot = model.rows.at(row);
      if (slot.kind === 'loading' || slot.kind === 'failed') isPart = true;
      if (slot.kind !== 'issue') continue;
      for (const { field, column } of fields) {
        const value = valueOf(slot.row, field.id);
        // A cell in several ranges counts once.
        if (isExact(value) && !earlier.some((one) => contains(one, { row, column }))) numbers.push(value);
      }
    }
  }
  const figures = numbers.length > 1 ? figuresOf(numbers) : null;
  const [only] = found;
  return figures && { figures, field: found.size === 1 && only ? only : null, isPart };
}

/** The number field of which every row is selected, and only it; null for another selection, and for rows in groups. */
export function wholeColumn(model: ProjectModel, ranges: readonly Rectangle[]): Field | null {
  const [range] = ranges;
  if (!range || ranges.length > 1) return null;
  if (model.arranged.peek().groups.length || range.left !== range.right || range.top > 0 || range.bottom < model.size.rows - 1) return null;
  return numberFieldsOf(model, range)[0]?.field ?? null;
}

/** The figures of a field in all issues that match the filter. */
export async function wholeFigures(model: ProjectModel, field: Field, signal: AbortSignal): Promise<Selected | null> {
  const figures = await fetchFigures(model.api, model.project.id, field.id, model.filter, signal);
  return figures && { figures, field, isPart: false };
}

interface NumberColumn {
  readonly field: Field;
  readonly column: number;
}

function numberFieldsOf(model: ProjectModel, { left, right }: Rectangle): readonly NumberColumn[] {
  const columns = Array.from({ length: right - left + 1 }, (_, place) => left + place);
  return columns.flatMap((column) => {
    const field = model.fieldAt(column);
    return field?.type === 'number' && field.id !== 'num' ? [{ field, column }] : [];
  });
}
