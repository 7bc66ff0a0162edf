/** A menu beside what opened it: entries that do something, and entries of which some are chosen. A click elsewhere or Escape closes it. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from './icon';
import type { Icon as IconName } from './icons';

export interface MenuEntry {
  readonly text: string;
  readonly icon?: IconName;
  /** Given where the entry is a choice. */
  readonly chosen?: boolean;
  readonly disabled?: boolean;
  readonly act: () => void;
}

interface MenuProps {
  readonly anchor: HTMLElement;
  readonly label: string;
  /** In groups, with a line between them. */
  readonly groups: readonly (readonly MenuEntry[])[];
  readonly onClose: () => void;
}

export function Menu({ anchor, label, groups, onClose }: MenuProps) {
  const act = (entry: MenuEntry) => {
    onClose();
    entry.act();
  };
  const panel = useRef<HTMLDivElement>(null);
  const closing = useRef(onClose);
  closing.current = onClose;
  useLayoutEffect(() => {
    const element = panel.current;
    if (!element) return;
    const onToggle = (event: ToggleEvent) => {
      if (event.newState === 'closed') closing.current();
    };
    element.addEventListener('toggle', onToggle);
    element.showPopover();
    place(element, anchor);
    element.querySelector('button')?.focus();
    return () => {
      element.removeEventListener('toggle', onToggle);
      if (element.contains(document.activeElement)) anchor.focus();
    };
  }, [anchor]);
  return (
    <div ref={panel} class="menu" popover="auto" role="menu" aria-label={label} onKeyDown={walk}>
      {groups
        .filter((entries) => entries.length)
        .map((entries, place) => (
          <div key={place} class="menu-group" role="group">
            {entries.map((entry) => (
              <button
                key={entry.text}
                type="button"
                class="menu-entry"
                role={entry.chosen === undefined ? 'menuitem' : 'menuitemcheckbox'}
                aria-checked={entry.chosen}
                disabled={entry.disabled}
                onClick={() => act(entry)}
              >
                <span class="menu-mark">{entry.chosen ? <Icon name="check" /> : entry.icon && <Icon name={entry.icon} />}</span>
                {entry.text}
              </button>
            ))}
          </div>
        ))}
    </div>
  );
}

const GAP = 4;

/** Below the anchor, or above it where there is more room, and always on the screen. */
function place(element: HTMLElement, anchor: HTMLElement): void {
  const box = anchor.getBoundingClientRect();
  const below = window.innerHeight - box.bottom;
  const { style } = element;
  style.left = `${Math.max(GAP, Math.min(box.left, window.innerWidth - element.offsetWidth - GAP))}px`;
  style.maxHeight = `${Math.max(below, box.top) - 2 * GAP}px`;
  if (below >= element.offsetHeight + GAP || below >= box.top) style.top = `${box.bottom + GAP}px`;
  else style.bottom = `${window.innerHeight - box.top + GAP}px`;
}

/** Arrow keys go through the entries. */
function walk(event: KeyboardEvent): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  const menu = event.currentTarget as HTMLElement;
  const entries = [...menu.querySelectorAll<HTMLElement>('button:not(:disabled)')];
  const at = entries.findIndex((entry) => entry === document.activeElement);
  entries[(at + (event.key === 'ArrowDown' ? 1 : entries.length - 1)) % entries.length]?.focus();
  event.preventDefault();
}
