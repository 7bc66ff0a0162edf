/** The columns of a view: which, in which order, how wide. Pure; each function returns a new list. */
import type { FieldType } from '../api/types';
import type { Field } from '../fields/fields';
import type { Column } from './view';

export const MIN_WIDTH = 56;
export const MAX_WIDTH = 1200;

const WIDTHS: Readonly<Record<FieldType, number>> = {
  text: 220,
  number: 120,
  date: 120,
  datetime: 170,
  bool: 96,
  enum: 150,
  multi_enum: 220,
  user: 140,
};

/** The fields that are hidden until the user shows them: they would push the project's own fields off the screen. */
const HIDDEN: ReadonlySet<string> = new Set(['created_by', 'updated_by']);

/** The default columns: all but the hidden ones. */
export function defaultColumns(fields: readonly Field[]): readonly Column[] {
  return allColumns(fields).filter(({ field }) => !HIDDEN.has(field));
}

/** The columns of all fields: number and name frozen, then the others in order. */
function allColumns(fields: readonly Field[]): readonly Column[] {
  return fields.map(({ id, type }) => ({
    field: id,
    width: id === 'num' ? 72 : id === 'name' ? 320 : WIDTHS[type],
    frozen: id === 'num' || id === 'name',
  }));
}

/** The columns in the order of the screen: the frozen ones come first. */
export function inScreenOrder(columns: readonly Column[]): readonly Column[] {
  return [...columns.filter(({ frozen }) => frozen), ...columns.filter(({ frozen }) => !frozen)];
}

export function resized(columns: readonly Column[], field: string, width: number): readonly Column[] {
  const bounded = Math.round(Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, width)));
  return columns.map((column) => (column.field === field ? { ...column, width: bounded } : column));
}

export function frozen(columns: readonly Column[], field: string, on: boolean): readonly Column[] {
  return inScreenOrder(columns.map((column) => (column.field === field ? { ...column, frozen: on } : column)));
}

export function hidden(columns: readonly Column[], field: string): readonly Column[] {
  return columns.length > 1 ? columns.filter((column) => column.field !== field) : columns;
}

/** Show a field, in its place of the project's order among the shown ones. */
export function shown(columns: readonly Column[], field: string, fields: readonly Field[]): readonly Column[] {
  if (columns.some((column) => column.field === field)) return columns;
  const every = allColumns(fields);
  const added = every.find((column) => column.field === field);
  if (!added) return columns;
  const after = new Set(every.slice(every.indexOf(added) + 1).map((column) => column.field));
  const place = columns.findIndex((column) => after.has(column.field));
  const at = place < 0 ? columns.length : place;
  return inScreenOrder([...columns.slice(0, at), { ...added, frozen: false }, ...columns.slice(at)]);
}

/** Move a column before another, or to the end. It takes over whether its new neighbour is frozen. */
export function moved(columns: readonly Column[], field: string, before: string | null): readonly Column[] {
  const column = columns.find((one) => one.field === field);
  if (!column || field === before) return columns;
  const others = columns.filter((one) => one !== column);
  const found = others.findIndex((one) => one.field === before);
  const at = found < 0 ? others.length : found;
  const neighbour = others[at] ?? others[at - 1];
  const placed = { ...column, frozen: neighbour?.frozen ?? column.frozen };
  return [...others.slice(0, at), placed, ...others.slice(at)];
}

/** Put a new field beside a column that is shown. */
export function inserted(columns: readonly Column[], { id, type }: Pick<Field, 'id' | 'type'>, beside: string, side: 'before' | 'after'): readonly Column[] {
  const place = columns.findIndex(({ field }) => field === beside);
  const neighbour = columns[place];
  if (!neighbour || columns.some(({ field }) => field === id)) return columns;
  const at = side === 'before' ? place : place + 1;
  return [...columns.slice(0, at), { field: id, width: WIDTHS[type], frozen: neighbour.frozen }, ...columns.slice(at)];
}

/** Whether a screen of some width has room for a frozen column. */
export function fits(columns: readonly Column[], field: string, width: number): boolean {
  return fittingWidth(columns, width).some((column) => column.field === field && column.frozen);
}

/** The columns for a screen of some width: frozen ones take no more than half of it. */
export function fittingWidth(columns: readonly Column[], width: number): readonly Column[] {
  let taken = 0;
  return columns.map((column) => {
    if (!column.frozen) return column;
    taken += column.width;
    return taken <= width / 2 ? column : { ...column, frozen: false };
  });
}
