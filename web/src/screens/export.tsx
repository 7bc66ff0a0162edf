/** Export of what the grid shows, with progress. */
import { useState } from 'preact/hooks';
import { Export } from '../project/exporting';
import type { ProjectModel } from '../project/model';
import { Dialog } from '../ui/dialog';
import { Refusal } from '../ui/refusal';
import { fileFor } from '../ui/save';
import { words } from '../words';

/** Rows from which on a file is written while it is read, to a place that the user picks. Below, a plain download asks nothing. */
const LARGE = 20_000;

export function ExportWindow({ model }: { readonly model: ProjectModel }) {
  const [raw, setRaw] = useState(false);
  const [running, setRunning] = useState<Export | null>(null);
  const state = running?.state.value;
  const matched = model.counting.counts.value?.matched ?? null;
  const start = async () => {
    const sink = await fileFor(`${model.project.id}.csv`, { large: matched === null || matched > LARGE });
    if (!sink) return;
    const next = new Export(model.api, model.project.id);
    setRunning(next);
    const fields = model.columns.peek().flatMap(({ field }) => model.field(field) ?? []);
    await next.run({ sort: model.view.peek().sort, filter: model.filter, fields, raw }, sink);
  };
  return (
    <Dialog
      title={words.export.title}
      onClose={() => {
        running?.cancel();
        model.desk.window.value = null;
      }}
    >
      <p>{words.export.what(matched, model.columns.value.length)}</p>
      <div class="form">
        <label class="check">
          <input type="checkbox" checked={raw} disabled={state?.phase === 'running'} onChange={(event) => setRaw(event.currentTarget.checked)} />
          {words.export.raw}
        </label>
        <p class="soft">{words.export.rawWhy}</p>
      </div>
      {state && (
        <div role="status">
          <progress
            aria-label={words.export.title}
            max={Math.max(1, matched ?? 1)}
            {...(state.phase === 'done' ? { value: Math.max(1, matched ?? 1) } : matched === null ? {} : { value: state.rows })}
          />
          <p>{words.export.state(state.phase, state.rows)}</p>
        </div>
      )}
      {state?.phase === 'failed' && <Refusal error={state.error} />}
      <div class="row-end">
        {state?.phase === 'running' ? (
          <button class="button" type="button" onClick={() => running?.cancel()}>
            {words.export.cancel}
          </button>
        ) : (
          <button class="button primary" type="button" onClick={() => void start()}>
            {words.export.start}
          </button>
        )}
      </div>
    </Dialog>
  );
}
