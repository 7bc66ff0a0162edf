/** Buttons that do by a press what dragging in a list does. */
import { words } from '../words';
import { neighbour, type Move } from './sorting';
import { StepButton } from './step-button';

/** The labels for lists of what the page shows side by side. */
export const SIDEWAYS = { up: words.toolbar.moveUp, down: words.toolbar.moveDown };

interface MovesProps {
  readonly labels: { readonly up: (name: string) => string; readonly down: (name: string) => string };
  readonly name: string;
  readonly keys: readonly string[];
  readonly item: string;
  readonly onMove: Move;
}

/** Two buttons that move an item of a list by one place. */
export function Moves({ labels, name, keys, item, onMove }: MovesProps) {
  const buttons = [
    { way: 'up', label: labels.up(name), before: neighbour(keys, item, -1) },
    { way: 'down', label: labels.down(name), before: neighbour(keys, item, 1) },
  ] as const;
  return (
    <>
      {buttons.map(({ way, label, before }) => (
        <StepButton key={way} way={way} label={label} isAtEnd={before === undefined} act={() => onMove(item, before ?? null)} />
      ))}
    </>
  );
}
