/** One finger on a touch screen. For taps, Playwright has `tap`. */
import type { CDPSession, Locator, Page } from 'playwright-core';
import { boxOf, middleOf, type Point } from './dragging';

/** Milliseconds that a finger rests until a menu opens, with some to spare. */
const LONG = 900;
/** Moves of a finger on its way. */
const STEPS = 8;
/** A point inside the handle at the corner of a range, from the edges of its cell. */
const INTO_HANDLE = 3;

/** The handle at the corner of a range that ends with this cell. */
export async function handleOf(cell: Locator): Promise<Point> {
  const { x, y, width, height } = await boxOf(cell);
  return { x: x + width - INTO_HANDLE, y: y + height - INTO_HANDLE };
}

export class Finger {
  private constructor(private readonly session: CDPSession) {}

  static async on(page: Page): Promise<Finger> {
    const session = await page.context().newCDPSession(page);
    await session.send('Emulation.setTouchEmulationEnabled', { enabled: true });
    return new Finger(session);
  }

  /** Rest until the menu of an element opens. */
  async rest(on: Locator): Promise<void> {
    await this.touch('touchStart', await middleOf(on));
    await new Promise((rested) => setTimeout(rested, LONG));
    await this.touch('touchEnd');
  }

  /** From a point to another one: what is there is dragged, or scrolled. `rests`: first long enough to open a menu. */
  async drag(from: Point, to: Point, { rests = false } = {}): Promise<void> {
    await this.touch('touchStart', from);
    if (rests) await new Promise((rested) => setTimeout(rested, LONG));
    for (let step = 1; step <= STEPS; step += 1) {
      const part = step / STEPS;
      await this.touch('touchMove', { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part });
    }
    await this.touch('touchEnd');
  }

  private async touch(type: 'touchStart' | 'touchMove' | 'touchEnd', at?: Point): Promise<void> {
    await this.session.send('Input.dispatchTouchEvent', { type, touchPoints: at ? [at] : [] });
  }
}
