/** The fields of a project: the built-in fields and its attributes. */
import type { Attribute, FieldType, Project } from '../api/types';
import type { CellValue } from './values';
import type { FieldFormat } from './format';
import { caseFolded } from './case-fold';

export type Option = Readonly<NonNullable<Attribute['options']>[number]>;

export interface Field {
  readonly id: string;
  readonly name: string;
  readonly type: FieldType;
  /** In display order; only of `enum` and `multi_enum`. Options that are added meanwhile appear here. */
  options: readonly Option[];
  readonly required: boolean;
  readonly indexed: boolean;
  /** Whether its words are indexed, so that they are found in a project of any size; only of `text`. */
  readonly search: boolean;
  /** What it is for; empty for nothing said. */
  readonly description: string;
  /** How its values are shown; null for the usual way of its type. */
  readonly format: FieldFormat | null;
  /** The value of new issues whose writer enters none; null for none. */
  readonly default: CellValue;
  /** Whether a value may be typed: the server sets the number, the times and the writers of an issue. */
  readonly editable: boolean;
  /** Whether the field is an attribute of the project, whose values are in `fields` of an issue. */
  readonly custom: boolean;
}

/** The names of the fields that every issue has, for people. */
export type BuiltInNames = Readonly<Record<'num' | 'name' | 'state' | 'created' | 'updated' | 'created_by' | 'updated_by', string>>;

/** All fields: `num`, `name`, `state`, the attributes in display order, `created`, `updated`, `created_by`, `updated_by`. */
export function fieldsOf(project: Project, names: BuiltInNames): readonly Field[] {
  const builtIn = (id: keyof BuiltInNames, type: FieldType, more: Partial<Field> = {}): Field => ({
    id,
    name: names[id],
    type,
    options: [],
    required: true,
    indexed: true,
    search: false,
    description: '',
    format: null,
    default: null,
    editable: false,
    custom: false,
    ...more,
  });
  return [
    builtIn('num', 'number'),
    builtIn('name', 'text', { editable: true, search: true }),
    builtIn('state', 'enum', { editable: true, options: project.states }),
    ...(project.attributes ?? []).map(fieldOf),
    builtIn('created', 'datetime'),
    builtIn('updated', 'datetime'),
    builtIn('created_by', 'user'),
    builtIn('updated_by', 'user'),
  ];
}

function fieldOf(attribute: Attribute): Field {
  return {
    id: attribute.id,
    name: attribute.name,
    type: attribute.type,
    options: attribute.options ?? [],
    required: attribute.required,
    indexed: attribute.indexed,
    // While the words are being indexed, a search by them is refused.
    search: attribute.search && attribute.build?.state !== 'rebuilding',
    description: attribute.description ?? '',
    format: attribute.format,
    default: attribute.default,
    editable: true,
    custom: true,
  };
}

/**
 * The option that a text means: the one with this very value, else the only one that is equal without case and accents.
 */
export function optionMeant({ options }: Pick<Field, 'options'>, text: string): string | undefined {
  if (options.some(({ value }) => value === text)) return text;
  const wanted = caseFolded(text);
  const [found, other] = options.filter(({ value }) => caseFolded(value) === wanted);
  return other ? undefined : found?.value;
}
