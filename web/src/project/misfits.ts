/** Finds edited issues that are no longer in their place. The API applies the filter; neighbours show the sort. */
import type { CellEdit } from '../edits/change';
import { boardOf } from '../view/board';
import { compareRows } from '../view/order';
import { fieldsIn } from '../view/filters';
import type { ProjectModel } from './model';
import { issuesThatPass } from './queries';

type Source = Pick<ProjectModel, 'api' | 'project' | 'fields' | 'filter' | 'view' | 'rows' | 'misfits'>;

/** The misfits of the grid after these edits, with the earlier ones. */
export async function findMisfits(model: Source, edits: readonly CellEdit[]): Promise<ReadonlySet<number>> {
  const { filter } = model;
  const keys = new Set(model.view.peek().sort.map(({ field }) => field));
  // A moved card is in its place of the new column.
  keys.delete(boardOf(model.view.peek())?.by ?? '');
  const outOfOrder = edits.flatMap(({ num, field }) => (keys.has(field) && isOutOfOrder(model, num) ? [num] : []));
  const found = new Set([...model.misfits.peek(), ...outOfOrder]);
  const filtered = fieldsIn(filter);
  const nums = [...new Set(edits.flatMap(({ num, field }) => (filtered.has(field) ? [num] : [])))];
  const passing = filter && nums.length ? await issuesThatPass(model.api, model.project.id, filter, nums) : null;
  if (passing) for (const num of nums) if (!passing.has(num)) found.add(num);
  return found;
}

function isOutOfOrder({ rows, view, fields }: Source, num: number): boolean {
  const index = rows.indexOf(num);
  if (index === undefined) return false;
  const [before, row, after] = [-1, 0, 1].map((step) => rows.at(index + step));
  if (row?.kind !== 'issue') return false;
  const { sort } = view.peek();
  const follows = before?.kind !== 'issue' || compareRows(before.row, row.row, sort, fields) < 0;
  const precedes = after?.kind !== 'issue' || compareRows(row.row, after.row, sort, fields) < 0;
  return !follows || !precedes;
}
