/** The place of the focus when something opens, and when that closes. */
import type { RefObject } from 'preact';
import { useCallback, useLayoutEffect, useRef } from 'preact/hooks';

const FIELDS = 'input, select, textarea';
const CONTROLS = `${FIELDS}, button, a[href], summary`;

/**
 * Focus the beginning of a form or a question: the element that it names, its first field, or its default action.
 * Returns whether there is one.
 */
export function enter(panel: HTMLElement): boolean {
  const first = usable(panel, CONTROLS);
  const entry = usable(panel, '[autofocus]') ?? (first?.matches(FIELDS) ? chosenOf(first) : usable(panel, '.dialog-buttons .primary'));
  entry?.focus();
  return entry !== undefined;
}

/** Focus the first control, whatever it is. */
export function enterFirst(panel: HTMLElement): void {
  const first = usable(panel, CONTROLS);
  if (first) chosenOf(first).focus();
}

function usable(panel: HTMLElement, selector: string): HTMLElement | undefined {
  return [...panel.querySelectorAll<HTMLElement>(selector)].find((one) => one.checkVisibility() && !one.matches(':disabled'));
}

/** The element of a field that takes the focus: for radio buttons, the chosen one. */
function chosenOf(field: HTMLElement): HTMLElement {
  if (!(field instanceof HTMLInputElement) || field.type !== 'radio') return field;
  return field.closest('fieldset')?.querySelector<HTMLElement>('input[type="radio"]:checked') ?? field;
}

/**
 * Return the focus when a panel that has it goes: to the element that had it before, or else to `anchor`. Returns how
 * to do so earlier.
 */
export function useFocusBack(panel: RefObject<HTMLElement | null>, anchor?: HTMLElement): () => void {
  const before = useRef<Element | null>(null);
  const giveBack = useCallback(() => {
    const { activeElement, body } = document;
    if (activeElement !== body && !panel.current?.contains(activeElement)) return;
    const back = before.current === body ? anchor : before.current;
    // The view stays where the user has scrolled it meanwhile.
    if (back instanceof HTMLElement && back.isConnected) back.focus({ preventScroll: true });
  }, [anchor]);
  useLayoutEffect(() => {
    const element = panel.current;
    before.current = document.activeElement;
    const entered = ({ relatedTarget }: FocusEvent) => {
      if (relatedTarget instanceof Element && !element?.contains(relatedTarget)) before.current = relatedTarget;
    };
    element?.addEventListener('focusin', entered);
    return () => {
      element?.removeEventListener('focusin', entered);
      giveBack();
    };
  }, [anchor]);
  return giveBack;
}

interface FocusAfterEdit {
  readonly button: RefObject<HTMLButtonElement | null>;
  readonly ended: (byKey: boolean) => void;
}

/**
 * The ref of a button that an editor replaces, and the function to call when the editing ends. If a key ended it, the
 * button takes the focus.
 */
export function useFocusAfterEdit(editing: boolean): FocusAfterEdit {
  const button = useRef<HTMLButtonElement>(null);
  const goesBack = useRef(false);
  // At once: a later effect of the beginning could run after a quick end, and would forget the key.
  useLayoutEffect(() => {
    if (!editing && goesBack.current) button.current?.focus();
    goesBack.current = false;
  }, [editing]);
  return { button, ended: (byKey) => (goesBack.current = byKey) };
}

/** The button that removes an item of a list, after all others. */
const REMOVES = ':scope > button:last-of-type';

interface ItemFocus {
  /** Focus a control of an item after the next drawing, by the place of the item and a selector. */
  readonly focus: (at: number, control: string) => void;
  /** An item is removed: the next one takes its place, also for the focus. */
  readonly removed: (at: number, count: number) => void;
}

/** Keeps the focus in a list whose items move, come and go. If there is no such item, the button that adds one has it. */
export function useItemFocus(list: RefObject<HTMLElement | null>, add: RefObject<HTMLElement | null>): ItemFocus {
  const wanted = useRef<{ readonly at: number; readonly control: string } | null>(null);
  useLayoutEffect(() => {
    const { current } = wanted;
    wanted.current = null;
    if (current) (list.current?.children[current.at]?.querySelector<HTMLElement>(current.control) ?? add.current)?.focus();
  });
  const focus = (at: number, control: string) => {
    wanted.current = { at, control };
  };
  return { focus, removed: (at, count) => focus(Math.min(at, count - 2), REMOVES) };
}
