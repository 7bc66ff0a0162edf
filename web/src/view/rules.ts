/**
 * Rules: filters that color the rows that match them, or one cell of those rows. The first rule wins. The API judges
 * rows by them. Pure.
 */
import { formatJson } from '../api/json';
import type { FieldType, Filter } from '../api/types';
import type { Field } from '../fields/fields';
import { COLORS, type Color } from '../fields/palette';
import { sameValue, valueOf, type Judged, type Row } from '../fields/values';
import { conditionsIn, fieldsIn, fromFilter, newCondition, NO_CONDITIONS, OPERATORS, toFilter, type Draft, type GroupDraft } from './filters';

/** Rules of a view. The filters of all of them have at most `MAX_CONDITIONS` conditions (filters.ts). */
export const MAX_RULES = 10;

export interface Rule {
  readonly filter: Filter;
  readonly color: Color;
  /** The field whose cell has the color; null for the whole row. */
  readonly field: string | null;
}

/** Rules, prepared for judging and coloring many rows. */
export interface Ruling {
  /** What the API judges rows by, by their text. Two rules may have the same filter. */
  readonly filters: ReadonlyMap<string, Filter>;
  /** The fields that they use. */
  readonly fields: ReadonlySet<string>;
  /** Whether they use a field that the server sets: any change of an issue may change it. */
  readonly isVolatile: boolean;
  readonly paints: readonly Paint[];
}

interface Paint extends Pick<Rule, 'color' | 'field'> {
  /** Its filter, as text. */
  readonly filter: string;
}

/** Fields that the server sets once, when the issue is created. */
const CONSTANT: ReadonlySet<string> = new Set(['num', 'created', 'created_by']);

export function rulingOf(rules: readonly Rule[], fields: readonly Field[]): Ruling {
  const used = new Set(rules.flatMap(({ filter }) => [...fieldsIn(filter)]));
  return {
    filters: new Map(rules.map(({ filter }) => [formatJson(filter), filter])),
    fields: used,
    isVolatile: fields.some(({ id, editable }) => used.has(id) && !editable && !CONSTANT.has(id)),
    paints: rules.map(({ filter, color, field }) => ({ filter: formatJson(filter), color, field })),
  };
}

/** For rows that nobody sees. */
export const NO_RULING: Ruling = rulingOf([], []);

/** The color of a row by the rules; null for none. */
export function colorOfRow({ paints }: Ruling, { judged }: Row): Color | null {
  return firstOf(paints, judged, null);
}

/** The own color of a cell of a row; null if it looks as its row does. */
export function colorOfCell({ paints }: Ruling, { judged }: Row, field: string): Color | null {
  return firstOf(paints, judged, field);
}

function firstOf(paints: readonly Paint[], judged: Judged | undefined, field: string | null): Color | null {
  return paints.find((paint) => paint.field === field && judged?.matches.includes(paint.filter))?.color ?? null;
}

/** Whether a row may have changed its color since the API judged it. */
export function isOutdated(row: Row, { fields, isVolatile }: Ruling): boolean {
  const { judged } = row;
  if (!judged) return true;
  if (row.version <= judged.version) return false;
  return isVolatile || [...fields].some((id) => !sameValue(valueOf(row, id), valueOf(judged, id)));
}

/** A row with a judgement, unless it has a later one. */
export function withJudged(row: Row, judged: Judged): Row {
  return row.judged && row.judged.version > judged.version ? row : { ...row, judged };
}

/** The rules whose fields the project has. Without a part of its filter a rule would match other rows. */
export function fittingRules(rules: readonly Rule[], known: ReadonlySet<string>): readonly Rule[] {
  return rules.filter(({ filter, field }) => (field === null || known.has(field)) && [...fieldsIn(filter)].every((id) => known.has(id)));
}

/** A rule in an address, such as `red:{…}` for a row or `red.cost:{…}` for a cell. */
export function ruleText({ filter, color, field }: Rule): string {
  return `${color}${field === null ? '' : `.${field}`}:${formatJson(filter)}`;
}

