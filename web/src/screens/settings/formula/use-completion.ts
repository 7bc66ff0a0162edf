/** The list of fields and functions that fit the text before the caret. Arrow keys go through it; Enter and Tab choose. */
import type { RefObject } from 'preact';
import { useState } from 'preact/hooks';
import { isComposing } from '../../../composing';
import type { Field } from '../../../fields/fields';
import { beginningAt, completed, nothingAt, offersFor, type Beginning, type Offer } from './completion';

interface Open {
  readonly beginning: Beginning;
  readonly offers: readonly Offer[];
  /** The place of the entry that Enter chooses. */
  readonly active: number;
}

export interface Completion {
  /** Null while the list is closed. */
  readonly open: Open | null;
  /** The text or the caret has changed. */
  readonly typed: () => void;
  readonly pressed: (event: KeyboardEvent) => void;
  readonly point: (place: number) => void;
  readonly choose: (offer: Offer) => void;
  readonly close: () => void;
}

export function useCompletion(area: RefObject<HTMLTextAreaElement | null>, fields: readonly Field[], onChange: (text: string) => void): Completion {
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  const show = (beginning: Beginning | null) => {
    const offers = beginning ? offersFor(beginning, fields) : [];
    const isDone = offers.length === 1 && offers[0]?.name === beginning?.text;
    setOpen(beginning && offers.length && !isDone ? { beginning, offers, active: 0 } : null);
  };
  const beginning = (element: HTMLTextAreaElement) => beginningAt(element.value, element.selectionStart);
  const choose = (offer: Offer) => {
    const element = area.current;
    if (!element || !open) return;
    const next = completed(element.value, open.beginning, offer);
    close();
    // The caret is set in the new text, which the page draws later.
    element.value = next.text;
    element.focus();
    element.setSelectionRange(next.caret, next.caret);
    onChange(next.text);
  };
  const pressed = (event: KeyboardEvent) => {
    const element = area.current;
    if (!element || isComposing(event)) return;
    if (event.key === ' ' && event.ctrlKey) show(beginning(element) ?? nothingAt(element.selectionStart));
    else if (!open) return;
    else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const { length } = open.offers;
      setOpen({ ...open, active: (open.active + (event.key === 'ArrowDown' ? 1 : length - 1)) % length });
    } else if ((event.key === 'Enter' || event.key === 'Tab') && !event.shiftKey) {
      const offer = open.offers[open.active];
      if (offer) choose(offer);
    } else if (event.key === 'Escape') {
      // The window stays open.
      event.stopPropagation();
      close();
    } else {
      if (event.key === 'ArrowLeft' || event.key === 'ArrowRight' || event.key === 'Home' || event.key === 'End') close();
      return;
    }
    event.preventDefault();
  };
  return {
    open,
    typed: () => area.current && show(beginning(area.current)),
    pressed,
    point: (active) => setOpen((now) => now && { ...now, active }),
    choose,
    close,
  };
}
