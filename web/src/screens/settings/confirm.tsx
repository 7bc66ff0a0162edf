/** A button for what cannot be undone: it says what it means, and asks for a second press. */
import { useState } from 'preact/hooks';
import { words } from '../../words';

interface ConfirmProps {
  readonly label: string;
  readonly question: string;
  readonly onConfirm: () => void;
}

export function Confirm({ label, question, onConfirm }: ConfirmProps) {
  const [asked, setAsked] = useState(false);
  if (!asked) {
    return (
      <button class="button danger" type="button" onClick={() => setAsked(true)}>
        {label}
      </button>
    );
  }
  return (
    <div class="confirm" role="alert">
      <p>{question}</p>
      <div class="row">
        <button class="button" type="button" onClick={() => setAsked(false)}>
          {words.settings.keep}
        </button>
        <button class="button danger" type="button" onClick={onConfirm}>
          {label}
        </button>
      </div>
    </div>
  );
}
