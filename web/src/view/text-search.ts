/** Texts that are looked for in several fields: by the API, and in the same way in rows that are loaded. Pure. */
import type { Filter } from '../api/types';
import { caseFolded, OF_WORD } from '../fields/case-fold';
import type { Field } from '../fields/fields';
import type { CellValue } from '../fields/values';
import { conditionsIn, MAX_CONDITIONS, narrowedBy } from './filters';

/** Any part of a value that is equal to the text, or all words of the text as whole words. */
export type TextMatch = 'part' | 'words';

/** To find parts of words, the API reads the issues, which it does only in projects up to this size. */
export const MAX_READ = 10_000;

export function textMatchFor(issues: number): TextMatch {
  return issues <= MAX_READ ? 'part' : 'words';
}

/** The fields of these in which a text can be found. Whole words need an index. */
export function searchable(fields: readonly Field[], match: TextMatch): readonly Field[] {
  return fields.filter(({ type, search }) => type === 'text' && (match === 'part' || search));
}

/**
 * The first of these fields, as many as a filter has room for beside another one. Without any room one remains, and the
 * API says why it refuses that.
 */
export function fittingBeside<F>(filter: Filter | null, fields: readonly F[]): readonly F[] {
  return fields.slice(0, Math.max(1, MAX_CONDITIONS - conditionsIn(filter)));
}

/** The filter of issues that have a text in any of these fields; null without a field. */
export function textFilter(fields: readonly Pick<Field, 'id'>[], text: string, match: TextMatch): Filter | null {
  const parts = fields.map(({ id }): Filter => ({ field: id, op: match === 'part' ? 'contains' : 'has_words', value: text }));
  const [only] = parts;
  return only && parts.length === 1 ? only : parts.length ? { or: parts } : null;
}

/** The filter together with the search words, for the name and all fields whose words are indexed. */
export function withSearch(filter: Filter | null, words: string, issues: number, fields: readonly Field[]): Filter | null {
  const value = words.trim();
  if (!value) return filter;
  const indexed = fields.filter(({ id, search }) => search && id !== 'name');
  const search = textFilter(fittingBeside(filter, [{ id: 'name' }, ...indexed]), value, textMatchFor(issues));
  return search && narrowedBy(filter, search);
}

/** Whether a value has a text, as the API decides it; null for a text that is in no value. */
export function matcherOf(text: string, match: TextMatch): ((value: CellValue) => boolean) | null {
  if (match === 'part') {
    const part = caseFolded(text);
    return part.trim() ? (value) => typeof value === 'string' && caseFolded(value).includes(part) : null;
  }
  const wanted = wordsOf(text);
  return wanted.length ? (value) => typeof value === 'string' && hasAll(wordsOf(value), wanted) : null;
}

function hasAll(words: readonly string[], wanted: readonly string[]): boolean {
  const found = new Set(words);
  return wanted.every((word) => found.has(word));
}

const WORD = new RegExp(`${OF_WORD}+`, 'gu');

/** Runs of letters, marks and digits. */
function wordsOf(text: string): readonly string[] {
  return caseFolded(text).match(WORD) ?? [];
}
