/**
 * Unsaved input. A form marks itself with `data-unsaved` as long as closing it would lose something. Windows, panels
 * and the page ask before they close around one.
 */
import { useEffect } from 'preact/hooks';
import { words } from '../words';

/** The attribute of a form. */
export function unsaved(isUnsaved: boolean): { readonly 'data-unsaved'?: '' } {
  return isUnsaved ? { 'data-unsaved': '' } : {};
}

export function holdsUnsaved(part: ParentNode): boolean {
  return part.querySelector('[data-unsaved]') !== null;
}

/** Whether a part of the page may be closed: asks the user if something in it is not saved. */
export function mayClose(part: ParentNode): boolean {
  return !holdsUnsaved(part) || mayDiscard();
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
