/** The trash: deleted issues, which editors restore and administrators remove permanently. */
import { useSignalEffect } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { permits } from '../auth/session';
import { CatchingUp } from '../project/catching-up';
import type { ProjectModel } from '../project/model';
import { trashOf } from '../project/trash';
import { Dialog } from '../ui/dialog';
import { words } from '../words';
import { DeletedList } from './deleted-list';

/**
 * Milliseconds before each reading of the trash after an issue was deleted or restored: copies of the table differ for
 * moments.
 */
const AGAIN = [0, 1_000] as const;

export function TrashWindow({ model }: { readonly model: ProjectModel }) {
  const trash = useMemo(() => trashOf(model.api, model.project.id, () => model.settle()), [model]);
  useEffect(() => void model.people.load(), [model]);
  // If the user has read further pages the list stays: new entries are at its start.
  const catchingUp = useMemo(
    () => new CatchingUp(async () => (trash.items.isAtStart ? trash.items.load() : undefined), () => false, AGAIN),
    [trash],
  );
  useEffect(() => () => catchingUp.close(), [catchingUp]);
  useSignalEffect(() => catchingUp.report(model.live.reported.value.trash ? 0 : null));
  return (
    <Dialog title={words.trash.title} wide onClose={() => (model.panels.window.value = null)}>
      <p class="soft">{words.trash.what}</p>
      <DeletedList
        deleted={trash}
        titleOf={({ num, name }) => words.issue.title(num, name)}
        nameOf={(user) => model.people.nameOf(user)}
        failed={words.trash.failed}
        count={words.trash.count}
        purgeWhy={words.trash.purgeWhy}
        mayRestore={model.canEdit}
        mayPurge={permits(model.role, 'admin')}
      />
    </Dialog>
  );
}
