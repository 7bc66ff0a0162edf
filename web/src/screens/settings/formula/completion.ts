/** Completes the names of fields and functions while a formula is typed. Pure. */
import type { FieldType } from '../../../api/types';
import { caseFolded } from '../../../fields/case-fold';
import type { Field } from '../../../fields/fields';
import functions from './functions.json';
import { tokensOf, type Place } from './tokens';

export interface FormulaFunction {
  readonly name: string;
  /** For people, such as `number, [digits]`. */
  readonly parameters: string;
  readonly summary: string;
}

/** The functions of the API, in the order of its documentation. A test of the API compares them. */
export const FUNCTIONS: readonly FormulaFunction[] = functions;

/** The beginning of a name before the caret, and the part of the text that a completion replaces. */
export interface Beginning extends Place {
  readonly kind: 'field' | 'any';
  readonly text: string;
}

/** The name that is being typed: a field after a brace, otherwise a field or a function; null in texts and after signs. */
export function beginningAt(text: string, caret: number): Beginning | null {
  const token = tokensOf(text).find(({ from, to }) => from < caret && caret <= to);
  if (token?.kind === 'name') return { kind: 'any', text: text.slice(token.from, caret), from: token.from, to: token.to };
  if (token?.kind !== 'field' || (caret === token.to && token.text.length > 1 && token.text.endsWith('}'))) return null;
  const rest = text.slice(caret, token.to);
  // A field without its closing brace seems to reach into the next one.
  const isClosed = rest.endsWith('}') && !rest.includes('{');
  return { kind: 'field', text: unescaped(text.slice(token.from + 1, caret)), from: token.from, to: isClosed ? token.to : caret };
}

/** Where nothing is being typed, everything can be inserted. */
export function nothingAt(caret: number): Beginning {
  return { kind: 'any', text: '', from: caret, to: caret };
}

export type Offer =
  | { readonly kind: 'field'; readonly name: string; readonly type: FieldType; readonly insert: string }
  | { readonly kind: 'function'; readonly name: string; readonly function: FormulaFunction; readonly insert: string };

/** The fields and functions whose names fit a beginning, the best first: names that begin with it, then names with it inside. */
export function offersFor(beginning: Beginning, fields: readonly Field[]): readonly Offer[] {
  const wanted = caseFolded(beginning.text);
  const ofFields = fields.map((field): Offer => ({ kind: 'field', name: field.name, type: field.type, insert: `{${escaped(labelOf(field, fields))}}` }));
  const ofFunctions = beginning.kind === 'field' ? [] : FUNCTIONS.map((one): Offer => ({ kind: 'function', name: one.name, function: one, insert: `${one.name}(` }));
  const ranked = [...ofFunctions, ...ofFields].map((offer) => ({ offer, rank: rankOf(caseFolded(offer.name), wanted) }));
  return ranked.filter(({ rank }) => rank >= 0).sort((a, b) => a.rank - b.rank).map(({ offer }) => offer);
}

function rankOf(name: string, wanted: string): number {
  if (name.startsWith(wanted)) return 0;
  return name.includes(wanted) ? 1 : -1;
}

/** The text with an offer in place of a beginning, and the new place of the caret. */
export function completed(text: string, { from, to }: Place, { insert }: Offer): { readonly text: string; readonly caret: number } {
  const rest = text.slice(to);
  const inserted = insert.endsWith('(') && rest.startsWith('(') ? insert.slice(0, -1) : insert;
  return { text: text.slice(0, from) + inserted + rest, caret: from + insert.length };
}

/** The names of the fields of every issue, as formulas have them. Their ids are shorter, and certain. */
const BUILT_IN_NAMES: readonly string[] = ['Number', 'Name', 'State', 'Created', 'Updated', 'Created by', 'Updated by'];

/** What names a field and no other: its name if it is the only one, otherwise its id. */
export function labelOf({ id, name, custom }: Field, fields: readonly Field[]): string {
  if (!custom) return id;
  const others = fields.filter((one) => one.id !== id);
  const isTaken = BUILT_IN_NAMES.includes(name) || others.some((one) => one.id === name || (one.custom && one.name === name));
  return isTaken ? id : name;
}

function escaped(name: string): string {
  return name.replaceAll(/[\\}]/g, '\\$&');
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/gs, '$1');
}
