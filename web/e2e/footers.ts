/** Measures how long the summaries below columns take under a filter. */
import type { Browser } from 'playwright-core';
import { inject } from 'vitest';
import { Visit } from './browser';
import type { Stack } from './stack';
import { TIMEOUT } from './timeout';

/** Repetitions, of which the median is reported. */
const REPEAT = 9;
const VIEW = 'columns=name:240,amount:120,due:120&footers=amount:sum,due:max';
/** Some 40 % of the generated issues. */
const FILTER = { field: 'state', op: 'eq', value: 'open' };

/**
 * Milliseconds of a sum and a latest date. The first is cold if nothing has asked the stack for numbers before: its answer
 * needs all of them from the table.
 */
export async function footers(browser: Browser, stack: Stack): Promise<{ readonly footersCold: number; readonly footersWarm: number }> {
  const cookies = await stack.cookiesOf({ tenant: inject('tenant'), user: 'ada', role: 'viewer' });
  const all = `/projects/${inject('project')}?${VIEW}`;
  const few = `${all}&filter=${encodeURIComponent(JSON.stringify(FILTER))}`;
  const { context, page } = await Visit.begin(browser, stack.origin, cookies);
  await page.goto(all);
  await page.waitForFunction(
    () => [...document.querySelectorAll('.footer-cell:not(.is-unset)')].filter(({ lastElementChild }) => /\d/.test(lastElementChild?.textContent ?? '')).length === 2,
    null,
    { timeout: TIMEOUT },
  );
  const footersCold = await page.evaluate(summariesAt, few);
  const warm: number[] = [];
  for (let count = 0; count < REPEAT; count += 1) {
    await page.evaluate(summariesAt, all);
    warm.push(await page.evaluate(summariesAt, few));
  }
  await context.close();
  return { footersCold, footersWarm: warm.toSorted((a, b) => a - b)[Math.floor(REPEAT / 2)] ?? NaN };
}

/** Go to an address with another filter. Returns the milliseconds until both summaries are drawn. Runs in the page. */
function summariesAt(address: string): Promise<number> {
  const shown = () => [...document.querySelectorAll('.footer-cell:not(.is-unset)')].map(({ lastElementChild }) => lastElementChild?.textContent ?? '');
  const [before] = shown();
  return new Promise((resolve, reject) => {
    const began = performance.now();
    window.history.pushState(null, '', address);
    window.dispatchEvent(new PopStateEvent('popstate'));
    const look = () => {
      const now = shown();
      if (document.querySelector('.footer-cell .bad')) reject(new Error(`A summary was refused: ${now.join()}`));
      // Both are requested at once, so a new sum says that the other summary is no longer that of the former filter.
      else if (now[0] !== before && now.length === 2 && now.every((text) => /\d/.test(text))) resolve(performance.now() - began);
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
}
