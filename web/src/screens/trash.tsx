/** The trash: who deleted what and when, until when it can come back, and for administrators its removal for good. */
import { useEffect, useMemo } from 'preact/hooks';
import { permits } from '../auth/session';
import { formatDatetime } from '../cells/format';
import type { ProjectModel } from '../project/model';
import { Trash } from '../project/trash';
import { Dialog } from '../ui/dialog';
import { Refusal } from '../ui/refusal';
import { words } from '../words';
import { Confirm } from './settings/confirm';

export function TrashWindow({ model }: { readonly model: ProjectModel }) {
  const trash = useMemo(() => new Trash(model.api, model.project.id, () => model.settle()), [model]);
  useEffect(() => {
    void model.people.load();
    void trash.issues.load();
    return () => trash.issues.close();
  }, [trash]);
  const list = trash.issues.list.value;
  const error = trash.issues.error.value;
  const refusal = trash.refusal.value;
  const busy = trash.busy.value;
  return (
    <Dialog title={words.trash.title} wide onClose={() => (model.desk.window.value = null)}>
      <p class="soft">{words.trash.what}</p>
      {error !== null && <Refusal error={error} title={words.trash.failed} onRetry={() => void trash.issues.load()} />}
      {refusal !== null && <Refusal error={refusal} title={words.trash.refused} />}
      {list === null && error === null && <p aria-busy="true">{words.loading}</p>}
      <p role="status">{list && words.trash.count(list.length, trash.issues.more.value)}</p>
      <ul class="trash">
        {list?.map(({ num, name, deleted, deleted_by, expires }) => (
          <li key={num}>
            <strong>{words.issue.title(num, name)}</strong>
            <span class="soft">
              {words.trash.deleted(model.people.nameOf(deleted_by), formatDatetime(deleted))} · {words.trash.until(formatDatetime(expires))}
            </span>
            {model.canEdit && (
              <button class="button" type="button" disabled={busy} aria-label={words.trash.restoreOf(name)} onClick={() => void trash.restore(num)}>
                {words.trash.restore}
              </button>
            )}
            {permits(model.role, 'admin') && (
              <Confirm label={words.trash.purge} question={words.trash.purgeWhy(name)} onConfirm={() => void trash.purge(num)} />
            )}
          </li>
        ))}
      </ul>
      {trash.issues.more.value && (
        <button class="button" type="button" onClick={() => void trash.issues.next()}>
          {words.trash.more}
        </button>
      )}
    </Dialog>
  );
}
