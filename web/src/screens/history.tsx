/**
 * The history of an issue, newest first: who changed which field, when, and both values. It is read when it is opened.
 */
import { useSignalEffect } from '@preact/signals';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ChangeEvent, CommentEvent } from '../api/types';
import { formatDatetime, formatValue } from '../cells/format';
import { memberOf, type CellValue } from '../fields/values';
import { CatchingUp } from '../project/catching-up';
import type { ProjectModel } from '../project/model';
import { Paged } from '../project/paged';
import { Dialog } from '../ui/dialog';
import { Refusal } from '../ui/refusal';
import { words } from '../words';

export function HistoryOfIssue({ model, num }: { readonly model: ProjectModel; readonly num: number }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="history" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <h3>{words.history.title}</h3>
      </summary>
      {open && <Changes model={model} num={num} />}
    </details>
  );
}

/** Milliseconds before each read of a history that lacks a reported change: copies of the table differ for moments. */
const AGAIN = [0, 500, 2_000, 8_000] as const;

function Changes({ model, num }: { readonly model: ProjectModel; readonly num: number }) {
  const changes = useMemo(
    () =>
      new Paged(async (cursor: string | null, signal: AbortSignal) => {
        const { body } = await model.api.call('GET', '/v1/projects/{project}/issues/{num}/history', {
          path: { project: model.project.id, num },
          query: cursor === null ? {} : { cursor },
          signal,
        });
        return body;
      }),
    [model, num],
  );
  useEffect(() => {
    void model.people.load();
    return () => changes.close();
  }, [changes]);
  const catchingUp = useMemo(() => {
    const has = (version: number) => !!changes.list.peek()?.some((change) => change.kind !== 'comment' && change.version >= version);
    return new CatchingUp(() => changes.load(), has, AGAIN);
  }, [changes]);
  useEffect(() => () => catchingUp.close(), [catchingUp]);
  useSignalEffect(() => catchingUp.report(model.live.reported.value.versionOf(num)));
  // The panel may have a version that nothing has reported: a read that counts a change before the feed delivers it.
  useSignalEffect(() => {
    const row = model.issue.row.value;
    catchingUp.expect(row?.num === num ? row.version : 0);
  });
  const [outcome, setOutcome] = useState('');
  const [refusal, setRefusal] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  // A change of several issues, until the user says in which of them it is to be undone.
  const [asked, setAsked] = useState<{ readonly change: ChangeEvent; readonly issues: number | null } | null>(null);
  const busily = async (act: () => Promise<void>) => {
    setBusy(true);
    setRefusal(null);
    try {
      await act();
    } catch (problem) {
      setRefusal(problem);
    } finally {
      setBusy(false);
    }
  };
  const revert = async (change: ChangeEvent, only: number | null) => {
    setOutcome(await model.changes.revert(change, only));
    await changes.load();
  };
  const ask = (change: ChangeEvent) =>
    busily(async () => {
      const issues = await model.changes.touched(change);
      if (issues === 1) await revert(change, null);
      else setAsked({ change, issues });
    });
  const answer = (only: number | null) => {
    if (asked) void busily(() => revert(asked.change, only));
    setAsked(null);
  };
  const list = changes.list.value;
  const error = changes.error.value;
  return (
    <>
      {refusal !== null && <Refusal error={refusal} title={words.history.undoFailed} />}
      <p class="soft" role="status">
        {outcome}
      </p>
      {error !== null && <Refusal error={error} title={words.history.failed} onRetry={() => void changes.load()} />}
      {list === null && error === null && <p aria-busy="true">{words.loading}</p>}
      {list?.length === 0 && <p class="soft">{words.history.none}</p>}
      <ol>
        {list?.map((change) => (
          <li key={change.id}>
            <strong>{change.by === null ? words.history.unknownUser : model.people.nameOf(change.by)}</strong> {words.history.kinds[change.kind]}{' '}
            <time dateTime={change.at}>{formatDatetime(change.at)}</time>
            {change.kind !== 'comment' && model.changes.mayRevert(change) && (
              <button
                class="button"
                type="button"
                disabled={busy}
                aria-label={words.history.undoOf(formatDatetime(change.at))}
                onClick={() => void ask(change)}
              >
                {words.history.undo}
              </button>
            )}
            <Edits model={model} change={change} />
          </li>
        ))}
      </ol>
      {asked && (
        <Dialog title={words.history.undoMany(asked.issues)} onClose={() => setAsked(null)}>
          <p>{words.history.undoManyWhy(asked.issues)}</p>
          <div class="dialog-buttons">
            <button type="button" class="button" onClick={() => setAsked(null)}>
              {words.actions.cancel}
            </button>
            <button type="button" class="button" onClick={() => answer(null)}>
              {words.history.undoAll(asked.issues)}
            </button>
            <button type="button" class="button primary" onClick={() => answer(num)}>
              {words.history.undoOne}
            </button>
          </div>
        </Dialog>
      )}
      {changes.more.value && (
        <button class="button" type="button" onClick={() => void changes.next()}>
          {words.history.more}
        </button>
      )}
    </>
  );
}

function Edits({ model, change }: { readonly model: ProjectModel; readonly change: ChangeEvent | CommentEvent }) {
  // The values of a deleted issue are no edits.
  if (change.kind === 'comment' || change.kind === 'delete') return null;
  const edits = model.fields.flatMap((field) => {
    const edit = memberOf(change.fields, field.id);
    return edit ? [{ field, edit }] : [];
  });
  return (
    <dl>
      {edits.map(({ field, edit }) => {
        const text = (value: CellValue) => (value === null ? words.cell.empty : formatValue(field, value));
        return (
          <div key={field.id}>
            <dt>{field.name}</dt>
            <dd>
              {change.kind === 'update' && (
                <>
                  <del>{text(edit.old)}</del> <span aria-hidden="true">→</span>{' '}
                </>
              )}
              <ins>{text(edit.new)}</ins>
            </dd>
          </div>
        );
      })}
    </dl>
  );
}
