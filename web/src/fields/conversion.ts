/** The types that a value can be converted to when one field is copied into another (docs/bulk.md). Pure. */
import type { FieldType } from '../api/types';
import type { Field } from './fields';

/** The types of a source by the type of a target, besides the same type. A text takes all of them. */
const SOURCES: Readonly<Record<Exclude<FieldType, 'text'>, readonly FieldType[]>> = {
  number: ['text', 'enum'],
  date: ['text', 'datetime', 'enum'],
  datetime: ['text', 'date', 'enum'],
  bool: ['text', 'number', 'enum'],
  enum: ['text', 'multi_enum', 'user', 'number', 'bool', 'date'],
  multi_enum: ['text', 'enum', 'user', 'number', 'bool', 'date'],
  user: ['text', 'enum'],
};

export function converts(from: FieldType, to: FieldType): boolean {
  return from === to || to === 'text' || SOURCES[to].includes(from);
}

/** The fields that can take the values of another one. */
export function targetsFor(source: Field, fields: readonly Field[]): readonly Field[] {
  return fields.filter((field) => field.editable && field.id !== source.id && converts(source.type, field.type));
}
