/** The line below the grid: what is selected, how many rows there are, how late they are, and what the page costs. */
import type { ProjectModel } from '../project/model';
import { reasonOf } from '../ui/refusal';
import { dollarsOfMillion } from '../view/price';
import { words } from '../words';

export function StatusLine({ model }: { readonly model: ProjectModel }) {
  const counts = model.counts.value;
  const error = model.countError.value;
  const explanation = model.explanation.value;
  return (
    <footer class="status-line">
      <span role="status">{error === null ? words.project.shown(counts?.matched ?? null, counts?.total ?? null) : words.status.noCount}</span>
      {error !== null && <span title={reasonOf(error)}>{reasonOf(error)}</span>}
      {explanation && (
        <button class="link" type="button" onClick={() => (model.desk.drawer.value = { kind: 'explain' })} title={words.explain.title}>
          {words.status.price(Number(explanation.read_units), dollarsOfMillion(Number(explanation.read_units)))}
        </button>
      )}
    </footer>
  );
}
