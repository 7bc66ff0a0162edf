/** The composite indexes, which make a sort by several fields cheap at any size. */
import { useState } from 'preact/hooks';
import type { SortKey } from '../../api/types';
import { fieldsOf } from '../../fields/fields';
import type { Definitions } from '../../project/definitions';
import { words } from '../../words';
import { SortKeys } from '../toolbar/order-panels';
import { BuildProgress } from './build-progress';
import { Confirm } from './confirm';
import { seen } from './use-draft';

export function Indexes({ definitions }: { readonly definitions: Definitions }) {
  const fields = fieldsOf(definitions.project.value, words.fields);
  const [keys, setKeys] = useState<readonly SortKey[]>([]);
  const nameOf = (id: string) => fields.find((field) => field.id === id)?.name ?? id;
  const create = async () => {
    const taken = await definitions.change((api, project) =>
      api.call('POST', '/v1/projects/{project}/indexes', { path: { project }, body: { sort: [...keys] } }),
    );
    if (taken) setKeys([]);
  };
  return (
    <section class="section">
      <h3>{words.settings.indexes}</h3>
      <p class="soft">{words.settings.indexesWhy}</p>
      <ul class="attributes">
        {definitions.indexes.value.map(({ id, version, sort, state, build }) => (
          <li key={id}>
            <span class="attribute-name">{sort.map((key) => words.settings.key(nameOf(key.field), key.direction)).join(', ')}</span>
            {build ? <BuildProgress build={build} /> : <span class="soft">{words.settings.indexStates[state]}</span>}
            <Confirm
              label={words.settings.deleteIndex}
              question={words.settings.deleteIndexWhy}
              onConfirm={() =>
                void definitions.change((api, project) =>
                  api.call('DELETE', '/v1/projects/{project}/indexes/{index}', { path: { project, index: id }, headers: seen({ version }) }),
                )
              }
            />
          </li>
        ))}
      </ul>
      <SortKeys keys={keys} fields={fields} none={words.settings.noKeys} onChange={setKeys} />
      {keys.length > 1 && (
        <button class="button primary" type="button" disabled={definitions.busy.value} onClick={() => void create()}>
          {words.settings.buildIndex}
        </button>
      )}
    </section>
  );
}
