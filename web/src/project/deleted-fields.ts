/** The deleted fields of a project: for seven days they can be restored with their values, at their former place. */
import type { Api } from '../api/client';
import type { DeletedAttribute } from '../api/types';
import { Deleted } from './deleted';

/** The deleted fields. `restored` is called when a field was restored. */
export function deletedFieldsOf(api: Api, project: string, restored: () => void): Deleted<DeletedAttribute> {
  return new Deleted({
    keyOf: ({ id }) => id,
    list: async (_, signal) => (await api.call('GET', '/v1/projects/{project}/deleted-attributes', { path: { project }, signal })).body,
    restore: ({ id }, headers) =>
      api.call('POST', '/v1/projects/{project}/deleted-attributes/{attribute}/restore', { path: { project, attribute: id }, headers }),
    // If someone restored and deleted the field meanwhile, this request meant the former deletion.
    purge: ({ id, version }) =>
      api.call('DELETE', '/v1/projects/{project}/deleted-attributes/{attribute}', {
        path: { project, attribute: id },
        headers: { 'If-Match': `"${version}"` },
      }),
    restored,
  });
}
