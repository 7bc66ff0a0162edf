/** The parts of a view on which the rows and their figures depend. Pure. */
import type { Filter } from '../api/types';
import { withInputs } from '../fields/computed';
import type { Field } from '../fields/fields';
import type { Dependence } from '../live/events';
import { toAddress } from '../view/address';
import { boardOf } from '../view/board';
import { fieldsIn } from '../view/filters';
import { summaryFunction } from '../view/footers';
import { DEFAULT_VIEW, type Column, type View } from '../view/view';
import type { GroupsQuery } from './groups';

/** The figures of groups: the summaries of number fields, without the one that orders the groups. A board has one at most. */
export function figuresOf(view: View, fields: readonly Field[]): GroupsQuery['aggregates'] {
  const board = boardOf(view);
  if (board) return board.aggregate ? [board.aggregate] : [];
  const { footers, groupOrder: order } = view;
  return Object.entries(footers).flatMap(([field, name]) => {
    const fn = summaryFunction(name);
    const isOrder = order?.field === field && order.fn === fn;
    return fn && !isOrder && fields.some(({ id, type }) => id === field && type === 'number') ? [{ field, function: fn }] : [];
  });
}

/** The inputs of the rows, as text: the view is created again with each change of the address. */
export function queryText({ sort, manual, filter, search, groups, groupOrder }: View, columns: readonly Column[], figures: GroupsQuery['aggregates']): string {
  const shown = columns.map(({ field }) => field).sort();
  return `${toAddress({ ...DEFAULT_VIEW, sort, manual, filter, search, groups, groupOrder })} ${shown.join()} ${JSON.stringify(figures)}`;
}

/**
 * The fields whose changes move rows, and those whose changes alter the figures: also what formulas among them read.
 * `summed`: the field of a selected column, whose figures the status line shows.
 */
export function dependenceOf(
  { sort, manual, groups, groupOrder, footers }: View,
  filter: Filter | null,
  figures: GroupsQuery['aggregates'],
  fields: readonly Field[],
  summed: string | null = null,
): Dependence {
  const ranks = groups.length && groupOrder?.field ? [groupOrder.field] : [];
  const places = [...[...sort, ...groups].map(({ field }) => field), ...ranks];
  return {
    places: withInputs([...places, ...fieldsIn(filter)], fields),
    figures: withInputs([...Object.keys(footers), ...figures.map(({ field }) => field), ...(summed === null ? [] : [summed])], fields),
    ranks: withInputs(ranks, fields),
    manual: manual !== null,
  };
}
