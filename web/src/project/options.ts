/** Adds options to a field, or states to a project, for cells that get them as values. */
import type { Api } from '../api/client';
import { ApiError } from '../api/problem';
import type { Project } from '../api/types';
import type { Field, Option } from '../fields/fields';
import { words } from '../words';
import { loadProject } from './queries';

/** How often the options are added to definitions that others have changed meanwhile. */
const ATTEMPTS = 4;

interface Listed {
  readonly version: number;
  readonly options: readonly Option[];
}

/**
 * Add the options that the field does not have, at the end of its list. `known`: the project as it was last read.
 * Returns the present project. Throws ApiError if the API refuses, OfflineError without an answer.
 */
export async function addOptions(api: Api, known: Project, field: Field, values: readonly string[]): Promise<Project> {
  let project = known;
  for (let attempt = 1; ; attempt += 1) {
    const listed = listedIn(project, field);
    const missing = values.filter((value) => !listed.options.some((option) => option.value === value));
    if (missing.length) {
      try {
        await write(api, project.id, field, listed, missing);
      } catch (error) {
        const isOutdated = error instanceof ApiError && error.status === 412 && attempt < ATTEMPTS;
        if (!isOutdated) throw error;
      }
    }
    if (!missing.length && project !== known) return project;
    project = await loadProject(api, project.id, new AbortController().signal);
  }
}

function listedIn({ version, states, attributes = [] }: Project, { id, name, custom }: Field): Listed {
  if (!custom) return { version, options: states };
  const attribute = attributes.find((one) => one.id === id);
  if (!attribute) throw new Error(words.actions.noField(name));
  return { version: attribute.version, options: attribute.options ?? [] };
}

async function write(api: Api, project: string, { id, custom }: Field, { version, options }: Listed, missing: readonly string[]): Promise<void> {
  const body = [...options, ...missing.map((value) => ({ value, color: null }))];
  const headers = { 'If-Match': `"${version}"` };
  if (custom) await api.call('PATCH', '/v1/projects/{project}/attributes/{attribute}', { path: { project, attribute: id }, body: { options: body }, headers });
  else await api.call('PATCH', '/v1/projects/{project}', { path: { project }, body: { states: body }, headers });
}
