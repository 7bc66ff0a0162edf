/** The preview of a bulk change, and the button that begins the change once its outcome is known. */
import { useEffect, useMemo } from 'preact/hooks';
import { ApiError } from '../../api/problem';
import type { PreviewedValue } from '../../api/types';
import type { ChangedTexts, TextPart } from '../../cells/changed-parts';
import { formatValue } from '../../cells/format';
import type { BulkEdit } from '../../project/jobs';
import type { ProjectModel } from '../../project/model';
import { Preview, type Outlook, type Previewed } from '../../project/preview';
import type { Target } from '../../rows/targets';
import { Refusal } from '../../ui/refusal';
import { words } from '../../words';
import { RefusedIssues } from '../refused-issues';

interface PreviewedChangeProps {
  readonly model: ProjectModel;
  readonly targets: readonly Target[];
  /** Null while the form is not complete. */
  readonly change: BulkEdit | null;
  /** The parts of two texts that the change has changed; by default all of both. */
  readonly partsOf?: (before: string, after: string) => ChangedTexts;
  /** The name of the change of so many issues. */
  readonly label: (issues: number | null) => string;
  readonly onTake: (change: BulkEdit) => void;
}

export function PreviewedChange({ model, targets, change, partsOf = whole, label, onTake }: PreviewedChangeProps) {
  const preview = useMemo(() => new Preview(model), [model]);
  const request: Previewed | null = change && targets.length ? { targets, ...change } : null;
  const isShown = preview.isOf(request);
  const outlook = isShown ? preview.outlook.value : null;
  useEffect(() => {
    if (!isShown) preview.end();
  }, [isShown]);
  useEffect(
    () => () => {
      preview.end();
      model.jobs.refusal.value = null;
    },
    [preview],
  );
  const refusal = model.jobs.refusal.value;
  const busy = model.jobs.busy.value;
  const isKnown = outlook?.state === 'done';
  return (
    <>
      {refusal !== null && <Refusal error={refusal} title={words.jobs.refused} />}
      <div role="status">{outlook && <State outlook={outlook} />}</div>
      {outlook && <Examples model={model} outlook={outlook} partsOf={partsOf} />}
      {isKnown &&
        outlook.jobs.filter(({ refused }) => refused > 0).map(({ id, refused }) => (
          <div key={id} class="jobs">
            <RefusedIssues model={model} job={id} summary={words.bulk.refused(refused)} />
          </div>
        ))}
      <div class="row-end">
        <button class="button" type="button" disabled={!request || busy || outlook?.state === 'open'} onClick={() => request && void preview.begin(request)}>
          {words.bulk.preview}
        </button>
        <button class="button primary" type="button" disabled={!isKnown || !outlook.changed || busy} onClick={() => change && onTake(change)}>
          {label(isKnown ? outlook.changed : null)}
        </button>
      </div>
    </>
  );
}

function State({ outlook }: { readonly outlook: Outlook }) {
  const { state, done, total, changed, refused, jobs } = outlook;
  const problem = jobs.find((job) => job.problem)?.problem;
  if (state === 'failed') return problem ? <Refusal error={new ApiError(problem)} /> : <p>{words.bulk.cancelled}</p>;
  if (state === 'open') {
    return (
      <>
        <p>{words.bulk.previewing(done, total)}</p>
        <progress aria-label={words.bulk.preview} max={Math.max(1, total ?? 1)} {...(total !== null && { value: done })} />
      </>
    );
  }
  return (
    <p>
      <strong>{words.bulk.outcome(changed)}</strong> {refused > 0 && words.bulk.refused(refused)}
    </p>
  );
}

interface ExamplesProps {
  readonly model: ProjectModel;
  readonly outlook: Outlook;
  readonly partsOf: (before: string, after: string) => ChangedTexts;
}

function Examples({ model, outlook: { examples }, partsOf }: ExamplesProps) {
  if (!examples.length) return null;
  const textsOf = ({ field: id, old, new: next }: PreviewedValue) => {
    const field = model.field(id) ?? { type: 'text' as const };
    return partsOf(formatValue(field, old), formatValue(field, next));
  };
  return (
    <section class="examples">
      <h3>{words.bulk.examples}</h3>
      <ol>
        {examples.map((example) => {
          const { before, after } = textsOf(example);
          return (
            <li key={`${example.num} ${example.field}`}>
              <p class="soft">{words.refused.cell(example.num, model.field(example.field)?.name ?? example.field)}</p>
              <p>
                <Parts as="del" parts={before} /> <span aria-hidden="true">→</span>
                <span class="visually-hidden">{words.bulk.becomes}</span> <Parts as="ins" parts={after} />
              </p>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

function Parts({ as: Changed, parts }: { readonly as: 'del' | 'ins'; readonly parts: readonly TextPart[] }) {
  if (parts.every(({ text }) => !text)) return <span class="soft">{words.cell.empty}</span>;
  return (
    <span class="example-text">
      {parts.map(({ text, changed }, at) => (changed ? <Changed key={at}>{text}</Changed> : text))}
    </span>
  );
}

function whole(before: string, after: string): ChangedTexts {
  return { before: [{ text: before, changed: true }], after: [{ text: after, changed: true }] };
}
