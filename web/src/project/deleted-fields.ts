/** The deleted fields of a project: for seven days they come back with their values, at the place where they stood. */
import type { Api } from '../api/client';
import type { DeletedAttribute } from '../api/types';
import { Deleted } from './deleted';

/** `restored` hears that a field has come back. */
export function deletedFieldsOf(api: Api, project: string, restored: () => void): Deleted<DeletedAttribute> {
  return new Deleted({
    keyOf: ({ id }) => id,
    list: async (_, signal) => (await api.call('GET', '/v1/projects/{project}/deleted-attributes', { path: { project }, signal })).body,
    restore: ({ id }, headers) =>
      api.call('POST', '/v1/projects/{project}/deleted-attributes/{attribute}/restore', { path: { project, attribute: id }, headers }),
    // Who has restored and deleted it meanwhile meant another one.
    purge: ({ id, version }) =>
      api.call('DELETE', '/v1/projects/{project}/deleted-attributes/{attribute}', {
        path: { project, attribute: id },
        headers: { 'If-Match': `"${version}"` },
      }),
    restored,
  });
}
