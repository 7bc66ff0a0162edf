/**
 * Keeps the scroll bar and the rows together whenever both rest.
 *
 * The element that was scrolled last leads for 150 ms, and the library drops events of the other meanwhile. On a busy
 * machine a late event of the rows may let them lead while the bar is dragged. The bar's last event is then dropped,
 * and the rows stay where they were. So the last scroll is reported again as soon as no element leads.
 */

/** Milliseconds without an event after which no element leads. */
const REST = 250;

/** A scrolling element, or a substitute in tests. */
export type Scrolled = EventTarget & { readonly scrollTop: number };

/** Keep two elements together that the library scrolls by each other. Returns how to undo it. */
export function keepTogether(bar: Scrolled, rows: Scrolled): () => void {
  let last = rows;
  let isRepeating = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const repeat = () => {
    if (Math.abs(bar.scrollTop - rows.scrollTop) < 1) return;
    isRepeating = true;
    last.dispatchEvent(new Event('scroll'));
    isRepeating = false;
  };
  const stopping = [bar, rows].map((one) => {
    const onScroll = () => {
      if (isRepeating) return;
      last = one;
      clearTimeout(timer);
      timer = setTimeout(repeat, REST);
    };
    one.addEventListener('scroll', onScroll);
    return () => one.removeEventListener('scroll', onScroll);
  });
  return () => {
    clearTimeout(timer);
    for (const stop of stopping) stop();
  };
}
