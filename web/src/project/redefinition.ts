/** Compares the definitions of a project with a later state of them. Pure. */
import type { Project } from '../api/types';

/**
 * The definitions from which the page is built, as text. It leaves out everything that changes with the issues, or while
 * an index is built.
 */
function definitionsOf({ name, states, attributes = [] }: Project): string {
  const fields = attributes.map(({ id, name: called, type, options, required, indexed, search, description, format, default: value, formula }) =>
    [id, called, type, options, required, indexed, search, description, format, value, formula]);
  return JSON.stringify([name, states, fields]);
}

/** Whether the later definitions differ only by options and states at the ends of their lists, if at all. */
export function onlyAddsOptions(before: Project, now: Project): boolean {
  const known = new Map((before.attributes ?? []).map(({ id, options }) => [id, options?.length ?? 0]));
  const attributes = (now.attributes ?? []).map((attribute) =>
    attribute.options ? { ...attribute, options: attribute.options.slice(0, known.get(attribute.id)) } : attribute,
  );
  return definitionsOf({ ...now, states: now.states.slice(0, before.states.length), attributes }) === definitionsOf(before);
}
