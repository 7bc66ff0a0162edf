/** Where the focus goes when something opens, and where it goes back to when that closes. */
import type { RefObject } from 'preact';
import { useCallback, useLayoutEffect, useRef } from 'preact/hooks';

const FIELDS = 'input, select, textarea';
const CONTROLS = `${FIELDS}, button, a[href], summary`;

/** Focus what a form or a question begins with: what it names itself, its first field, or its default action. Answers whether there is one. */
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

/** Of a group of radio buttons, the chosen one has the focus. */
function chosenOf(field: HTMLElement): HTMLElement {
  if (!(field instanceof HTMLInputElement) || field.type !== 'radio') return field;
  return field.closest('fieldset')?.querySelector<HTMLElement>('input[type="radio"]:checked') ?? field;
}

/**
 * Give the focus back when a panel goes that has it: to what had it before it came into the panel. `anchor` takes it where nothing had.
 * Returns how to give it back before.
 */
export function useFocusBack(panel: RefObject<HTMLElement | null>, anchor?: HTMLElement): () => void {
  const before = useRef<Element | null>(null);
  const giveBack = useCallback(() => {
    const { activeElement, body } = document;
    if (activeElement !== body && !panel.current?.contains(activeElement)) return;
    const back = before.current === body ? anchor : before.current;
    if (back instanceof HTMLElement && back.isConnected) back.focus();
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
