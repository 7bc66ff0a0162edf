/**
 * Unsaved input. A form marks itself with `data-unsaved` as long as closing it would lose something, and so does work that
 * ends with its window. Windows, panels and the page ask before they close around one.
 */
import { useEffect } from 'preact/hooks';
import { words } from '../words';

/** The attribute of a form. `question`: asked in place of whether to discard the entries. */
export function unsaved(isUnsaved: boolean, question: string = words.unsaved.discard): { readonly 'data-unsaved'?: string } {
  return isUnsaved ? { 'data-unsaved': question } : {};
}

/** The question before a part of the page is closed; null if nothing in it would be lost. */
export function questionIn(part: ParentNode): string | null {
  return part.querySelector('[data-unsaved]')?.getAttribute('data-unsaved') ?? null;
}

/** Whether a part of the page may be closed: asks the user if something in it is not saved. */
export function mayClose(part: ParentNode): boolean {
  const question = questionIn(part);
  return question === null || mayDiscard(question);
}

export function mayDiscard(question: string = words.unsaved.discard): boolean {
  return window.confirm(question);
}

/** Let the browser ask before the page is left, as long as something would be lost. */
export function useLeaving(wouldLose: () => boolean): void {
  useEffect(() => {
    const leaving = (event: BeforeUnloadEvent) => {
      if (wouldLose()) event.preventDefault();
    };
    window.addEventListener('beforeunload', leaving);
    return () => window.removeEventListener('beforeunload', leaving);
  });
}
