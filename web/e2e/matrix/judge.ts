/** Judges one state of the page in each look, in a window of one width. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { findings } from '../accessibility';
import { outOfReach, scrolling } from '../window';

/** By name. Only the first is judged by all rules of axe: the others differ in nothing but colors. */
const LOOKS = {
  light: { colorScheme: 'light', forcedColors: 'none' },
  dark: { colorScheme: 'dark', forcedColors: 'none' },
  forced: { colorScheme: 'dark', forcedColors: 'active' },
} as const;

/** The faults of the state that the page shows. If `images` names a folder, an image of each look is written there. */
export async function faultsOf(page: Page, name: string, images: string): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const [look, media] of Object.entries(LOOKS)) {
    await page.emulateMedia(media);
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    if (images) await shoot(page, join(images, `${name.replace(/[^\w]+/g, '-')}-${look}.png`));
    const found = await findings(page, look === 'light' ? {} : { runOnly: ['color-contrast'] });
    faults.push(...found.map(({ id, where }) => `${look}: ${id}: ${where.join('; ')}`));
  }
  return [...faults, ...(await scrolling(page)), ...(await outOfReach(page))];
}

async function shoot(page: Page, path: string): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true });
  await page.screenshot({ path });
}
