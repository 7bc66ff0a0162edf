/**
 * The wheel, exact at any length. Browsers end elements at some height (33,554,428 px in Chromium, 17.9 million in Firefox). Beyond it the
 * library maps the scroll bar onto the rows by a ratio, and with it each step of the wheel: at a million rows of 56 px a step
 * of 360 px would move 630. This takes the ratio out of the step again, and keeps the part of a pixel that is left.
 */

/** The rows' height divided by the way that the scroll bar has; 1 where all rows fit. */
export function ratioOf(rows: number, rowHeight: number, viewport: number, scrollHeight: number): number {
  const way = scrollHeight - viewport;
  return way > 0 ? Math.max(1, (rows * rowHeight - viewport) / way) : 1;
}

/** Make the wheel of a viewport exact. `ratio` is asked at each step. Returns how to undo it. */
export function keepWheelExact(viewport: HTMLElement, ratio: () => number): () => void {
  let rest = 0;
  const onWheel = (event: WheelEvent) => {
    const factor = ratio();
    // Firefox may give lines; those few pixels stay the browser's own.
    if (factor < 1.001 || event.deltaY === 0 || event.ctrlKey || event.deltaMode !== WheelEvent.DOM_DELTA_PIXEL) return;
    event.preventDefault();
    const wanted = viewport.scrollTop + event.deltaY / factor + rest;
    viewport.scrollTop = wanted;
    viewport.scrollLeft += event.deltaX;
    const left = wanted - viewport.scrollTop;
    rest = Math.abs(left) < 1 ? left : 0;
  };
  viewport.addEventListener('wheel', onWheel, { passive: false });
  return () => viewport.removeEventListener('wheel', onWheel);
}
