/**
 * A button for an action that cannot be undone, or not for long: it explains the action, and asks for a second press.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { words } from '../../words';

interface ConfirmProps {
  readonly label: string;
  /** An accessible name that distinguishes the button from others with the same label. */
  readonly called?: string;
  readonly question: string;
  /** Whether the button was pressed elsewhere. */
  readonly isAsked?: boolean;
  readonly onConfirm: () => void;
}

export function Confirm({ label, called = label, question, isAsked = false, onConfirm }: ConfirmProps) {
  const [asked, setAsked] = useState<boolean | null>(isAsked || null);
  const first = useRef<HTMLButtonElement>(null);
  // The question replaces the pressed button, which returns afterwards.
  useEffect(() => {
    if (asked !== null) first.current?.focus();
  }, [asked]);
  if (!asked) {
    return (
      <button class="button" type="button" aria-label={called} ref={first} onClick={() => setAsked(true)}>
        {label}
      </button>
    );
  }
  return (
    <div class="confirm" role="alert">
      <p>{question}</p>
      <div class="row">
        <button class="button" type="button" ref={first} onClick={() => setAsked(false)}>
          {words.settings.keep}
        </button>
        <button class="button primary danger" type="button" aria-label={called} onClick={onConfirm}>
          {label}
        </button>
      </div>
    </div>
  );
}
