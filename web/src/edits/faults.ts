/** Why the API refused an issue, by its fields. Pure. */
import type { ProblemDocument } from '../api/problem';
import type { Field } from '../fields/fields';
import { fieldOfError } from './change';

/** The fields that the API refused, with its reasons. */
export function faultsIn({ errors = [] }: ProblemDocument, fields: readonly Field[]): readonly { readonly field: Field; readonly message: string }[] {
  return errors.flatMap(({ field: path, message }) => {
    const field = fields.find(({ id }) => id === fieldOfError(path));
    return field ? [{ field, message }] : [];
  });
}

/** Why the API refused an issue: each faulty field by its name. */
export function whyRefused(problem: ProblemDocument, fields: readonly Field[]): string {
  const faulty = faultsIn(problem, fields).map(({ field, message }) => `${field.name} ${message}`);
  return faulty.length ? `${faulty.join('; ')}.` : (problem.detail ?? problem.title);
}
