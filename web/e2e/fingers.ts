/** Fingers on the page, by the browser's protocol. */
import type { CDPSession, Locator } from 'playwright-core';

/** Milliseconds that a finger rests until a menu opens, with some to spare. */
const LONG = 900;

export interface Point {
  readonly x: number;
  readonly y: number;
}

export async function longPress(session: CDPSession, on: Locator): Promise<void> {
  const box = await on.boundingBox();
  if (!box) throw new Error('It is not in view.');
  const touchPoints = [{ x: box.x + box.width / 2, y: box.y + box.height / 2 }];
  await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints });
  await new Promise((rested) => setTimeout(rested, LONG));
  await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
}

/** One finger, from a point to another one. */
export async function swipe(session: CDPSession, from: Point, to: Point): Promise<void> {
  const steps = Array.from({ length: 8 }, (_, at) => (at + 1) / 8);
  await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [from] });
  for (const part of steps) {
    const at = { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
    await session.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: [at] });
  }
  await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
}
