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
