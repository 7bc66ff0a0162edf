/** Plans how an import uses the columns and rows of a file. Pure. */
import type { FieldType } from '../api/types';
import { parseText } from '../cells/parse';
import { optionMeant, type Field } from '../fields/fields';
import { ColumnValues, valueOfCell } from './infer';
import { nameWithId } from './write';

/** The destination of a column's values. */
export type Target =
  | { readonly kind: 'skip' }
  | { readonly kind: 'field'; readonly field: string }
  | { readonly kind: 'new'; readonly type: FieldType; readonly options: readonly string[] };

export interface ColumnPlan {
  readonly header: string;
  readonly target: Target;
  /** Whether its header names a field that a formula computes. */
  readonly isComputed: boolean;
  /** The types that its values fit, and their options where it would be a new field. */
  readonly values: ColumnValues;
}

export interface Inspected {
  readonly columns: readonly ColumnPlan[];
  /** The first rows, to be shown. */
  readonly sample: readonly (readonly string[])[];
  readonly rows: number;
  /** Rows with more cells than the header. */
  readonly wide: number;
}

const SAMPLE = 8;
const SKIP: Target = { kind: 'skip' };
/** The usual headers of a column of names, if none is the name of the field. */
const NAMES = ['name', 'title', 'summary', 'subject'];

/** Read all rows once, and plan each column. Only users who may define fields get proposals of new ones. */
export async function inspect(
  batches: AsyncIterable<string[][]>,
  fields: readonly Field[],
  { mayDefine }: { readonly mayDefine: boolean },
): Promise<Inspected> {
  let headers: readonly string[] | null = null;
  let values: ColumnValues[] = [];
  const sample: string[][] = [];
  let rows = 0;
  let wide = 0;
  for await (const batch of batches) {
    for (const row of batch) {
      if (!headers) {
        headers = row.map((header) => header.trim());
        values = headers.map(() => new ColumnValues());
        continue;
      }
      rows += 1;
      if (isWide(row, headers.length)) wide += 1;
      if (sample.length < SAMPLE) sample.push(row);
      values.forEach((column, at) => column.add(row[at] ?? ''));
    }
  }
  return { columns: planned(headers ?? [], values, fields, mayDefine), sample, rows, wide };
}

/** Whether a row has a value beyond the columns of the header: its other values may be in wrong columns too. */
export function isWide(row: readonly string[], columns: number): boolean {
  return row.slice(columns).some((cell) => cell.trim() !== '');
}

function planned(headers: readonly string[], values: readonly ColumnValues[], fields: readonly Field[], mayDefine: boolean): readonly ColumnPlan[] {
  const known = knownFields(headers, fields);
  const naming = known.some((field) => field?.id === 'name') ? -1 : nameColumn(headers, values, known);
  return headers.map((header, at): ColumnPlan => {
    const column = values[at] ?? new ColumnValues();
    const inferred = column.type;
    const field = known[at];
    const target: Target =
      at === naming
        ? { kind: 'field', field: 'name' }
        : field
          ? field.editable
            ? { kind: 'field', field: field.id }
            : SKIP
          : mayDefine && header
            ? { kind: 'new', type: inferred, options: column.options(inferred) }
            : SKIP;
    return { header, target, isComputed: typeof field?.formula === 'string', values: column };
  });
}

/** The ways in which a header means a field, the surest first. */
const MEANINGS: readonly ((field: Field, header: string) => boolean)[] = [
  (field, header) => names(field).includes(header),
  (field, header) => names(field).some((name) => same(name, header)),
  ({ id }, header) => same(id, header),
];

/** Headers of a field: its name, and with its id where several have the name. The API's exports have built-in fields by id. */
function names({ id, name, custom }: Field): readonly string[] {
  return [name, nameWithId(name, id), ...(custom ? [] : [id])];
}

/** The field of each header. A field may have the former name of another one as its id, so all names precede the ids. */
function knownFields(headers: readonly string[], fields: readonly Field[]): readonly (Field | undefined)[] {
  const known = new Map<number, Field>();
  const taken = new Set<Field>();
  for (const means of MEANINGS) {
    headers.forEach((header, at) => {
      const field = known.has(at) ? undefined : fields.find((one) => !taken.has(one) && means(one, header));
      if (!field) return;
      known.set(at, field);
      taken.add(field);
    });
  }
  return headers.map((_, at) => known.get(at));
}

/** The column with a usual header of names; otherwise the first column of texts. */
function nameColumn(headers: readonly string[], values: readonly ColumnValues[], known: readonly (Field | undefined)[]): number {
  const called = headers.findIndex((header, at) => !known[at] && NAMES.some((name) => same(name, header)));
  return called >= 0 ? called : values.findIndex((column, at) => !known[at] && column.type === 'text');
}

/** The body of a new issue. `ids` has the field of each column, after the new ones are created; null is left out. */
export function issueOf(row: readonly string[], ids: readonly (Field | null)[]): Readonly<Record<string, unknown>> {
  const values = ids.flatMap((field, at) => {
    const cell = row[at] ?? '';
    if (!field || (field.type === 'text' ? cell : cell.trim()) === '') return [];
    // An invalid cell is sent unchanged: the API reports the error.
    return [{ field, value: asOptions(field, valueOfCell(field.type, cell) ?? asFormatted(field, cell) ?? cell) }];
  });
  const valuesOf = (custom: boolean) => Object.fromEntries(values.flatMap(({ field, value }) => (field.custom === custom ? [[field.id, value]] : [])));
  return { ...valuesOf(false), fields: valuesOf(true) };
}

/** The digits of a number that is written in the format of its field, as an export of the page has it. */
function asFormatted(field: Field, cell: string): string | undefined {
  if (field.type !== 'number' || !field.format) return undefined;
  const parsed = parseText(field, cell);
  return parsed.ok ? String(parsed.value) : undefined;
}

/** A value with the options that its texts mean, without duplicates; the API takes only their exact values. */
function asOptions(field: Field, value: string | boolean | readonly string[]): string | boolean | readonly string[] {
  if (field.type !== 'enum' && field.type !== 'multi_enum') return value;
  const meant = (text: string) => optionMeant(field, text) ?? text;
  if (typeof value === 'string') return meant(value);
  return typeof value === 'boolean' ? value : [...new Set(value.map(meant))];
}

function same(a: string, b: string): boolean {
  return a.trim().toLocaleLowerCase() === b.trim().toLocaleLowerCase();
}
