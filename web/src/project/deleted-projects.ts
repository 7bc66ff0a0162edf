/** The deleted projects of the tenant: for seven days they come back with all that is in them. */
import type { Api } from '../api/client';
import type { DeletedProject } from '../api/types';
import { Deleted } from './deleted';

/** `restored` hears that a project has come back. */
export function deletedProjectsOf(api: Api, restored: () => void): Deleted<DeletedProject> {
  return new Deleted({
    keyOf: ({ id }) => id,
    list: async (cursor, signal) => (await api.call('GET', '/v1/deleted-projects', { query: cursor === null ? {} : { cursor }, signal })).body,
    restore: ({ id }, headers) => api.call('POST', '/v1/deleted-projects/{project}/restore', { path: { project: id }, headers }),
    // Who has restored and deleted it meanwhile meant another state of it.
    purge: ({ id, version }) =>
      api.call('DELETE', '/v1/deleted-projects/{project}', { path: { project: id }, headers: { 'If-Match': `"${version}"` } }),
    restored,
  });
}
