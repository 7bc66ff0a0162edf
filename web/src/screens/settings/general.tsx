/** The name and the states of a project, and how to delete it. */
import { useState } from 'preact/hooks';
import type { Definitions } from '../../project/definitions';
import { words } from '../../words';
import { Confirm } from './confirm';
import { OptionsEditor, type OptionInput } from './options-editor';

export function General({ definitions, onDeleted }: { readonly definitions: Definitions; readonly onDeleted: () => void }) {
  const project = definitions.project.value;
  const [name, setName] = useState(project.name);
  const [states, setStates] = useState<readonly OptionInput[]>(project.states);
  const save = async () => {
    const taken = await definitions.change((api, id) =>
      api.call('PATCH', '/v1/projects/{project}', { path: { project: id }, body: { name, states: [...states] } }),
    );
    if (taken) setStates(definitions.project.peek().states);
  };
  return (
    <section class="section">
      <details>
        <summary>{words.settings.general}</summary>
        <form
          class="form"
          onSubmit={(event) => {
            event.preventDefault();
            void save();
          }}
        >
          <label>
            {words.projects.name}
            <input required value={name} onInput={(event) => setName(event.currentTarget.value)} />
          </label>
          <OptionsEditor label={words.settings.states} options={states} onChange={setStates} />
          <div class="row-end">
            <Confirm
              label={words.settings.deleteProject}
              question={words.settings.deleteProjectWhy(project.name, project.issues)}
              onConfirm={() =>
                void definitions
                  .change((api, id) => api.call('DELETE', '/v1/projects/{project}', { path: { project: id } }).then(onDeleted))
              }
            />
            <button class="button primary" type="submit" disabled={definitions.busy.value}>
              {words.settings.save}
            </button>
          </div>
        </form>
      </details>
    </section>
  );
}
