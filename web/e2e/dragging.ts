/** Where elements are, and how the mouse drags them. */
import type { Locator, Page } from 'playwright-core';
import { TIMEOUT } from './timeout';

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Where an element is, once two frames show it in the same place: the grid moves rows, and draws them again. */
export async function boxOf(element: Locator) {
  const latest = Date.now() + TIMEOUT;
  let before = await element.boundingBox();
  while (Date.now() < latest) {
    await element.page().evaluate(() => new Promise(requestAnimationFrame));
    const box = await element.boundingBox();
    if (box && box.x === before?.x && box.y === before.y) return box;
    before = box;
  }
  throw new Error('It is not in view, or does not rest.');
}

export async function middleOf(element: Locator): Promise<Point> {
  const { x, y, width, height } = await boxOf(element);
  return { x: x + width / 2, y: y + height / 2 };
}

/** Drag an element onto the upper or lower half of another. */
export async function drag(page: Page, from: Locator, to: Locator, half: 'upper' | 'lower'): Promise<void> {
  const [start, end] = [await middleOf(from), await boxOf(to)];
  await page.mouse.move(start.x, start.y);
  await page.mouse.down();
  await page.mouse.move(end.x + end.width / 2, end.y + end.height * (half === 'upper' ? 0.2 : 0.8), { steps: 5 });
  await page.mouse.up();
}
