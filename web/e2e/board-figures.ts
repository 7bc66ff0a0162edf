/** Measures a board: its first cards, a drag until it is settled in the page, and frames while a column scrolls. */
import type { Browser } from 'playwright-core';
import { inject } from 'vitest';
import { findings, type Finding } from './accessibility';
import { BoardPage } from './board-page';
import { Visit } from './browser';
import type { Stack } from './stack';
import { TIMEOUT } from './timeout';

/** Visits and drags, of which the median is reported. */
const REPEAT = 5;
/** Frames of the long scroll, and the pixels of each. */
const FRAMES = 500;
const PIXELS = 240;
/** The options of the generated issues' `kind`: six columns, and one of no value. */
const BOARD = { by: 'kind', columns: [], card: ['amount', 'due'], aggregate: null };

export interface BoardFigures {
  readonly boardCold: number;
  readonly boardDrag: number;
  readonly boardP99: number;
  readonly boardAxe: readonly Finding[];
}

export async function boardFigures(browser: Browser, stack: Stack): Promise<BoardFigures> {
  const cookies = await stack.cookiesOf({ tenant: inject('tenant'), user: 'ada', role: 'admin' });
  const address = `/projects/${inject('project')}?kind=board&board=${encodeURIComponent(JSON.stringify(BOARD))}`;
  const cold: number[] = [];
  for (let count = 0; count < REPEAT; count += 1) {
    const { context, page } = await Visit.begin(browser, stack.origin, cookies);
    await page.addInitScript(() => {
      const look = () => {
        if (document.querySelector('.card-name')) performance.mark('cards');
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    });
    await page.goto(address);
    await page.waitForFunction(() => performance.getEntriesByName('cards').length > 0, null, { timeout: TIMEOUT });
    cold.push(await page.evaluate(() => performance.getEntriesByName('cards')[0]?.startTime ?? NaN));
    await context.close();
  }
  const { context, page } = await Visit.begin(browser, stack.origin, cookies);
  await page.goto(address);
  const board = new BoardPage(page);
  await board.board.locator('.card-name').first().waitFor({ timeout: TIMEOUT });
  const drags: number[] = [];
  for (let count = 0; count < REPEAT; count += 1) {
    const name = (await board.board.locator('.card-name').first().innerText()).trim();
    const [from = '', to = ''] = (await board.columns()).map((column) => column.replace(/, [\d,]+$/, ''));
    await board.drag(name, count % 2 ? from : to, { drops: false });
    await page.evaluate(noteSettled);
    await page.mouse.up();
    drags.push(await page.evaluate(() => (window as unknown as { settled: Promise<number> }).settled));
  }
  const axe = await findings(page);
  const frames = (await page.evaluate(scroll, { frames: FRAMES, pixels: PIXELS })).sort((a, b) => a - b);
  await context.close();
  return { boardCold: median(cold), boardDrag: median(drags), boardP99: frames[Math.floor(FRAMES * 0.99)] ?? NaN, boardAxe: axe };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

/**
 * Record the milliseconds from the next release of the mouse until the frame after the counts have changed, as
 * `window.settled`. Runs in the page.
 */
function noteSettled(): void {
  const counts = () => [...document.querySelectorAll('.board-count')].map(({ textContent }) => textContent).join();
  const before = counts();
  const settled = new Promise<number>((resolve) => {
    window.addEventListener(
      'pointerup',
      () => {
        const began = performance.now();
        const look = () => {
          if (counts() !== before || performance.now() - began > 10_000) requestAnimationFrame(() => resolve(performance.now() - began));
          else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
      },
      { once: true, capture: true },
    );
  });
  Object.assign(window, { settled });
}

/** Scroll the column with most cards by so many pixels in each frame. Returns the milliseconds of each. Runs in the page. */
function scroll({ frames, pixels }: { readonly frames: number; readonly pixels: number }): Promise<number[]> {
  const [list] = [...document.querySelectorAll('.board-cards')].sort((a, b) => b.scrollHeight - a.scrollHeight);
  return new Promise((resolve) => {
    const taken: number[] = [];
    let before: number | null = null;
    const step = (now: number) => {
      if (before !== null) taken.push(now - before);
      before = now;
      if (taken.length === frames) {
        resolve(taken);
        return;
      }
      list?.scrollBy(0, pixels);
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
}
