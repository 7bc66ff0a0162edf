/**
 * Filters for the builder: the operators of a field, drafts that may be incomplete, and the filter of the API. Pure.
 */
import { isExact } from '../api/json';
import type { FieldType, Filter } from '../api/types';
import type { Field } from '../fields/fields';
import type { CellValue } from '../fields/values';
import { daysIn, filterOfPeriod, isOperandOf, isPeriod, isSame, ME, periodIn, periodOf, relativeIn, todayIn, type Period, type PeriodName, type Relative } from './relative';

export const OPERATORS = [
  'eq', 'ne', 'in', 'not_in', 'lt', 'lte', 'gt', 'gte', 'between', 'starts_with', 'contains', 'has_words', 'has_any', 'has_all',
  'has_none', 'is_empty', 'is_not_empty',
] as const;
export type Operator = (typeof OPERATORS)[number];

/** The operands that a user enters for an operator. */
export type Operand = 'none' | 'one' | 'two' | 'many';

export const MAX_DEPTH = 5;
export const MAX_CONDITIONS = 50;

const EMPTINESS = ['is_empty', 'is_not_empty'] as const;
const ORDERED = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'between', 'in', 'not_in', ...EMPTINESS] as const;

const OF_TYPE: Readonly<Record<FieldType, readonly Operator[]>> = {
  text: ['contains', 'starts_with', 'has_words', 'eq', 'ne', 'in', 'not_in', 'lt', 'lte', 'gt', 'gte', 'between', ...EMPTINESS],
  number: ORDERED,
  date: ORDERED,
  datetime: ['gte', 'lte', 'between', 'eq', 'ne', 'lt', 'gt', ...EMPTINESS],
  bool: ['eq', 'ne', ...EMPTINESS],
  enum: ['in', 'not_in', 'eq', 'ne', 'lt', 'lte', 'gt', 'gte', ...EMPTINESS],
  multi_enum: ['has_any', 'has_all', 'has_none', 'eq', 'ne', ...EMPTINESS],
  user: ['eq', 'ne', 'in', 'not_in', ...EMPTINESS],
};

/** The operators of a type, the most usual first. */
export function operatorsOf(type: FieldType): readonly Operator[] {
  return OF_TYPE[type];
}

export function operandOf(type: FieldType, op: Operator): Operand {
  if (op === 'is_empty' || op === 'is_not_empty') return 'none';
  if (op === 'between') return 'two';
  return op === 'in' || op === 'not_in' || type === 'multi_enum' ? 'many' : 'one';
}

/** A value of a condition: as it is entered, or one that the API resolves. */
export type Given = string | Relative | Period;

export interface ConditionDraft {
  readonly kind: 'condition';
  readonly field: string;
  readonly op: Operator;
  /** The operator decides which of them count. */
  readonly values: readonly Given[];
}

/** A relative value that a picker offers. */
export interface Choice {
  readonly given: Relative | Period;
  /** The operator that comes with it, if it is another one. */
  readonly op?: Operator;
}

const PERIODS: readonly PeriodName[] = ['last7', 'next7', 'week', 'month', 'quarter'];
const DAYS: readonly PeriodName[] = ['today', 'yesterday', 'tomorrow'];

/**
 * The relative values that the picker of an operator offers. A day is an instant for a point in time, its first one: so
 * only “before” and “from … on” take days there.
 */
export function choicesOf(type: FieldType, op: Operator, timezone: string): readonly Choice[] {
  if (type === 'user') return op === 'eq' || op === 'ne' || op === 'in' || op === 'not_in' ? [{ given: ME }] : [];
  if (type !== 'date' && type !== 'datetime') return [];
  if (op === 'eq') {
    const periods = (names: readonly PeriodName[]) => names.map((name): Choice => ({ given: periodIn(name, timezone) }));
    return [...(type === 'date' ? single(timezone) : periods(DAYS)), ...periods(PERIODS), { given: todayIn(timezone), op: 'lt' }];
  }
  if (type === 'date' && op === 'ne') return single(timezone);
  const takesDays = op === 'lt' || op === 'gte' || (type === 'date' && (op === 'lte' || op === 'gt' || op === 'between'));
  return takesDays ? daysIn(timezone).map((given): Choice => ({ given })) : [];
}

/** Today, yesterday and tomorrow. */
function single(timezone: string): readonly Choice[] {
  return daysIn(timezone).slice(0, DAYS.length).map((given) => ({ given }));
}

/** The joins of the parts of a group; the last two are the others under a `not`. */
export const JOINS = ['and', 'or', 'nor', 'nand'] as const;
export type Join = (typeof JOINS)[number];

