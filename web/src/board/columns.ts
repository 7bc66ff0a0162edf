/** The columns of a board: from its settings, the options of its field, and the counted groups. Pure. */
import type { Field } from '../fields/fields';
import type { Filter } from '../api/types';
import { keyOfGroup, type CountedGroup } from '../rows/groups';
import type { GroupFigure } from '../rows/layout';
import { MAX_BOARD_COLUMNS, type Board, type BoardColumn, type BoardValue } from '../view/board';
import { movedBefore } from '../view/moved';

/** A column with its cards as the API counts them. */
export interface Column extends BoardColumn {
  /** Distinguishes it from the others. */
  readonly key: string;
  /** The number of its cards. */
  readonly count: number;
  /** The filter that selects its cards; null if it has none, or no request can name it. */
  readonly filter: Filter | null;
  readonly figure: GroupFigure | null;
}

export function keyOfColumn(value: BoardValue): string {
  return keyOfGroup([value]);
}

/** The key of the run of rows that has a column's cards. */
export function runOf(key: string): string {
  return `/${key}`;
}

/**
 * All columns, in their order: first the settings, then the options, then other values of issues, last no value. `moved`
 * are values that cards have just got.
 */
export function columnsOf(board: Board, field: Field, groups: readonly CountedGroup[], moved: readonly BoardValue[] = []): readonly Column[] {
  const counted = new Map(groups.map((group) => [keyOfGroup(group.values), group]));
  const settings = new Map(board.columns.map((column) => [keyOfColumn(column.value), column]));
  const present = [...groups.map(({ values: [value = null] }) => value as BoardValue), ...moved];
  const values = [
    ...board.columns.map(({ value }) => value),
    ...optionsOf(field),
    ...present.filter((value) => value !== null),
    ...(present.includes(null) || !field.required ? [null] : []),
  ];
  const columns = new Map(
    values.map((value) => {
      const key = keyOfColumn(value);
      const group = counted.get(key);
      const { hidden = false, limit = null } = settings.get(key) ?? {};
      return [key, { key, value, hidden, limit, count: group?.count ?? 0, filter: group?.filter ?? null, figure: group?.figures[0] ?? null }];
    }),
  );
  return [...columns.values()];
}

/** The values that a field can have, without none; users are known only from issues. */
function optionsOf({ type, options }: Field): readonly BoardValue[] {
  return type === 'bool' ? [false, true] : options.map(({ value }) => value);
}

/** The settings of columns in their present order, with another one for one of them. */
export function withColumn(columns: readonly BoardColumn[], value: BoardValue, change: Partial<BoardColumn>): readonly BoardColumn[] {
  return settingsOf(columns.map((column) => (column.value === value ? { ...column, ...change } : column)));
}

/** The settings of columns after one has moved before another, or to the end (null). */
export function movedColumn(columns: readonly Column[], key: string, before: string | null): readonly BoardColumn[] {
  const column = columns.find((one) => one.key === key);
  return settingsOf(column ? movedBefore(columns, column, (one) => one.key === before) : columns);
}

function settingsOf(columns: readonly BoardColumn[]): readonly BoardColumn[] {
  return columns.slice(0, MAX_BOARD_COLUMNS).map(({ value, hidden, limit }) => ({ value, hidden, limit }));
}
