/**
 * Deleted items that can be restored. The one of just now is offered at once, and all are listed under a title that
 * opens.
 */
import { useState } from 'preact/hooks';
import { formatDatetime } from '../cells/format';
import type { Deleted, Deletion } from '../project/deleted';
import type { People } from '../project/people';
import { useOutcome } from '../ui/outcome';
import { Toast } from '../ui/toast';
import { words } from '../words';
import { DeletedList, NotDone } from './deleted-list';

/** The texts about one kind of items. */
interface Texts {
  readonly title: string;
  readonly what: string;
  readonly failed: string;
  readonly count: (found: number, more: boolean) => string;
  readonly purgeWhy: (name: string) => string;
}

interface DeletedSectionProps<T extends Deletion> {
  readonly deleted: Deleted<T>;
  readonly people: People;
  readonly texts: Texts;
}

export function DeletedSection<T extends Deletion>({ deleted, people, texts }: DeletedSectionProps<T>) {
  const [open, setOpen] = useState(false);
  return (
    <details
      class="deleted-section"
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
        if (event.currentTarget.open) void people.load();
      }}
    >
      <summary>{texts.title}</summary>
      {open && (
        <>
          <p class="soft">{texts.what}</p>
          <DeletedList
            deleted={deleted}
            nameOf={(user) => people.nameOf(user)}
            failed={texts.failed}
            count={texts.count}
            purgeWhy={texts.purgeWhy}
            mayRestore
            mayPurge
          />
        </>
      )}
    </details>
  );
}

interface JustDeletedProps<T extends Deletion> {
  readonly deleted: Deleted<T>;
  readonly textOf: (name: string, until: string) => string;
}

/** The item that was deleted just now. */
export function JustDeleted<T extends Deletion>({ deleted, textOf }: JustDeletedProps<T>) {
  const latest = deleted.latest.value;
  const { outcome, report, status } = useOutcome();
  const restore = async (one: T) => {
    report('');
    if (await deleted.restore(one)) report(words.deleted.restored(one.name));
  };
  return (
    <>
      {latest && (
        <Toast
          text={textOf(latest.name, formatDatetime(latest.expires))}
          action={words.deleted.restore}
          called={words.deleted.restoreOf(latest.name)}
          busy={deleted.busy.value}
          onAction={() => void restore(latest)}
          onClose={() => deleted.dismiss()}
        >
          <NotDone deleted={deleted} />
        </Toast>
      )}
      <p class="toast-outcome" role="status" tabIndex={-1} ref={status}>
        {latest ? '' : outcome}
      </p>
    </>
  );
}
