/** The line below the grid: the selection, the number of rows, their lag, and the cost of the page. */
import { refusedIn } from '../edits/marks';
import type { Actions } from '../project/actions';
import type { ProjectModel } from '../project/model';
import { cellsIn } from '../selection/range';
import { details } from '../ui/details';
import { reasonOf } from '../ui/refusal';
import { dollarsOfMillion } from '../view/price';
import { words } from '../words';
import { Presence } from './presence';
import { SelectedFigures } from './selected-figures';

export function StatusLine({ model, actions }: { readonly model: ProjectModel; readonly actions: Actions }) {
  const counts = model.counting.counts.value;
  const error = model.counting.error.value;
  const explanation = model.explanation.value;
  const { ranges } = model;
  const cells = cellsIn(ranges);
  const index = model.index.value;
  const progress = model.editor.progress.value;
  const refused = refusedIn(model.editor.marks.value).length;
  const jobs = model.jobs.open.value;
  const misfits = model.misfits.value.size;
  return (
    <footer class="status-line">
      <span role="status">{error === null ? words.project.shown(counts?.matched ?? null, counts?.total ?? null) : words.status.noCount}</span>
      {error !== null && (
        <>
          <span title={reasonOf(error)}>{reasonOf(error)}</span>
          <button class="link-inline" type="button" onClick={() => void model.counting.ask(model.filter)}>
            {words.retry}
          </button>
        </>
      )}
      {model.groups.more.value && model.view.value.kind === 'grid' && (
        <button class="link-inline" type="button" onClick={() => model.groups.next()}>
          {words.groups.more}
        </button>
      )}
      {model.groups.figuresError.value !== null && (
        <span title={reasonOf(model.groups.figuresError.value)}>{words.groups.noFigures(reasonOf(model.groups.figuresError.value))}</span>
      )}
      {cells > 1 && <span>{words.status.selected(cells, ranges.length)}</span>}
      {cells > 1 && <SelectedFigures model={model} ranges={ranges} />}
      <span role="status">{model.adding.value && words.status.adding}</span>
      {misfits > 0 && <span>{words.status.misfits(misfits)}</span>}
      {refused > 0 && (
        <button class="link-inline bad" type="button" onClick={() => model.panels.open({ kind: 'refused' })}>
          {words.status.refused(refused)}
        </button>
      )}
      <span class="outcome" role="status">
        {progress ? words.status.writing(progress.done, progress.of) : actions.outcome.value}
      </span>
      <span class="visually-hidden" role="status">
        {model.live.announcement.value}
      </span>
      {jobs.length > 0 && (
        <button class="link-inline" type="button" onClick={() => (model.panels.window.value = 'jobs')}>
          {words.jobs.running(jobs.length, jobs.reduce((sum, one) => sum + one.done + one.refused, 0), jobs.reduce((sum, one) => sum + (one.total ?? 0), 0))}
        </button>
      )}
      <span class="visually-hidden" role="status">
        {model.jobs.announcement.value}
      </span>
      <Presence others={model.live.others.value} />
      {details.value && typeof index?.lag_ms === 'number' && <span title={words.status.lateWhy}>{words.status.late(index.lag_ms)}</span>}
      {details.value && explanation && (
        <button class="link" type="button" onClick={() => model.panels.open({ kind: 'explain' })} title={words.explain.title}>
          {words.status.price(Number(explanation.read_units), dollarsOfMillion(Number(explanation.read_units)))}
        </button>
      )}
    </footer>
  );
}
