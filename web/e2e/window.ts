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

/**
 * Controls that no user can reach: beyond the window, or cut by an element around them that does not scroll; and panels
 * that scroll sideways. The grid is as wide as its columns, so it is left out.
 */
export function outOfReach(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const CONTROLS = 'button, a[href], input:not([type="hidden"]), select, textarea, summary';
    /** Content that is wider than any window, and scrolls in its own frame. */
    const SIDEWAYS = '.scroller, .bars, input, textarea, pre';
    const inFront = [...document.querySelectorAll('dialog:modal')].at(-1);
    const scope = inFront ?? document.body;
    const nameOf = (element: Element) => `<${element.tagName.toLowerCase()} class="${element.className}"> “${(element.getAttribute('aria-label') ?? element.textContent).slice(0, 60)}”`;
    const isSeen = (element: Element) => {
      const { width, height } = element.getBoundingClientRect();
      return width > 1 && height > 1 && element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !element.closest('.ag-root-wrapper, .visually-hidden');
    };
    const faultOf = (element: Element): string | null => {
      let { left, right, top, bottom } = element.getBoundingClientRect();
      for (let at: Element | null = element; at && !at.matches(':popover-open, dialog:modal'); at = at.parentElement) {
        const around: Element | null = at.parentElement;
        if (!around || around === document.body) break;
        const { overflowX, overflowY } = getComputedStyle(around);
        const box = around.getBoundingClientRect();
        if (overflowX !== 'visible' && (left < box.left - 1 || right > box.right + 1)) {
          if (!/auto|scroll/.test(overflowX)) return `is cut by ${nameOf(around)}`;
          [left, right] = [box.left, box.right];
        }
        if (overflowY !== 'visible' && (top < box.top - 1 || bottom > box.bottom + 1)) {
          if (!/auto|scroll/.test(overflowY)) return `is cut by ${nameOf(around)}`;
          [top, bottom] = [box.top, box.bottom];
        }
      }
      const isBeyond = left < -1 || right > innerWidth + 1 || top < -1 || bottom > innerHeight + 1;
      return isBeyond ? `is beyond the window: from ${Math.round(left)}, ${Math.round(top)} to ${Math.round(right)}, ${Math.round(bottom)}` : null;
    };
    const controls = [...scope.querySelectorAll(CONTROLS)].filter(isSeen);
    const lost = controls.flatMap((element) => {
      const fault = faultOf(element);
      return fault === null ? [] : [`${nameOf(element)} ${fault}`];
    });
    const wide = [...scope.querySelectorAll('*')].filter((element) => {
      if (element.scrollWidth <= element.clientWidth + 1 || element.matches(SIDEWAYS) || !isSeen(element)) return false;
      return /auto|scroll/.test(getComputedStyle(element).overflowX);
    });
    const spilled = controls.filter((element) => element.matches('button') && element.scrollWidth > element.clientWidth + 2 && getComputedStyle(element).overflowX === 'visible');
    return [...lost, ...wide.map((element) => `${nameOf(element)} scrolls sideways`), ...spilled.map((element) => `${nameOf(element)} is too narrow for its text`)];
  });
}
