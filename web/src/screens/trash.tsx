/** The trash: deleted issues, which editors restore and administrators remove for good. */
import { useEffect, useMemo } from 'preact/hooks';
import { permits } from '../auth/session';
import type { ProjectModel } from '../project/model';
import { trashOf } from '../project/trash';
import { Dialog } from '../ui/dialog';
import { words } from '../words';
import { DeletedList } from './deleted-list';

export function TrashWindow({ model }: { readonly model: ProjectModel }) {
  const trash = useMemo(() => trashOf(model.api, model.project.id, () => model.settle()), [model]);
  useEffect(() => void model.people.load(), [model]);
  return (
    <Dialog title={words.trash.title} wide onClose={() => (model.desk.window.value = null)}>
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
