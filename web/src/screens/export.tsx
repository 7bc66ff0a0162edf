/** Export of the rows in the grid, with progress: the page writes a small file itself, a job of the API a large one. */
import { useId, useState } from 'preact/hooks';
import { ApiError } from '../api/problem';
import { Export } from '../project/exporting';
import { isOpen } from '../project/jobs';
import type { ProjectModel } from '../project/model';
import { Dialog } from '../ui/dialog';
import { Refusal } from '../ui/refusal';
import { download, fileName } from '../ui/save';
import { orderOf } from '../view/view';
import { words } from '../words';
import { Download } from './download';
import { FilterWords } from './filter-words';

/** Rows of a file that the page writes itself. */
const SMALL = 10_000;

export function ExportWindow({ model }: { readonly model: ProjectModel }) {
  const form = useId();
  const [raw, setRaw] = useState(false);
  const [shown, setShown] = useState(false);
  const [running, setRunning] = useState<Export | null>(null);
  const [job, setJob] = useState<string | null>(null);
  const matched = model.counting.counts.value?.matched ?? null;
  const isCounting = matched === null && model.counting.error.value === null;
  const isLarge = !isCounting && (matched === null || matched > SMALL);
  const begun = job === null ? undefined : model.jobs.list.value.find(({ id }) => id === job);
  const busy = running?.state.value.phase === 'running' || model.jobs.busy.value || (begun !== undefined && isOpen(begun));
  const refusal = model.jobs.refusal.value;
  const start = async () => {
    const sort = orderOf(model.view.peek());
    const { filter } = model;
    const fields = model.columns.peek().flatMap(({ field }) => model.field(field) ?? []);
    if (isLarge) {
      setRunning(null);
      setJob(await model.jobs.export({ sort, filter, columns: fields.map(({ id }) => id), raw }));
      return;
    }
    const next = new Export(model.api, model.project.id);
    setJob(null);
    setRunning(next);
    await next.run({ sort, filter, fields, raw, shown }, download(fileName([model.project.name, model.views.opened.peek().base?.name], 'csv')));
  };
  return (
    <Dialog
      title={words.export.title}
      onClose={() => {
        running?.cancel();
        model.jobs.refusal.value = null;
        model.panels.window.value = null;
      }}
    >
      <p>{words.export.what(matched, model.columns.value.length)}</p>
      <FilterWords model={model} frozen={isLarge} />
      {isLarge && <p class="soft">{words.export.byJob}</p>}
      <form
        id={form}
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!busy && !isCounting) void start();
        }}
      >
        <label class="check">
          <input type="checkbox" checked={raw} disabled={busy} onChange={(event) => setRaw(event.currentTarget.checked)} />
          {words.export.raw}
        </label>
        <p class="soft">{words.export.rawWhy}</p>
        {!isLarge && (
          <label class="check">
            <input type="checkbox" checked={shown} disabled={busy} onChange={(event) => setShown(event.currentTarget.checked)} />
            {words.export.shown}
          </label>
        )}
      </form>
      {running && <Written running={running} matched={matched ?? 0} />}
      {begun && (
        <div>
          <progress aria-label={words.export.title} max={Math.max(1, begun.total ?? 1)} {...(begun.total !== null && { value: begun.done })} />
          <p role={isOpen(begun) ? undefined : 'status'}>{words.jobs.state(begun)}</p>
          {begun.problem && (
            <Refusal
              error={new ApiError(begun.problem)}
              remedied={{ api: model.api, role: model.role, onBegun: () => setJob(null) }}
            />
          )}
        </div>
      )}
      {refusal !== null && (
        <Refusal error={refusal} remedied={{ api: model.api, role: model.role, onBegun: () => (model.jobs.refusal.value = null) }} />
      )}
      <div class="row-end">
        {begun?.state === 'done' && <Download jobs={model.jobs} job={begun.id} />}
        {busy ? (
          <button class="button" type="button" disabled={model.jobs.busy.value} onClick={() => (begun ? void model.jobs.cancel(begun) : running?.cancel())}>
            {words.export.cancel}
          </button>
        ) : (
          <button class={`button ${begun?.state === 'done' ? '' : 'primary'}`} type="submit" form={form} disabled={isCounting}>
            {words.export.start}
          </button>
        )}
      </div>
    </Dialog>
  );
}

/** The progress of a file that the page writes. */
function Written({ running, matched }: { readonly running: Export; readonly matched: number }) {
  const { phase, rows, error } = running.state.value;
  const all = Math.max(1, matched);
  return (
    <>
      <div role="status">
        <progress aria-label={words.export.title} max={all} value={phase === 'done' ? all : rows} />
        <p>{words.export.state(phase, rows)}</p>
      </div>
      {phase === 'failed' && <Refusal error={error} />}
    </>
  );
}
