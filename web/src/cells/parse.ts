/** Parses typed or pasted text to values. Pure. */
import { LosslessNumber } from 'lossless-json';
import { optionMeant, type Field } from '../fields/fields';
import type { FieldFormat } from '../fields/format';
import type { CellValue } from '../fields/values';
import { words } from '../words';
import { dateReader } from './dates';
import type { Typed } from './editors/editor';
import { numberReader } from './number-reader';

export type Parsed = { readonly ok: true; readonly value: CellValue } | { readonly ok: false; readonly message: string };

const value = (value: CellValue): Parsed => ({ ok: true, value });
const refused = (message: string): Parsed => ({ ok: false, message });

/** The value that an editor's result means in a field. */
export function parseTyped(field: Field, typed: Typed): Parsed {
  return 'text' in typed ? parseText(field, typed.text) : checked(field, typed.value);
}

/** The value itself, where the field may have it. */
export function checked(field: Field, given: CellValue): Parsed {
  return given === null && field.required ? refused(words.parse.required(field.name)) : value(given);
}

/** The value that a text means in a field; a blank text is no value. A text keeps its blanks and line breaks. */
export function parseText(field: Field, text: string): Parsed {
  const trimmed = text.trim();
  if (trimmed === '') return field.required ? refused(words.parse.required(field.name)) : value(null);
  switch (field.type) {
    case 'text':
      return value(text);
    case 'user':
      return value(trimmed);
    case 'number':
      return parseNumber(trimmed, field.format);
    case 'date':
      return parseDate(trimmed);
    case 'datetime':
      return parseDatetime(trimmed);
    case 'bool':
      return parseBool(trimmed);
    case 'enum':
      return parseOption(field, trimmed);
    case 'multi_enum':
      return parseOptions(field, trimmed);
  }
}

const readNumber = numberReader();

/** A number as the reader's locale, the format of its field or a program writes it. All digits are kept. */
export function parseNumber(text: string, format: FieldFormat | null = null): Parsed {
  const digits = readNumber(format, text);
  return digits === null ? refused(words.parse.number) : value(new LosslessNumber(digits));
}

const dates = dateReader();

function parseDate(text: string): Parsed {
  const date = dates.date(text);
  return date === null ? refused(words.parse.date) : value(date);
}

/** A point in time; without an offset it is one of the reader's own time zone. */
function parseDatetime(text: string): Parsed {
  const instant = dates.datetime(text);
  return instant === null ? refused(words.parse.datetime) : value(instant);
}

const YES = new Set(['true', 'yes', 'y', '1', 'x', '✓', '✔', '★', words.cell.yes.toLowerCase()]);
const NO = new Set(['false', 'no', 'n', '0', '☆', words.cell.no.toLowerCase()]);

function parseBool(text: string): Parsed {
  const word = text.toLowerCase();
  return YES.has(word) ? value(true) : NO.has(word) ? value(false) : refused(words.parse.bool);
}

function parseOption(field: Field, text: string): Parsed {
  const option = optionMeant(field, text);
  return option === undefined ? refused(words.parse.option(text)) : value(option);
}

/** Options, separated by commas, semicolons or line ends. They come in the field's own order. */
function parseOptions(field: Field, text: string): Parsed {
  const parts = partsOf(field, text);
  const unknown = parts.find((part) => optionMeant(field, part) === undefined);
  if (unknown !== undefined) return refused(words.parse.option(unknown));
  const chosen = new Set(parts.map((part) => optionMeant(field, part)));
  return value(field.options.flatMap((option) => (chosen.has(option.value) ? [option.value] : [])));
}

/**
 * The options that a text names. The longest are found first, since an option may have a comma itself. The rest are
 * parts of their own.
 */
function partsOf(field: Field, text: string): readonly string[] {
  const pieces = text.split(/([,;\n])/);
  const parts: string[] = [];
  for (let at = 0; at < pieces.length; at += 2) {
    for (let end = pieces.length; end > at; end -= 2) {
      const part = pieces.slice(at, end).join('').trim();
      if (end > at + 1 && optionMeant(field, part) === undefined) continue;
      if (part) parts.push(part);
      at = end - 1;
      break;
    }
  }
  return parts;
}
