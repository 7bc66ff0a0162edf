/**
 * A list of deleted items: who deleted each and when, and until when it can be restored.
 *
 * Users with the right also see how to restore an item or remove it permanently.
 */
import { useEffect } from 'preact/hooks';
import { ApiError } from '../api/problem';
import { formatDatetime } from '../cells/format';
import type { Deleted, Deletion } from '../project/deleted';
import { Refusal } from '../ui/refusal';
import { useOutcome } from '../ui/outcome';
import { words } from '../words';
import { Confirm } from './settings/confirm';

interface DeletedListProps<T extends Deletion> {
  readonly deleted: Deleted<T>;
  /** The title of an item in the list, if its name is not enough. */
  readonly titleOf?: (one: T) => string;
  /** The name of a user. */
  readonly nameOf: (user: string) => string;
  readonly failed: string;
  readonly count: (found: number, more: boolean) => string;
  readonly purgeWhy: (name: string) => string;
  readonly mayRestore: boolean;
  readonly mayPurge: boolean;
}

export function DeletedList<T extends Deletion>(props: DeletedListProps<T>) {
  const { deleted, titleOf = nameIn, nameOf, failed, count, purgeWhy, mayRestore, mayPurge } = props;
  const { items } = deleted;
  useEffect(() => {
    void items.load();
    return () => items.close();
  }, [items]);
  const { outcome, report, status } = useOutcome();
  const restore = async (one: T) => {
    report('');
    if (await deleted.restore(one)) report(words.deleted.restored(one.name));
  };
  const purge = async (one: T) => {
    report('');
    if (await deleted.purge(one)) report(words.deleted.purged(one.name));
  };
  const list = items.list.value;
  const error = items.error.value;
  const busy = deleted.busy.value;
  return (
    <>
      {error !== null && <Refusal error={error} title={failed} onRetry={() => void items.load()} />}
      {deleted.latest.value === null && <NotDone deleted={deleted} />}
      {list === null && error === null && <p aria-busy="true">{words.loading}</p>}
      <p role="status" tabIndex={-1} ref={status}>
        {outcome} {list && count(list.length, items.more.value)}
      </p>
      <ul class="trash">
        {list?.map((one) => (
          <li key={deleted.keyOf(one)}>
            <strong>{titleOf(one)}</strong>
            <span class="soft">
              {words.deleted.by(nameOf(one.deleted_by), formatDatetime(one.deleted))} · {words.deleted.until(formatDatetime(one.expires))}
            </span>
            {mayRestore && (
              <button class="button" type="button" disabled={busy} aria-label={words.deleted.restoreOf(one.name)} onClick={() => void restore(one)}>
                {words.deleted.restore}
              </button>
            )}
            {mayPurge && (
              <Confirm
                label={words.deleted.purge}
                called={words.deleted.purgeOf(one.name)}
                question={purgeWhy(one.name)}
                onConfirm={() => void purge(one)}
              />
            )}
          </li>
        ))}
      </ul>
      {items.more.value && (
        <button class="button" type="button" onClick={() => void items.next()}>
          {words.deleted.more}
        </button>
      )}
    </>
  );
}

function nameIn({ name }: Deletion): string {
  return name;
}

/** The reason why an item was not restored, or not removed permanently. */
export function NotDone<T extends Deletion>({ deleted }: { readonly deleted: Deleted<T> }) {
  const refusal = deleted.refusal.value;
  if (refusal === null) return null;
  const status = refusal instanceof ApiError ? refusal.status : null;
  if (status === 404) return <Refusal error={refusal} title={words.deleted.gone} reason={words.deleted.goneWhy} />;
  if (status === 409) return <Refusal error={refusal} title={words.deleted.clash} />;
  if (status === 422) return <Refusal error={refusal} title={words.deleted.noRoom} />;
  return <Refusal error={refusal} />;
}
