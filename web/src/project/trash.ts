/** The trash of a project: issues deleted in the last 30 days, which can be restored, or removed permanently. */
import type { Api } from '../api/client';
import type { TrashedIssue } from '../api/types';
import { Deleted } from './deleted';

/** The trash. `restored` is called when an issue was restored. */
export function trashOf(api: Api, project: string, restored: () => void): Deleted<TrashedIssue> {
  return new Deleted({
    keyOf: ({ num }) => num,
    list: async (cursor, signal) => {
      const query = cursor === null ? {} : { cursor };
      return (await api.call('GET', '/v1/projects/{project}/trash', { path: { project }, query, signal })).body;
    },
    restore: ({ num }, headers) => api.call('POST', '/v1/projects/{project}/trash/{num}/restore', { path: { project, num }, headers }),
    purge: ({ num }) => api.call('DELETE', '/v1/projects/{project}/trash/{num}', { path: { project, num } }),
    restored,
  });
}
