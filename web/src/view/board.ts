/** A view as a board: its issues as cards, in columns by the values of one field. Pure. */
import type { FieldType } from '../api/types';
import type { Field } from '../fields/fields';
import { summaryFunction, type SummaryFunction } from './footers';
import type { Column, View } from './view';

export type BoardValue = string | boolean | null;

/** The settings of a column of a board. */
export interface BoardColumn {
  /** Null for the issues without a value. */
  readonly value: BoardValue;
  readonly hidden: boolean;
  /** The number of cards that the column should not pass; null for any number. Nothing enforces it. */
  readonly limit: number | null;
}

/** It has the shape of the API's boards. */
export interface Board {
  /** The field whose values are the columns. */
  readonly by: string;
  /** The first columns, in their order. Those of other values come after them. */
  readonly columns: readonly BoardColumn[];
  /** The fields that a card shows below its name. */
  readonly card: readonly string[];
  /** The function of a number field that each column shows beside its count. */
  readonly aggregate: { readonly field: string; readonly function: SummaryFunction } | null;
}

/** Limits of the API. */
export const MAX_BOARD_COLUMNS = 100;
export const MAX_CARD_FIELDS = 20;
export const MAX_CARDS = 1_000_000;

/** Fields of a new board's cards. */
const PROPOSED = 3;
/** Types whose values are short on a card, the most useful first. */
const SHORT: readonly FieldType[] = ['user', 'date', 'enum'];

/** Whether a field can give a board its columns: a card has one value of it, and a move changes the value. */
export function canColumn({ type, editable }: Pick<Field, 'type' | 'editable'>): boolean {
  return editable && (type === 'enum' || type === 'bool' || type === 'user');
}

/** The board with which a view begins: by state, with a few short fields on its cards. */
export function proposedBoard(fields: readonly Field[]): Board {
  const short = SHORT.flatMap((wanted) => fields.find(({ type, custom }) => custom && type === wanted) ?? []);
  return { by: 'state', columns: [], card: short.slice(0, PROPOSED).map(({ id }) => id), aggregate: null };
}

/** The board of a view that is shown as one. */
export function boardOf({ kind, board }: Pick<View, 'kind' | 'board'>): Board | null {
  return kind === 'board' ? board : null;
}

/** A board as it is requested: as groups by its field, with the fields of its cards as columns. Other views stay the same. */
export function arranged(view: View): View {
  const board = boardOf(view);
  if (!board) return view;
  const columns = [...new Set(['name', ...board.card])].map((field): Column => ({ field, width: 0, frozen: false }));
  return { ...view, groups: [{ field: board.by, unit: null }], groupOrder: null, closed: [], columns, footers: {} };
}

/** The board without the parts that name fields or options which the project does not have; null without its own field. */
export function fittingBoard(board: Board | null, fields: readonly Field[]): Board | null {
  const by = fields.find(({ id }) => id === board?.by);
  if (!board || !by || !canColumn(by)) return null;
  const known = new Map(fields.map(({ id, type }) => [id, type]));
  const has = ({ value }: BoardColumn) => value === null || (by.type === 'bool' ? typeof value === 'boolean' : typeof value === 'string' && (by.type === 'user' || by.options.some((option) => option.value === value)));
  return {
    by: by.id,
    columns: board.columns.filter(has),
    card: board.card.filter((field) => known.has(field)),
    aggregate: board.aggregate && known.get(board.aggregate.field) === 'number' ? board.aggregate : null,
  };
}

/** The board that a value of JSON is; null if it is none. */
export function boardIn(value: unknown): Board | null {
  const { by, columns, card, aggregate } = membersOf(value);
  if (typeof by !== 'string') return null;
  const { field, function: name } = membersOf(aggregate);
  const fn = summaryFunction(String(name));
  return {
    by,
    columns: listIn(columns).flatMap(columnIn).slice(0, MAX_BOARD_COLUMNS),
    card: listIn(card).filter((one) => typeof one === 'string').slice(0, MAX_CARD_FIELDS),
    aggregate: typeof field === 'string' && fn ? { field, function: fn } : null,
  };
}

function columnIn(one: unknown): BoardColumn[] {
  const { value, hidden, limit } = membersOf(one);
  if (value !== null && typeof value !== 'string' && typeof value !== 'boolean') return [];
  const isLimit = Number.isInteger(limit) && Number(limit) >= 1 && Number(limit) <= MAX_CARDS;
  return [{ value, hidden: hidden === true, limit: isLimit ? Number(limit) : null }];
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
