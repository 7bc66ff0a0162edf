/** The toast that offers to undo the last deletion or bulk change. */
import type { Actions } from '../project/actions';
import type { ProjectModel } from '../project/model';
import { PassingToast } from '../ui/toast';
import { words } from '../words';

interface UndoToastProps {
  readonly model: ProjectModel;
  readonly actions: Actions;
  /** A window is open in front of the page: the toast comes after it. */
  readonly waits: boolean;
  /** The focus was on the toast, and has no element to return to. */
  readonly onLeave: () => void;
}

export function UndoToast({ model, actions, waits, onLeave }: UndoToastProps) {
  const offer = waits ? null : model.undoOffer.current.value;
  return (
    <div class="toast-place" role="status">
      {offer && (
        <PassingToast
          key={offer.key}
          text={offer.text}
          action={words.actions.undo}
          called={words.actions.undoOf(offer.text)}
          busy={false}
          onAction={() => void actions.undo(offer.step)}
          onClose={() => model.undoOffer.dismiss()}
          onLeave={onLeave}
        />
      )}
    </div>
  );
}
