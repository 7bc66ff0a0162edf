/** Finds out whether the definitions of a project have changed. Pure. */
import type { Project } from '../api/types';

/**
 * The definitions from which the page is built, as text. It leaves out everything that changes with the issues, or while
 * an index is built.
 */
export function definitionsOf({ name, states, attributes = [] }: Project): string {
  const fields = attributes.map(({ id, name: called, type, options, required, indexed, search, description, format, default: value }) =>
    [id, called, type, options, required, indexed, search, description, format, value]);
  return JSON.stringify([name, states, fields]);
}
