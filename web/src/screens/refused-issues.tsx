/** The issues that a job could not change, one by one. They are read when the list is opened. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { RefusedIssue } from '../api/types';
import type { ProjectModel } from '../project/model';
import { Refusal } from '../ui/refusal';
import { words } from '../words';

interface RefusedIssuesProps {
  readonly model: ProjectModel;
  /** The id of the job. */
  readonly job: string;
  /** How many there are, in words. */
  readonly summary: string;
  /** Show an issue; without it, the list only names them. */
  readonly onShow?: (num: number) => void;
}

export function RefusedIssues({ summary, ...list }: RefusedIssuesProps) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {open && <RefusedList {...list} />}
    </details>
  );
}

function RefusedList({ model, job, onShow }: Omit<RefusedIssuesProps, 'summary'>) {
  const refused = useMemo(() => model.jobs.refusedBy(job), [model, job]);
  useEffect(() => {
    void refused.load();
    return () => refused.close();
  }, [refused]);
  const list = refused.list.value;
  const error = refused.error.value;
  return (
    <>
      {error !== null && <Refusal error={error} onRetry={() => void refused.load()} />}
      {list === null && error === null && <p aria-busy="true">{words.loading}</p>}
      <ul>
        {list?.map(({ num, problem }) => (
          <li key={num}>
            {onShow ? (
              <button class="link-inline" type="button" aria-label={words.jobs.openIssue(num)} onClick={() => onShow(num)}>
                {words.count(num)}
              </button>
            ) : (
              words.bulk.issue(num)
            )}{' '}
            {reasonIn(problem, model)}
          </li>
        ))}
      </ul>
      {refused.more.value && (
        <button class="button" type="button" onClick={() => void refused.next()}>
          {words.jobs.moreRefused}
        </button>
      )}
    </>
  );
}

/** Why the values of an issue were refused, field by field if the API says so. */
function reasonIn({ detail, errors = [] }: RefusedIssue['problem'], model: ProjectModel): string {
  const nameOf = (id: string) => model.field(id.replace(/^fields\./, ''))?.name ?? id;
  return errors.length ? errors.map(({ field, message }) => words.bulk.because(nameOf(field), message)).join(' ') : detail;
}
