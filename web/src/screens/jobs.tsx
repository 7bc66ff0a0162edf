/** The background jobs of the project: progress, refused issues with reasons, cancelling, and undo. */
import { useEffect } from 'preact/hooks';
import { ApiError } from '../api/problem';
import type { BackgroundJob } from '../api/types';
import { permits } from '../auth/session';
import { formatDatetime } from '../cells/format';
import { isOpen, nameOfJob } from '../project/jobs';
import type { ProjectModel } from '../project/model';
import { Dialog } from '../ui/dialog';
import { Refusal } from '../ui/refusal';
import { words } from '../words';
import { Download } from './download';
import { RefusedIssues } from './refused-issues';

export function JobsWindow({ model }: { readonly model: ProjectModel }) {
  const { jobs } = model;
  useEffect(() => {
    void model.people.load();
    void jobs.load();
    return () => {
      jobs.refusal.value = null;
      jobs.undone.value = '';
    };
  }, [model]);
  const list = jobs.list.value;
  const error = jobs.error.value;
  const refusal = jobs.refusal.value;
  return (
    <Dialog title={words.jobs.title} wide onClose={() => (model.panels.window.value = null)}>
      <p class="soft">{words.jobs.what}</p>
      {refusal !== null && (
        <Refusal
          error={refusal}
          title={words.jobs.refused}
          remedied={{ api: model.api, role: model.role, onBegun: () => (jobs.refusal.value = null) }}
        />
      )}
      {error !== null && <Refusal error={error} title={words.jobs.failed} onRetry={() => void jobs.load()} />}
      {!jobs.loaded.value && <p aria-busy="true">{words.loading}</p>}
      {jobs.loaded.value && !list.length && error === null && <p role="status">{words.jobs.none}</p>}
      <p role="status">{jobs.undone.value}</p>
      <ul class="jobs">
        {list.map((job) => (
          <Job key={job.id} model={model} job={job} onUndo={() => void model.changes.undoListed(job)} />
        ))}
      </ul>
      {jobs.more.value && (
        <button class="button" type="button" onClick={() => void jobs.next()}>
          {words.jobs.more}
        </button>
      )}
    </Dialog>
  );
}

function Job({ model, job, onUndo }: { readonly model: ProjectModel; readonly job: BackgroundJob; readonly onUndo: () => void }) {
  const { jobs } = model;
  const { id, kind, done, total, refused, change, created, created_by, problem } = job;
  const open = isOpen(job);
  const name = nameOfJob(job);
  const when = formatDatetime(created);
  const busy = jobs.busy.value;
  const isOwn = created_by === model.user.user;
  const show = (num: number) => {
    if (model.panels.open({ kind: 'issue', num })) model.panels.window.value = null;
  };
  return (
    <li aria-label={words.jobs.name(name, when)}>
      <strong>{name}</strong>{' '}
      <span class="soft">
        {model.people.nameOf(created_by)}, <time dateTime={created}>{when}</time>
      </span>
      <p>
        {words.jobs.state(job)} {job.changed !== null && job.state === 'done' && words.bulk.outcome(job.changed)}
      </p>
      {open && <progress aria-label={words.jobs.name(name, when)} max={Math.max(1, total ?? 1)} {...(total !== null && { value: done + refused })} />}
      {problem && <Refusal error={new ApiError(problem)} />}
      <div class="row">
        {open && (isOwn || permits(model.role, 'admin')) && (
          <button class="button" type="button" disabled={busy} onClick={() => void jobs.cancel(job)}>
            {words.jobs.cancel}
          </button>
        )}
        {kind === 'export' && job.state === 'done' && <Download jobs={jobs} job={id} />}
        {!open && kind !== 'export' && done > 0 && model.changes.mayRevert({ change, by: created_by }) && (
          <button class="button" type="button" disabled={busy} aria-label={words.jobs.undoOf(name, when)} onClick={onUndo}>
            {words.history.undo}
          </button>
        )}
      </div>
      {refused > 0 && <RefusedIssues key={`${id} ${open}`} model={model} job={id} summary={words.jobs.notDone(refused)} onShow={show} />}
    </li>
  );
}
