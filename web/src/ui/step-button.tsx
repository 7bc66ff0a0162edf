/** A button that goes or moves something one step up or down. */
import { Icon } from './icon';

interface StepButtonProps {
  readonly way: 'up' | 'down';
  readonly label: string;
  /** There is no further step. */
  readonly isAtEnd: boolean;
  readonly act: () => void;
}

export function StepButton({ way, label, isAtEnd, act }: StepButtonProps) {
  // The last step leads to an end, and a button that it disables would lose the focus.
  return (
    <button class="icon-button" type="button" aria-disabled={isAtEnd} aria-label={label} title={label} onClick={() => !isAtEnd && act()}>
      <Icon name={way} />
    </button>
  );
}
