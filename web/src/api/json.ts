/** JSON whose numbers keep all their digits. `JSON.parse` would round those of more than 15. */
import { isSafeNumber, LosslessNumber, parse, stringify } from 'lossless-json';

/** A number as the API has it: a `number` where that has the same digits, else all the digits. */
export type Exact = number | LosslessNumber;

export function parseJson(text: string): unknown {
  return parse(text, undefined, exactOf);
}

/** The number that a text has the digits of, in the form of JSON. */
export function exactOf(digits: string): Exact {
  return isSafeNumber(digits) ? Number(digits) : new LosslessNumber(digits);
}

export function formatJson(value: unknown): string {
  return stringify(value) ?? 'null';
}

/** JSON for people, on several lines. */
export function formatJsonLines(value: unknown): string {
  return stringify(value, undefined, 2) ?? 'null';
}

export function isExact(value: unknown): value is Exact {
  return typeof value === 'number' || value instanceof LosslessNumber;
}
