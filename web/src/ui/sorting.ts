/**
 * Sorts the items of a list: by dragging them, and by Alt + arrow up and down. On a touch screen, only the handle of an
 * item (`.grip`) drags it.
 *
 * An item is an `li` with its key in `data-item` and with a `data-kind`: it moves among the items of its kind. One with
 * `data-fixed` stays, but others move around it. A part of an item with `data-still`, such as a form, moves nothing.
 */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { isComposing } from '../composing';
import { followPress } from './press';

/** Moves an item before another, or to the end of its kind (null). */
export type Move = (key: string, before: string | null) => void;

const CONTROLS = 'button, input, select, textarea, summary, [contenteditable]';

/** The key before which an item is, if it moves by one place; undefined if there is none. */
export function neighbour(keys: readonly string[], key: string, by: -1 | 1): string | null | undefined {
  const at = keys.indexOf(key);
  if (at < 0 || at + by < 0 || at + by >= keys.length) return undefined;
  return (by < 0 ? keys[at - 1] : keys[at + 2]) ?? null;
}

/** The ref of the list, which the calling component renders. */
export function useSorting<List extends HTMLElement>(move: Move): RefObject<List | null> {
  const list = useRef<List>(null);
  useSteadyFocus(list);
  const latest = useRef(move);
  latest.current = move;
  useEffect(() => {
    const element = list.current;
    if (!element) return;
    const press = (event: PointerEvent) => begin(event, element, latest);
    const key = (event: KeyboardEvent) => step(event, element, latest);
    // The browser would drag the address of a link.
    const stay = (event: DragEvent) => {
      if (itemAt(event.target, element)) event.preventDefault();
    };
    element.addEventListener('pointerdown', press);
    element.addEventListener('keydown', key);
    element.addEventListener('dragstart', stay);
    return () => {
      element.removeEventListener('pointerdown', press);
      element.removeEventListener('keydown', key);
      element.removeEventListener('dragstart', stay);
    };
  }, []);
  return list;
}

/** An element that moves in the page loses the focus: give it back at once, so that the next key reaches it. */
function useSteadyFocus(list: RefObject<HTMLElement | null>): void {
  const focused = document.activeElement;
  useLayoutEffect(() => {
    if (document.activeElement === document.body && focused instanceof HTMLElement && list.current?.contains(focused)) focused.focus();
  });
}

function begin(event: PointerEvent, list: HTMLElement, move: { readonly current: Move }): void {
  const { target } = event;
  const item = itemAt(target, list);
  if (event.button !== 0 || !item || item.dataset['fixed'] !== undefined || !(target instanceof Element)) return;
  const grip = target.closest('.grip');
  if (!grip && (event.pointerType !== 'mouse' || target.closest(CONTROLS) || isStill(target, item))) return;
  let drop: Drop | null = null;
  const show = (next: Drop | null) => {
    if (drop) delete drop.item.dataset['drop'];
    drop = next;
    if (next) {
      next.item.dataset['drop'] = next.after ? 'after' : 'before';
      next.item.scrollIntoView({ block: 'nearest' });
    }
  };
  const end = () => {
    show(null);
    item.classList.remove('is-dragged');
  };
  followPress(event, {
    distance: ({ y }) => Math.abs(y),
    begin: () => {
      item.classList.add('is-dragged');
      return true;
    },
    move: ({ y }) => show(dropAt(itemsOf(list, item), item, y)),
    drop: () => {
      const at = drop;
      end();
      if (at) move.current(keyOf(item), beforeOf(itemsOf(list, item), at));
    },
    cancel: end,
  });
}

function step(event: KeyboardEvent, list: HTMLElement, move: { readonly current: Move }): void {
  if (!event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || isComposing(event)) return;
  if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return;
  const item = itemAt(event.target, list);
  // A select opens by these keys.
  if (!item || item.dataset['fixed'] !== undefined || event.target instanceof HTMLSelectElement || isStill(event.target, item)) return;
  event.preventDefault();
  event.stopPropagation();
  const before = neighbour(itemsOf(list, item).map(keyOf), keyOf(item), event.key === 'ArrowUp' ? -1 : 1);
  if (before === undefined) return;
  move.current(keyOf(item), before);
}

interface Drop {
  readonly item: HTMLElement;
  readonly after: boolean;
}

/** The place nearest to a height, unless the item is there already. */
function dropAt(items: readonly HTMLElement[], item: HTMLElement, y: number): Drop | null {
  const under = items.findIndex((one) => y < one.getBoundingClientRect().bottom);
  const found = items[under < 0 ? items.length - 1 : under];
  if (!found || found === item) return null;
  const { top, height } = found.getBoundingClientRect();
  const after = y > top + height / 2;
  const at = items.indexOf(item);
  if (items[items.indexOf(found) + (after ? 1 : -1)] === item) return null;
  return items.length > 1 && at >= 0 ? { item: found, after } : null;
}

function beforeOf(items: readonly HTMLElement[], { item, after }: Drop): string | null {
  const next = after ? items[items.indexOf(item) + 1] : item;
  return next ? keyOf(next) : null;
}

/** The item of this list, not of one inside it, in which an event happened. */
function itemAt(target: EventTarget | null, list: HTMLElement): HTMLElement | null {
  const item = target instanceof Element ? target.closest<HTMLElement>('li[data-item]') : null;
  return item?.parentElement === list ? item : null;
}

function isStill(target: EventTarget | null, item: HTMLElement): boolean {
  const still = target instanceof Element ? target.closest('[data-still]') : null;
  return still !== null && item.contains(still);
}

function itemsOf(list: HTMLElement, { dataset }: HTMLElement): readonly HTMLElement[] {
  return [...list.children].filter((one): one is HTMLElement => one instanceof HTMLElement && one.dataset['item'] !== undefined && one.dataset['kind'] === dataset['kind']);
}

function keyOf({ dataset }: HTMLElement): string {
  return dataset['item'] ?? '';
}
