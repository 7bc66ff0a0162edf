/** Where elements are, and how the mouse drags them. */
import type { Locator, Page } from 'playwright-core';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export async function boxOf(element: Locator) {
  const box = await element.boundingBox();
  if (!box) throw new Error('It is not in view.');
  return box;
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
