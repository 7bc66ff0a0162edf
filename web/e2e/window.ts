/** Finds content that does not fit the window: a document that scrolls, and elements beyond its edges. */
import type { Locator, Page } from 'playwright-core';

/** Widths of windows, with their heights: a telephone, a tablet, laptops, a screen. */
export const WINDOWS = [
  { width: 360, height: 740 },
  { width: 768, height: 1024 },
  { width: 1024, height: 768 },
  { width: 1190, height: 800 },
  { width: 1920, height: 1080 },
  { width: 1280, height: 800 },
] as const;

/** The most different ones: narrow, low, and the size at the beginning of a test. */
export const SOME_WINDOWS = [{ width: 360, height: 740 }, { width: 1024, height: 480 }, { width: 1280, height: 800 }] as const;

/** Give the window each of these sizes, and return the faults in them; the last size stays. */
export async function inEachWindow(page: Page, windows: readonly { readonly width: number; readonly height: number }[], faultsIn: () => Promise<readonly string[]>) {
  const faults: string[] = [];
  for (const size of windows) {
    await page.setViewportSize(size);
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    faults.push(...(await faultsIn()).map((fault) => `${size.width} × ${size.height}: ${fault}`));
  }
  return faults;
}

/** The document is as large as the window: only panels, lists and the grid scroll. */
export function scrolling(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const { scrollWidth, scrollHeight } = document.documentElement;
    if (scrollWidth <= innerWidth && scrollHeight <= innerHeight) return [];
    const scrolls = (element: Element | null): boolean => !!element && (/auto|scroll|hidden|clip/.test(getComputedStyle(element).overflow) || scrolls(element.parentElement));
    const beyond = [...document.querySelectorAll('body *')].filter((element) => {
      const { right, bottom } = element.getBoundingClientRect();
      return (right > innerWidth || bottom > innerHeight) && (getComputedStyle(element).position === 'absolute' || !scrolls(element.parentElement));
    });
    return [`the document has ${scrollWidth} × ${scrollHeight} pixels: ${beyond.slice(0, 2).map(({ outerHTML }) => outerHTML.slice(0, 80)).join(' ')}`];
  });
}

/** Elements that are not wholly in the window, or are covered by others. */
export function beyond(elements: Locator): Promise<readonly string[]> {
  return elements.evaluateAll(async (all) => {
    // A growing panel is placed again before the next frame, so the moment between is not visible.
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    return all.flatMap((element) => {
      const { left, top, right, bottom } = element.getBoundingClientRect();
      const name = element.getAttribute('aria-label') ?? element.textContent;
      const at = `“${name}” from ${Math.round(left)}, ${Math.round(top)} to ${Math.round(right)}, ${Math.round(bottom)}`;
      if (left < 0 || top < 0 || right > innerWidth || bottom > innerHeight) return [`${at} is beyond the window`];
      const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
      return hit && (element.contains(hit) || hit.contains(element)) ? [] : [`${at} is covered`];
    });
  });
}
