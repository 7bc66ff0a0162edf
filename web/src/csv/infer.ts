/** The types of columns, inferred from their values. A column has a type only if every value fits it. Pure. */
import type { FieldType } from '../api/types';
import { jsonNumber } from '../cells/number-text';

const MAX_OPTIONS = 200;
const MAX_OPTION_LENGTH = 100;
/** Values to an option, on average. A column with fewer names things rather than kinds of things. */
const VALUES_PER_OPTION = 4;
const MAX_DIGITS = 38;
/** The powers of ten that the first digit of a number may have. */
const LEAST_POWER = -130;
const MOST_POWER = 125;

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d{1,3}))?$/;
const LEADING_ZERO = /^[+-]?0\d/;
const DATE = /^(?!0000)\d{4}-\d\d-\d\d$/;
const DATETIME = /^(\d{4}-\d\d-\d\d)[Tt ]((?:[01]\d|2[0-3]):\d\d)(:\d\d(?:\.\d{1,6})?)? ?([Zz]|[+-]\d\d:?\d\d)?$/;
const TRUTH: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
  ['yes', true],
  ['no', false],
]);

export class ColumnValues {
  private count = 0;
  private fits = new Set<FieldType>(['number', 'date', 'datetime', 'bool', 'enum', 'multi_enum']);
  private readonly wholes = new Options();
  private readonly parts = new Options();

  add(cell: string): void {
    if (cell.trim() === '') return;
    this.count += 1;
    for (const type of this.fits) if (!this.takes(type, cell)) this.fits.delete(type);
  }

  /** The narrowest type that all values have. */
  get type(): FieldType {
    if (!this.count) return 'text';
    for (const type of ['number', 'date', 'datetime', 'bool'] as const) if (this.fits.has(type)) return type;
    const lists = this.parts.seen > this.count;
    if (lists && this.fits.has('multi_enum') && this.parts.repeat) return 'multi_enum';
    return this.fits.has('enum') && this.wholes.repeat ? 'enum' : 'text';
  }

  /** The types that a user may give the column, the inferred one first. Cells that are no value of it are refused later. */
  get types(): readonly FieldType[] {
    const lists = (['enum', 'multi_enum'] as const).filter((type) => this.fits.has(type));
    return [...new Set<FieldType>([this.type, 'text', 'number', 'date', 'datetime', 'bool', ...lists, 'user'])];
  }

  /** The options that a column of this type would have, in alphabetic order. */
  options(type: FieldType): readonly string[] {
    const found = type === 'enum' ? this.wholes.texts : type === 'multi_enum' ? this.parts.texts : [];
    return [...found].sort((a, b) => a.localeCompare(b, undefined, { numeric: true }));
  }

  private takes(type: FieldType, cell: string): boolean {
    if (type === 'enum') return this.wholes.take([cell.trim()]);
    if (type === 'multi_enum') {
      const parts = listOf(cell);
      // An empty or repeated part would be lost: then this is a text with semicolons in it.
      return parts.length === partsOf(cell).length && this.parts.take(parts);
    }
    return valueOfCell(type, cell) !== undefined;
  }
}

/** The different texts of a column, as long as they can be the options of a field. */
class Options {
  /** How many texts there were, with the repeated ones. */
  seen = 0;
  /** The API refuses options that differ only in the form of their characters. */
  private readonly byForm = new Map<string, string>();

  get texts(): Iterable<string> {
    return this.byForm.values();
  }

  /** Whether few texts repeat often. */
  get repeat(): boolean {
    return this.seen >= this.byForm.size * VALUES_PER_OPTION;
  }

  /** Add the texts of a cell. Returns whether all texts so far can be options. */
  take(texts: readonly string[]): boolean {
    this.seen += texts.length;
    const fit = texts.every((text) => {
      const form = text.normalize();
      const known = this.byForm.get(form) ?? text;
      this.byForm.set(form, known);
      return known === text && text.length <= MAX_OPTION_LENGTH;
    });
    return fit && this.byForm.size <= MAX_OPTIONS;
  }
}

/** The value of a cell for a field of a type, as the API accepts it; undefined if it is not valid. */
export function valueOfCell(type: FieldType, cell: string): string | boolean | readonly string[] | undefined {
  const text = cell.trim();
  switch (type) {
    case 'text':
      return cell;
    case 'user':
    case 'enum':
      return text;
    case 'multi_enum':
      return listOf(cell);
    case 'bool':
      return TRUTH.get(text.toLowerCase());
    case 'number':
      return isNumber(text) ? jsonNumber(text) : undefined;
    case 'date':
      return isDay(text) ? text : undefined;
    case 'datetime':
      return instantOf(text);
  }
}

/** The options in a cell, without duplicates. They are divided by semicolons without a backslash before them. */
export function listOf(cell: string): readonly string[] {
  return [...new Set(partsOf(cell).filter(Boolean))];
}

/** The parts between semicolons. `\;` and `\\` are a semicolon and a backslash of a part; other backslashes stay. */
function partsOf(cell: string): readonly string[] {
  const parts = [''];
  for (const [piece] of cell.matchAll(/\\[\\;]|;|[^\\;]+|\\/g)) {
    if (piece === ';') parts.push('');
    else parts.push((parts.pop() ?? '') + (piece.length > 1 && piece.startsWith('\\') ? piece.slice(1) : piece));
  }
  return parts.map((part) => part.trim());
}

function isNumber(text: string): boolean {
  const [, mantissa = '', power = '0'] = NUMBER.exec(text) ?? [];
  if (!mantissa || LEADING_ZERO.test(text)) return false;
  const [whole = '', fraction = ''] = mantissa.split('.');
  const first = (whole + fraction).search(/[1-9]/);
  if (first < 0) return true;
  const powerOfFirst = whole.length - 1 - first + Number(power);
  return (whole + fraction).length - first <= MAX_DIGITS && powerOfFirst >= LEAST_POWER && powerOfFirst <= MOST_POWER;
}

function isDay(text: string): boolean {
  if (!DATE.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

/** An instant with its offset; one without counts as UTC, as in the importer of the command line. */
function instantOf(text: string): string | undefined {
  const [, day = '', minutes = '', seconds = ':00', offset = 'Z'] = DATETIME.exec(text) ?? [];
  if (!day || !isDay(day)) return undefined;
  const zone = offset.toUpperCase().replace(/^([+-]\d\d)(\d\d)$/, '$1:$2');
  const instant = `${day}T${minutes}${seconds}${zone}`;
  return Number.isNaN(new Date(instant).getTime()) ? undefined : instant;
}
