/**
 * A menu with actions and choices, beside the element that opened it, or where that was pressed. A click elsewhere or
 * Escape closes it.
 */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useFocusBack } from './focus';
import { Icon } from './icon';
import type { Icon as IconName } from './icons';
import { DRAG_BEGINS } from './press';
import { keepBeside, type Point } from '../place';
import { keysAsLabeled, keysForAria } from '../shortcuts';

export interface MenuEntry {
  readonly text: string;
  readonly icon?: IconName;
  /** Set if the entry is a choice. */
  readonly chosen?: boolean;
  readonly disabled?: boolean;
  /** The keys that do the same, such as `Ctrl+C`. */
  readonly keys?: string;
  readonly act: () => void;
}

export interface MenuProps {
  readonly anchor: HTMLElement;
  /** The pressed point, from the upper left corner of the anchor: the menu of a context. */
  readonly at?: Point | null;
  readonly label: string;
  /** In groups, with a line between them. */
  readonly groups: readonly (readonly MenuEntry[])[];
  /** Further entries at the end, under their own label. `choose` closes the menu and acts. */
  readonly end?: { readonly label: string; readonly content: (choose: (act: () => void) => void) => ComponentChildren };
  /** A line below all entries. */
  readonly note?: string;
  readonly onClose: () => void;
}

export function Menu({ anchor, at = null, label, groups, end, note, onClose }: MenuProps) {
  const panel = useRef<HTMLDivElement>(null);
  const giveBack = useFocusBack(panel, anchor);
  const choose = (act: () => void) => {
    // An element that the entry opens returns the focus later.
    giveBack();
    onClose();
    act();
  };
  const closing = useRef(onClose);
  closing.current = onClose;
  useLayoutEffect(() => {
    const element = panel.current;
    if (!element) return;
    const onToggle = (event: ToggleEvent) => {
      if (event.newState === 'closed') closing.current();
    };
    const stop = new AbortController();
    element.addEventListener('toggle', onToggle, { signal: stop.signal });
    if (at) closeElsewhere(element, () => closing.current(), stop.signal);
    element.showPopover();
    const release = keepBeside(element, anchor, { at });
    element.querySelector<HTMLElement>('button:enabled')?.focus();
    return () => {
      release();
      stop.abort();
    };
  }, [anchor]);
  return (
    <div
      ref={panel}
      class="menu"
      popover={at ? 'manual' : 'auto'}
      role="menu"
      aria-label={label}
      onKeyDown={(event) => walk(event, onClose)}
      onContextMenu={(event) => event.preventDefault()}
    >
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
                aria-keyshortcuts={entry.keys && keysForAria(entry.keys)}
                disabled={entry.disabled}
                onClick={() => choose(entry.act)}
              >
                <span class="menu-mark">{entry.chosen ? <Icon name="check" /> : entry.icon && <Icon name={entry.icon} />}</span>
                <span class="menu-text">{entry.text}</span>
                {entry.keys && (
                  <kbd class="menu-keys" aria-hidden="true">
                    {keysAsLabeled(entry.keys)}
                  </kbd>
                )}
              </button>
            ))}
          </div>
        ))}
      {end && (
        <div class="menu-group" role="group" aria-label={end.label}>
          {end.content(choose)}
        </div>
      )}
      {note !== undefined && (
        <div class="menu-note" role="none">
          {note}
        </div>
      )}
    </div>
  );
}

/**
 * Close a menu when something else is pressed, or by Escape. The browser would do so itself, and also when the button or
 * the finger is lifted that has opened the menu.
 */
function closeElsewhere(menu: HTMLElement, close: () => void, signal: AbortSignal): void {
  const options = { capture: true, signal };
  document.addEventListener('pointerdown', ({ target }) => !(target instanceof Node && menu.contains(target)) && close(), options);
  window.addEventListener('blur', close, { signal });
  // A finger that has rested on a handle opened the menu, and now drags.
  window.addEventListener(DRAG_BEGINS, close, { signal });
  document.addEventListener(
    'keydown',
    (event) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      event.stopPropagation();
      close();
    },
    options,
  );
}

/** Arrow keys, Home and End go through the entries; Tab leaves the menu. */
function walk(event: KeyboardEvent, close: () => void): void {
  const menu = event.currentTarget as HTMLElement;
  const entries = [...menu.querySelectorAll<HTMLElement>('button:enabled')];
  const at = entries.findIndex((entry) => entry === document.activeElement);
  const { length } = entries;
  const places: Readonly<Record<string, number>> = { ArrowDown: (at + 1) % length, ArrowUp: (at + length - 1) % length, Home: 0, End: length - 1 };
  const place = places[event.key];
  if (place !== undefined) entries[place]?.focus();
  else if (event.key === 'Tab') close();
  else return;
  event.preventDefault();
}
