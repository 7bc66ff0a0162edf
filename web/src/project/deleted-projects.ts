/** The deleted projects of the tenant: for seven days they can be restored with all their content. */
import type { Api } from '../api/client';
import type { DeletedProject } from '../api/types';
import { Deleted } from './deleted';

/** The deleted projects. `restored` is called when a project was restored. */
export function deletedProjectsOf(api: Api, restored: () => void): Deleted<DeletedProject> {
  return new Deleted({
    keyOf: ({ id }) => id,
    list: async (cursor, signal) => (await api.call('GET', '/v1/deleted-projects', { query: cursor === null ? {} : { cursor }, signal })).body,
    restore: ({ id }, headers) => api.call('POST', '/v1/deleted-projects/{project}/restore', { path: { project: id }, headers }),
    // If someone restored and deleted the project meanwhile, this request meant the former deletion.
    purge: ({ id, version }) =>
      api.call('DELETE', '/v1/deleted-projects/{project}', { path: { project: id }, headers: { 'If-Match': `"${version}"` } }),
    restored,
  });
}
