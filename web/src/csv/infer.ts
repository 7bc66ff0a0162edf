/** The types of columns, inferred from their values. A column has a type only if every value fits it. Pure. */
import type { FieldType } from '../api/types';

const MAX_OPTIONS = 200;
const MAX_OPTION_LENGTH = 100;
/** Values to an option, on average. A column with fewer names things rather than kinds of things. */
const VALUES_PER_OPTION = 4;
const MAX_DIGITS = 38;

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?$/;
const LEADING_ZERO = /^[+-]?0\d/;
const DATE = /^\d{4}-\d\d-\d\d$/;
const DATETIME = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d(?:\.\d{1,6})?)? ?([Zz]|[+-]\d\d:?\d\d)?$/;
const TRUTH: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
  ['yes', true],
  ['no', false],
]);

export class ColumnValues {
  private count = 0;
  private fits = new Set<FieldType>(['number', 'date', 'datetime', 'bool', 'enum', 'multi_enum']);
  private readonly wholes = new Set<string>();
  private readonly parts = new Set<string>();
  private partCount = 0;

  add(cell: string): void {
    if (cell.trim() === '') return;
    this.count += 1;
    for (const type of this.fits) if (!this.takes(type, cell)) this.fits.delete(type);
  }

  /** The narrowest type that all values have. */
  get type(): FieldType {
    if (!this.count) return 'text';
    for (const type of ['number', 'date', 'datetime', 'bool'] as const) if (this.fits.has(type)) return type;
    if (this.fits.has('enum') && this.count >= this.wholes.size * VALUES_PER_OPTION) return 'enum';
    const lists = this.partCount > this.count;
    return lists && this.fits.has('multi_enum') && this.partCount >= this.parts.size * VALUES_PER_OPTION ? 'multi_enum' : 'text';
  }

  /** The types that a user may give the column, the inferred one first. Cells that are no value of it are refused later. */
  get types(): readonly FieldType[] {
    const lists = (['enum', 'multi_enum'] as const).filter((type) => this.fits.has(type));
    return [...new Set<FieldType>([this.type, 'text', 'number', 'date', 'datetime', 'bool', ...lists, 'user'])];
  }

  /** The options that a column of this type would have, in alphabetic order. */
  options(type: FieldType): readonly string[] {
    const found = type === 'enum' ? this.wholes : type === 'multi_enum' ? this.parts : new Set<string>();
    return [...found].sort((a, b) => a.localeCompare(b, undefined, { numeric: true }));
  }

  private takes(type: FieldType, cell: string): boolean {
    if (type === 'enum') return gathered(this.wholes, [cell.trim()]);
    if (type === 'multi_enum') {
      const parts = listOf(cell);
      this.partCount += parts.length;
      return gathered(this.parts, parts);
    }
    return valueOfCell(type, cell) !== undefined;
  }
}

function gathered(found: Set<string>, options: readonly string[]): boolean {
  for (const option of options) found.add(option);
  return found.size <= MAX_OPTIONS && options.every((option) => option.length <= MAX_OPTION_LENGTH);
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
      return isNumber(text) ? text : undefined;
    case 'date':
      return isDay(text) ? text : undefined;
    case 'datetime':
      return instantOf(text);
  }
}

/** The options in a cell, without duplicates. They are divided by semicolons without a backslash before them. */
export function listOf(cell: string): readonly string[] {
  const parts = cell.match(/(?:\\.|[^\\;])+/gs) ?? [];
  return [...new Set(parts.map((part) => part.replace(/\\([\\;])/g, '$1').trim()).filter(Boolean))];
}

function isNumber(text: string): boolean {
  if (!NUMBER.test(text) || LEADING_ZERO.test(text)) return false;
  const digits = text.replace(/[eE].*/, '').replace(/\D/g, '').replace(/^0+/, '');
  return digits.length <= MAX_DIGITS;
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