export interface GroupDraft {
  readonly kind: 'group';
  readonly join: Join;
  readonly parts: readonly Draft[];
}

/** A filter from a link for which the builder has no inputs. It is kept unchanged. */
export interface FixedDraft {
  readonly kind: 'fixed';
  readonly filter: Filter;
}

export type Draft = ConditionDraft | GroupDraft | FixedDraft;

export const NO_CONDITIONS: GroupDraft = { kind: 'group', join: 'and', parts: [] };

export function newCondition(field: Field): ConditionDraft {
  return { kind: 'condition', field: field.id, op: operatorsOf(field.type)[0] ?? 'eq', values: [] };
}

/** The condition about another field. The operator stays where that field has it. */
export function withField(draft: ConditionDraft, field: Field): ConditionDraft {
  const fresh = newCondition(field);
  return operatorsOf(field.type).includes(draft.op) ? { ...fresh, op: draft.op } : fresh;
}

/** The condition with another operator. Relative values stay where that operator has them. */
export function withOperator(draft: ConditionDraft, op: Operator, field: Field, timezone: string): ConditionDraft {
  const choices = choicesOf(field.type, op, timezone);
  const isKept = (given: Given) => typeof given === 'string' || choices.some((choice) => choice.op === undefined && isSame(choice.given, given));
  // A value that is not kept leaves its place empty: the second value of a range stays the second.
  return { ...draft, op, values: draft.values.map((given) => (isKept(given) ? given : '')) };
}

/** The draft as a filter; null while no part of it is complete. Incomplete parts are left out. */
export function toFilter(draft: Draft, fields: readonly Field[]): Filter | null {
  switch (draft.kind) {
    case 'fixed':
      return draft.filter;
    case 'condition':
      return conditionOf(draft, fields);
    case 'group': {
      const parts = draft.parts.flatMap((part) => toFilter(part, fields) ?? []);
      const negated = draft.join === 'nor' || draft.join === 'nand';
      const any = draft.join === 'or' || draft.join === 'nor';
      const [only] = parts;
      if (!only) return null;
      const joined: Filter = parts.length === 1 ? only : any ? { or: parts } : { and: parts };
      return negated ? { not: joined } : joined;
    }
  }
}

/** The filter as a group of drafts, from which `toFilter` returns the same filter. */
export function fromFilter(filter: Filter | null, fields: readonly Field[]): GroupDraft {
  if (!filter) return NO_CONDITIONS;
  const draft = draftOf(filter, fields);
  return draft.kind === 'group' ? draft : { ...NO_CONDITIONS, parts: [draft] };
}

/** Add a condition to the outermost `and`. */
export function added(draft: GroupDraft, part: Draft): GroupDraft {
  return draft.join === 'and' || draft.parts.length === 0
    ? { ...draft, parts: [...draft.parts, part] }
    : { kind: 'group', join: 'and', parts: [draft, part] };
}

/** The filter with one more condition, or with several that have one filter. */
export function narrowedBy(filter: Filter | null, part: Filter): Filter {
  return allOf([...partsOf(filter), part]);
}

/**
 * A filter narrowed to a group that the API has found under it. The API resolves relative operands in the filter of the
 * group, so only the conditions of the group itself come from that.
 */
export function narrowedTo(filter: Filter | null, group: Filter): Filter {
  const parts = 'and' in group ? group.and : [group];
  const own = parts.slice(!filter ? 0 : 'and' in filter ? filter.and.length : 1);
  return own.length ? allOf([...partsOf(filter), ...own]) : group;
}

/** The filter with one more condition: a field has this value, or none. */
export function withValue(filter: Filter | null, field: string, value: CellValue): Filter {
  const only: Filter =
    value === null ? { field, op: 'is_empty' } : { field, op: 'eq', value: typeof value === 'object' && !isExact(value) ? [...value] : value };
  return allOf([...partsOf(filter), only]);
}

/** The parts that all have to hold. A period is one of them, with two conditions. */
function partsOf(filter: Filter | null): readonly Filter[] {
  if (!filter) return [];
  return 'and' in filter && !periodOf(filter) ? filter.and : [filter];
}

function allOf(parts: readonly Filter[]): Filter {
  const [only] = parts;
  return only && parts.length === 1 ? only : { and: [...parts] };
}

export function conditionsIn(filter: Filter | null): number {
  if (!filter) return 0;
  if ('not' in filter) return conditionsIn(filter.not);
  const parts = 'and' in filter ? filter.and : 'or' in filter ? filter.or : null;
  return parts ? parts.reduce((sum, part) => sum + conditionsIn(part), 0) : 1;
}

