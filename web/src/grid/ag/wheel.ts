/**
 * Makes the wheel exact at any length.
 *
 * Browsers limit the height of elements (33,554,428 px in Chromium, 17.9 million in Firefox). Beyond it the library
 * maps the scroll bar, and each step of the wheel, onto the rows by a ratio. At a million rows of 56 px a step of 360
 * px would move 630. This removes the ratio from the step, and keeps the fraction of a pixel that remains.
 */

/** The rows' height divided by the distance that the scroll bar covers; 1 if all rows fit. */
export function ratioOf(rows: number, rowHeight: number, viewport: number, scrollHeight: number): number {
  const way = scrollHeight - viewport;
  return way > 0 ? Math.max(1, (rows * rowHeight - viewport) / way) : 1;
}

/** Make the wheel of a viewport exact. Reads `ratio` at each step. Returns how to undo it. */
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
