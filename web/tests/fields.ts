import { plainField, type Field } from '../src/fields/fields';

/** A field for a test: an attribute that may be empty. */
export function field(id: string, type: Field['type'] = 'text', options: readonly string[] = []): Field {
  return plainField(id, id, type, { options: options.map((value) => ({ id: value, value, color: null })) });
}

/** A computed field for a test, and the ids of the fields that it reads. */
export function computed(id: string, uses: readonly string[], type: Field['type'] = 'number'): Field {
  return plainField(id, id, type, { editable: false, formula: uses.map((one) => `{${one}}`).join(' * '), uses });
}