/** The conditions of a draft as the builder shows them: a period is one. */
export function shownIn(draft: Draft): number {
  return draft.kind === 'group' ? draft.parts.reduce((sum, part) => sum + shownIn(part), 0) : 1;
}

/** The fields that a filter uses. */
export function fieldsIn(filter: Filter | null): ReadonlySet<string> {
  if (!filter) return new Set();
  if ('not' in filter) return fieldsIn(filter.not);
  const parts = 'and' in filter ? filter.and : 'or' in filter ? filter.or : null;
  if (parts) return new Set(parts.flatMap((part) => [...fieldsIn(part)]));
  return new Set('field' in filter ? [filter.field] : []);
}

/** Levels of `and`, `or` and `not` that a draft has when it is complete. */
export function depthOf(draft: Draft): number {
  if (draft.kind === 'condition') return draft.values.some(isPeriod) ? 1 : 0;
  if (draft.kind === 'fixed') return MAX_DEPTH;
  return levels(draft.join) + Math.max(0, ...draft.parts.map(depthOf));
}

export function levels(join: Join): number {
  return join === 'nor' || join === 'nand' ? 2 : 1;
}

function conditionOf({ field: id, op, values }: ConditionDraft, fields: readonly Field[]): Filter | null {
  const field = fields.find((one) => one.id === id);
  if (!field) return null;
  // The blanks at the ends of a text are a part of it.
  const given = values.flatMap((value): Given[] => {
    if (typeof value !== 'string') return [value];
    return value.trim() ? [field.type === 'text' ? value : value.trim()] : [];
  });
  const typed = given.map((value) => (field.type === 'bool' ? value === 'true' : value));
  const [first, second] = typed;
  if (isPeriod(first)) return op === 'eq' ? filterOfPeriod(id, first) : null;
  switch (operandOf(field.type, op)) {
    case 'none':
      return { field: id, op } as Filter;
    case 'one':
      return first === undefined ? null : ({ field: id, op, value: first } as Filter);
    case 'two':
      return first === undefined || second === undefined ? null : ({ field: id, op, value: [first, second] } as Filter);
    case 'many':
      return first === undefined ? null : ({ field: id, op, value: typed } as Filter);
  }
}

function draftOf(filter: Filter, fields: readonly Field[]): Draft {
  if ('and' in filter) return periodDraft(filter, fields) ?? { kind: 'group', join: 'and', parts: filter.and.map((part) => draftOf(part, fields)) };
  if ('or' in filter) return { kind: 'group', join: 'or', parts: filter.or.map((part) => draftOf(part, fields)) };
  if ('not' in filter) {
    const draft = draftOf(filter.not, fields);
    if (draft.kind === 'group' && draft.join === 'and') return { ...draft, join: 'nand' };
    if (draft.kind === 'group' && draft.join === 'or') return { ...draft, join: 'nor' };
    return { kind: 'group', join: 'nor', parts: [draft] };
  }
  const field = 'field' in filter ? fields.find(({ id }) => id === filter.field) : undefined;
  if (!field || !operatorsOf(field.type).includes(filter.op)) return { kind: 'fixed', filter };
  const value: unknown = filter.value ?? [];
  const values = (Array.isArray(value) ? value : [value]).map((one) => givenIn(one, field));
  // The lines of a list hold no days.
  const isListed = field.type === 'user' || operandOf(field.type, filter.op) !== 'many';
  const given = values.filter((one) => one !== null && (isListed || typeof one === 'string')) as readonly Given[];
  return given.length === values.length ? { kind: 'condition', field: field.id, op: filter.op, values: given } : { kind: 'fixed', filter };
}

/** The period that the builder shows in place of two conditions. */
function periodDraft(filter: Filter, fields: readonly Field[]): ConditionDraft | null {
  const found = periodOf(filter);
  const field = fields.find(({ id }) => id === found?.field);
  if (!found || !field) return null;
  const { from } = found.period;
  const isOffered = choicesOf(field.type, 'eq', from.timezone ?? 'UTC').some(({ given }) => isSame(given, found.period));
  return isOffered ? { kind: 'condition', field: field.id, op: 'eq', values: [found.period] } : null;
}

/** A value of a filter as the builder has it; null if it has no input for that. */
function givenIn(value: unknown, { type }: Field): Given | null {
  if (typeof value === 'string' || typeof value === 'boolean' || isExact(value)) return String(value);
  const relative = relativeIn(value);
  return relative && isOperandOf(type, relative) ? relative : null;
}
