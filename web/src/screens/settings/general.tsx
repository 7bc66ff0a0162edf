/** The name and the states of a project, and how to delete it. */
import type { Definitions } from '../../project/definitions';
import { sentOptions, type OptionInput } from '../../project/drafted-options';
import { unsaved } from '../../ui/unsaved';
import { words } from '../../words';
import { Clash, textOf } from './clash';
import { Confirm } from './confirm';
import { OptionsEditor } from './options-editor';
import { seen, useDraft } from './use-draft';

export function General({ definitions, onDeleted }: { readonly definitions: Definitions; readonly onDeleted: () => void }) {
  const project = definitions.project.value;
  const defined = { name: project.name, states: project.states as readonly OptionInput[] };
  const draft = useDraft(project.version, defined);
  const { name, states } = draft.value;
  const save = () =>
    definitions.change(async (api, id) => {
      await api.call('PATCH', '/v1/projects/{project}', { path: { project: id }, body: { name, states: sentOptions(states) }, headers: draft.seen });
      draft.taken();
    });
  return (
    <section class="section">
      <details>
        <summary>{words.settings.general}</summary>
        <form
          class="form"
          {...unsaved(draft.isChanged)}
          onSubmit={(event) => {
            event.preventDefault();
            void save();
          }}
        >
          <label>
            {words.projects.name}
            <input required value={name} onInput={(event) => draft.put({ name: event.currentTarget.value })} />
          </label>
          <OptionsEditor label={words.settings.states} options={states} onChange={(states) => draft.put({ states })} />
          <Clash
            parts={draft.clashing.map((part) => ({ name: words.settings.parts[part], yours: textOf(draft.value[part]), theirs: textOf(defined[part]) }))}
            onYours={draft.keepYours}
            onTheirs={draft.keepTheirs}
          />
          <div class="row-end">
            <Confirm
              label={words.settings.deleteProject}
              question={words.settings.deleteProjectWhy(project.name, project.issues)}
              onConfirm={() =>
                void definitions
                  .change((api, id) => api.call('DELETE', '/v1/projects/{project}', { path: { project: id }, headers: seen(project) }).then(onDeleted))
              }
            />
            <button class="button primary" type="submit" disabled={definitions.busy.value || draft.clashing.length > 0}>
              {words.settings.save}
            </button>
          </div>
        </form>
      </details>
    </section>
  );
}
