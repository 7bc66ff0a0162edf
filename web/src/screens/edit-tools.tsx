/** The tools of the toolbar that write: undo, redo, delete, new row. Beside them, the help. */
import type { Actions } from '../project/actions';
import type { ProjectModel } from '../project/model';
import { useCollapsed } from '../ui/collapse';
import { Icon } from '../ui/icon';
import type { Icon as IconName } from '../ui/icons';
import { words } from '../words';

interface EditToolsProps {
  readonly model: ProjectModel;
  readonly actions: Actions;
  readonly onAdd: () => void;
  readonly onHelp: () => void;
}

export function EditTools({ model, actions, onAdd, onHelp }: EditToolsProps) {
  const { done, undone } = model.editor.history.value;
  return (
    <>
      {model.canEdit && (
        <>
          <Tool stays icon="undo" label={words.tools.undo} disabled={!done.length} act={() => void actions.undo()} />
          <Tool stays icon="redo" label={words.tools.redo} disabled={!undone.length} act={() => void actions.redo()} />
          <Tool icon="trash" label={words.tools.delete} disabled={!model.selection.value} act={() => void actions.remove()} />
        </>
      )}
      <Tool icon="keys" label={words.tools.help} act={onHelp} />
      {model.canEdit && (
        <button type="button" class="button primary" onClick={onAdd}>
          <Icon name="plus" /> {words.tools.add}
        </button>
      )}
    </>
  );
}

interface ToolProps {
  readonly icon: IconName;
  readonly label: string;
  readonly disabled?: boolean;
  /** It is shown however narrow the toolbar is. */
  readonly stays?: boolean;
  readonly act: () => void;
}

function Tool({ icon, label, disabled = false, stays = false, act }: ToolProps) {
  const collapsed = useCollapsed({ icon, label, disabled, act }, { stays });
  return (
    <button type="button" class="icon-button" hidden={collapsed !== null} aria-label={label} title={label} disabled={disabled} onClick={act}>
      <Icon name={icon} />
    </button>
  );
}
