/**
 * The scroll bar and the rows, together whenever both rest. The library lets whichever was scrolled last lead for 150 ms, and drops what it
 * hears of the other meanwhile. On a busy machine an event of the rows may come so late that they lead while the bar is dragged: the bar's
 * last event is dropped, and the rows stay where they were. So who was scrolled last is told again, once nobody leads any more.
 */

/** Milliseconds without an event after which nobody leads. */
const REST = 250;

/** What scrolls: an element, or in tests something like one. */
export type Scrolled = EventTarget & { readonly scrollTop: number };

/** Keep two elements together that the library scrolls by each other. Returns how to undo it. */
export function keepTogether(bar: Scrolled, rows: Scrolled): () => void {
  let last = rows;
  let telling = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tellAgain = () => {
    if (Math.abs(bar.scrollTop - rows.scrollTop) < 1) return;
    telling = true;
    last.dispatchEvent(new Event('scroll'));
    telling = false;
  };
  const stopping = [bar, rows].map((one) => {
    const onScroll = () => {
      if (telling) return;
      last = one;
      clearTimeout(timer);
      timer = setTimeout(tellAgain, REST);
    };
    one.addEventListener('scroll', onScroll);
    return () => one.removeEventListener('scroll', onScroll);
  });
  return () => {
    clearTimeout(timer);
    for (const stop of stopping) stop();
  };
}
