import type { Field } from '../src/fields/fields';

/** A field for a test: an attribute that may be empty. */
export function field(id: string, type: Field['type'] = 'text', options: readonly string[] = []): Field {
  return {
    id,
    name: id,
    type,
    options: options.map((value) => ({ id: value, value, color: null })),
    required: false,
    indexed: true,
    search: false,
    description: '',
    format: null,
    default: null,
    editable: true,
    custom: true,
  };
}