/** The rule that an address has; none if no rule is like that. `parse` reads JSON. */
export function ruleIn(text: string, parse: (json: string) => unknown): readonly Rule[] {
  const [, name, field = null, json = ''] = /^([a-z]+)(?:\.([a-z0-9_]{1,64}))?:(.*)$/s.exec(text) ?? [];
  const color = COLORS.find((one) => one === name);
  const filter = parse(json);
  return color && isFilter(filter) ? [{ filter, color, field }] : [];
}

/** Whether a value has the form of a filter. The API checks the values of its conditions. */
function isFilter(value: unknown): value is Filter {
  if (typeof value !== 'object' || value === null) return false;
  if ('not' in value) return isFilter(value.not);
  const parts = 'and' in value ? value.and : 'or' in value ? value.or : null;
  if (parts !== null) return Array.isArray(parts) && parts.length > 0 && parts.every(isFilter);
  return 'field' in value && typeof value.field === 'string' && 'op' in value && OPERATORS.some((op) => op === value.op);
}

/** A rule as the panel edits it: its filter may be incomplete. */
export interface RuleDraft extends Pick<Rule, 'color' | 'field'> {
  /** Distinguishes the drafts of a panel. */
  readonly id: number;
  readonly filter: GroupDraft;
  /** The filter of the view, from which the draft was made. It stays as it is until the user changes that. */
  readonly origin?: { readonly draft: GroupDraft; readonly filter: Filter };
}

export function draftsOf(rules: readonly Rule[], fields: readonly Field[]): readonly RuleDraft[] {
  return rules.map(({ filter, color, field }, id) => {
    const draft = fromFilter(filter, fields);
    return { id, filter: draft, color, field, origin: { draft, filter } };
  });
}

/** A rule about the names of issues, for all of the row, at the end of the others. */
export function newDraft(drafts: readonly RuleDraft[], fields: readonly Field[], color: Color): RuleDraft {
  const name = fields.find(({ id }) => id === 'name');
  const filter: GroupDraft = { ...NO_CONDITIONS, parts: name ? [newCondition(name)] : [] };
  return { id: Math.max(-1, ...drafts.map(({ id }) => id)) + 1, filter, color, field: null };
}

/** The rules of drafts that can be judged. A rule without any complete condition is left out. */
export function rulesOf(drafts: readonly RuleDraft[], fields: readonly Field[]): readonly Rule[] {
  return drafts.flatMap((draft) => {
    const filter = filterOf(draft, fields);
    return filter ? [{ filter, color: draft.color, field: draft.field }] : [];
  });
}

/** The filter of a draft, without values that are not complete: it is in use while it is being typed. */
export function filterOf({ filter, origin }: RuleDraft, fields: readonly Field[]): Filter | null {
  return origin?.draft === filter ? origin.filter : toFilter(complete(filter, fields), fields);
}

/** The conditions of all rules together. */
export function conditionsOf(rules: readonly Rule[]): number {
  return rules.reduce((sum, { filter }) => sum + conditionsIn(filter), 0);
}

/** A list with one of its items in another place. */
export function movedTo<T>(items: readonly T[], from: number, to: number): readonly T[] {
  const item = items[from];
  if (item === undefined || to < 0 || to >= items.length) return items;
  const others = items.filter((_, at) => at !== from);
  return [...others.slice(0, to), item, ...others.slice(to)];
}

/** The draft without values that no field of their type has, such as the half of a number. */
function complete(draft: Draft, fields: readonly Field[]): Draft {
  if (draft.kind === 'group') return { ...draft, parts: draft.parts.map((part) => complete(part, fields)) };
  if (draft.kind === 'fixed') return draft;
  const type = fields.find(({ id }) => id === draft.field)?.type ?? 'text';
  // A value that is left out leaves its place empty: the second value of a range stays the second.
  return { ...draft, values: draft.values.map((given) => (typeof given !== 'string' || isComplete(type, given.trim()) ? given : '')) };
}

const NUMBER = /^[-+]?(\d+(\.\d+)?|\.\d+)(e[-+]?\d{1,2})?$/i;
const DATE = /^\d{4}-\d\d-\d\d$/;

function isComplete(type: FieldType, text: string): boolean {
  if (type === 'number') return NUMBER.test(text);
  if (type !== 'date') return true;
  const day = new Date(`${text}T00:00:00Z`);
  return DATE.test(text) && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}
