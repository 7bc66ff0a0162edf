/**
 * A text that is looked for in fields of all types. The API finds it in all rows, and the page in the cells of loaded ones.
 * Pure.
 */
import { isExact } from '../api/json';
import type { Filter } from '../api/types';
import { formatNumber, formatValue, isList } from '../cells/format';
import { parseText } from '../cells/parse';
import { caseFolded } from '../fields/case-fold';
import type { Field } from '../fields/fields';
import type { CellValue } from '../fields/values';
import { conditionsIn, MAX_CONDITIONS } from '../view/filters';
import { matcherOf, searchable, textFilter, type TextMatch } from '../view/text-search';

type Test = (value: CellValue) => boolean;

/** How a text is found in a field. */
export interface Sought {
  readonly field: Field;
  /** Finds it in all rows; null if it is found only in loaded ones. */
  readonly filter: Filter | null;
  /** Whether the filter finds a value. */
  readonly matches: Test;
  /** Whether a cell with the value shows the text. */
  readonly shows: Test;
}

type Everywhere = Pick<Sought, 'filter' | 'matches'>;

const NOWHERE: Everywhere = { filter: null, matches: () => false };

/** The types whose values the API finds only as a whole. */
const WHOLE: ReadonlySet<Field['type']> = new Set(['number', 'date', 'datetime', 'user']);

export function isFoundWhole({ type }: Field): boolean {
  return WHOLE.has(type);
}

/** The fields in whose cells a text can be looked for. A check box shows none. */
export function withText(fields: readonly Field[]): readonly Field[] {
  return fields.filter(({ type }) => type !== 'bool');
}

/**
 * How a text is found in these fields; null for a blank one. A filter has room for some conditions beside the one of the
 * view: fields beyond are searched only in loaded rows.
 */
export function soughtIn(fields: readonly Field[], text: string, match: TextMatch, beside: Filter | null): readonly Sought[] | null {
  const part = caseFolded(text);
  if (!part.trim()) return null;
  let room = Math.max(1, MAX_CONDITIONS - conditionsIn(beside));
  return withText(fields).map((field) => {
    const found = everywhere(field, text, match);
    const isRoom = conditionsIn(found.filter) <= room;
    if (isRoom) room -= conditionsIn(found.filter);
    return { field, ...(isRoom ? found : NOWHERE), shows: (value) => value !== null && caseFolded(formatValue(field, value)).includes(part) };
  });
}

/** The filter of all issues in which the text is found; null if there cannot be any. */
export function filterOfSought(sought: readonly Sought[]): Filter | null {
  const parts = sought.flatMap(({ filter }) => filter ?? []);
  const [only] = parts;
  return only && parts.length === 1 ? only : parts.length ? { or: parts } : null;
}

function everywhere(field: Field, text: string, match: TextMatch): Everywhere {
  if (field.type === 'text') {
    const matches = matcherOf(text, match);
    return matches && searchable([field], match).length ? { filter: textFilter([field], text, match), matches } : NOWHERE;
  }
  // Above that size, the API has no index for all of these conditions together.
  if (match === 'words') return NOWHERE;
  const { id } = field;
  switch (field.type) {
    case 'enum':
    case 'multi_enum':
      return amongOptions(field, text);
    case 'user':
      return { filter: { field: id, op: 'eq', value: text.trim() }, matches: (value) => value === text.trim() };
    case 'number': {
      const parsed = parseText(field, text);
      if (!parsed.ok || !isExact(parsed.value)) return NOWHERE;
      const whole = formatNumber(parsed.value);
      return { filter: { field: id, op: 'eq', value: parsed.value }, matches: (value) => isExact(value) && formatNumber(value) === whole };
    }
    case 'date': {
      const day = dayOf(field, text);
      return day === null ? NOWHERE : { filter: { field: id, op: 'eq', value: day }, matches: (value) => value === day };
    }
    case 'datetime':
      return onDay(field, text);
    case 'bool':
      return NOWHERE;
  }
}

function amongOptions({ id, type, options }: Field, text: string): Everywhere {
  const part = caseFolded(text);
  const wanted = options.flatMap(({ value }) => (caseFolded(value).includes(part) ? [value] : []));
  if (!wanted.length) return NOWHERE;
  return {
    filter: { field: id, op: type === 'enum' ? 'in' : 'has_any', value: wanted },
    matches: (value) => (isList(value) ? value.some((one) => wanted.includes(one)) : typeof value === 'string' && wanted.includes(value)),
  };
}

/** The points in time of a day, in the reader's own time zone. */
function onDay(field: Field, text: string): Everywhere {
  const day = dayOf(field, text);
  if (day === null) return NOWHERE;
  const start = new Date(`${day}T00:00:00`);
  const end = new Date(start);
  end.setDate(end.getDate() + 1);
  const [from, to] = [start, end].map((time) => time.toISOString());
  if (from === undefined || to === undefined) return NOWHERE;
  return {
    filter: { and: [{ field: field.id, op: 'gte', value: from }, { field: field.id, op: 'lt', value: to }] },
    matches: (value) => typeof value === 'string' && new Date(value) >= start && new Date(value) < end,
  };
}

/** The day that a text means; null if it means none. Words with a number are a day only if the field shows it so. */
function dayOf(field: Field, text: string): string | null {
  const parsed = parseText({ ...field, type: 'date', required: true }, text);
  if (!parsed.ok || typeof parsed.value !== 'string') return null;
  const isNumeric = /^[\d./\-\s]+$/.test(text);
  return isNumeric || caseFolded(formatValue({ ...field, type: 'date' }, parsed.value)).includes(caseFolded(text).trim()) ? parsed.value : null;
}
