/** Buttons that do by a press what dragging in a list does. */
import { words } from '../words';
import { Icon } from './icon';
import { neighbour, type Move } from './sorting';

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
    { icon: 'up', label: labels.up(name), before: neighbour(keys, item, -1) },
    { icon: 'down', label: labels.down(name), before: neighbour(keys, item, 1) },
  ] as const;
  return (
    <>
      {buttons.map(({ icon, label, before }) => (
        <button key={icon} class="icon-button" type="button" disabled={before === undefined} aria-label={label} title={label} onClick={() => onMove(item, before ?? null)}>
          <Icon name={icon} />
        </button>
      ))}
    </>
  );
}
