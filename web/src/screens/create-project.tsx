/** A new project: its name, and the states of its issues. */
import { useState } from 'preact/hooks';
import type { Api } from '../api/client';
import type { Projects } from '../project/projects';
import { addressOfProject, go } from '../router';
import { Dialog } from '../ui/dialog';
import { Refusal } from '../ui/refusal';
import { unsaved } from '../ui/unsaved';
import { words } from '../words';

interface CreateProjectProps {
  readonly api: Api;
  readonly projects: Projects;
  readonly onClose: () => void;
}

export function CreateProject({ api, projects, onClose }: CreateProjectProps) {
  const [name, setName] = useState('');
  const usual = words.projects.usualStates.join('\n');
  const [states, setStates] = useState<string>(usual);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [key] = useState(() => crypto.randomUUID());
  const create = async () => {
    setBusy(true);
    try {
      const { body } = await api.call('POST', '/v1/projects', {
        body: { name, states: states.split('\n').map((one) => one.trim()).filter(Boolean) },
        headers: { 'Idempotency-Key': key },
      });
      void projects.load();
      go(addressOfProject(body.id));
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };
  return (
    <Dialog title={words.projects.create} onClose={onClose}>
      <form
        class="form"
        {...unsaved(name !== '' || states !== usual)}
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <label>
          {words.projects.name}
          <input required readOnly={busy} value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <label>
          {words.projects.states}
          <textarea required readOnly={busy} rows={4} value={states} onInput={(event) => setStates(event.currentTarget.value)} />
        </label>
        {error !== null && <Refusal error={error} />}
        <div class="row-end">
          <button class="button primary" type="submit" disabled={busy}>
            {words.projects.create}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
