/** A question that the user answers with yes or no, in front of the page. */
import { words } from '../words';
import { Dialog } from './dialog';

interface QuestionProps {
  readonly title: string;
  readonly detail: string;
  /** The label of the button for yes. */
  readonly confirm: string;
  /** Whether yes destroys something. */
  readonly danger?: boolean;
  readonly onAnswer: (yes: boolean) => void;
}

export function Question({ title, detail, confirm, danger = false, onAnswer }: QuestionProps) {
  return (
    <Dialog title={title} onClose={() => onAnswer(false)}>
      <p>{detail}</p>
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={() => onAnswer(false)}>
          {words.actions.cancel}
        </button>
        <button type="button" class={`button primary${danger ? ' danger' : ''}`} onClick={() => onAnswer(true)}>
          {confirm}
        </button>
      </div>
    </Dialog>
  );
}
