/**
 * Finds edited issues that are no longer in their place. The API applies the filter, and that of each group; neighbours
 * show the sort.
 */
import type { Filter } from '../api/types';
import type { CellEdit } from '../edits/change';
import { touches, withInputs } from '../fields/computed';
import { ADDED } from '../rows/layout';
import { boardOf } from '../view/board';
import { compareRows } from '../view/order';
import { fieldsIn } from '../view/filters';
import type { ProjectModel } from './model';
import { issuesThatPass } from './queries';

type Source = Pick<ProjectModel, 'api' | 'project' | 'fields' | 'filter' | 'view' | 'rows' | 'computing'>;

/** The groups whose issues are checked. If more are edited at once, all of their edited issues count as misfits. */
const MAX_GROUPS = 10;

/** The issues of these edits that are misfits on the screen. */
export async function findMisfits(model: Source, edits: readonly CellEdit[]): Promise<ReadonlySet<number>> {
  const view = model.view.peek();
  const sorted = view.sort.map(({ field }) => field);
  // A moved card is in its place of the new column.
  const board = boardOf(view);
  const by = board?.by;
  const keys = withInputs(sorted.filter((field) => field !== by), model.fields);
  const moved = new Set(edits.flatMap(({ num, field }) => (keys.has(field) ? [num] : [])));
  await model.computing.renew([...moved].flatMap((num) => model.rows.held(num) ?? [])).catch(() => undefined);
  const outOfOrder = [...moved].filter((num) => isOutOfOrder(model, num));
  const found = new Set(outOfOrder);
  const deciding = withInputs([...fieldsIn(model.filter), ...(board ? [] : view.groups.map(({ field }) => field))], model.fields);
  const isShown = (num: number) => model.rows.indexOf(num) !== undefined;
  const nums = new Set(edits.flatMap(({ num, field }) => (touches(field, deciding) && isShown(num) ? [num] : [])));
  const parts = [...byFilter(model, nums, board !== null)];
  const passing =
    parts.length > MAX_GROUPS ? [] : await Promise.all(parts.map(([filter, some]) => issuesThatPass(model.api, model.project.id, filter, some)));
  for (const [place, [, some]] of parts.entries()) for (const num of some) if (!passing[place]?.has(num)) found.add(num);
  return found;
}

/** These issues by the filter that they must pass to stay where they are: the one of their group, which includes the view's. */
function byFilter({ rows, filter }: Source, nums: Iterable<number>, isBoard: boolean): ReadonlyMap<Filter, readonly number[]> {
  const found = new Map<Filter, number[]>();
  for (const num of nums) {
    const run = isBoard ? undefined : rows.placeOf(num)?.run;
    const needed = run && run.key !== ADDED ? run.filter : filter;
    if (needed) found.set(needed, [...(found.get(needed) ?? []), num]);
  }
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
