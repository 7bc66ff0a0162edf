/** The tests of states of the page: axe finds nothing in any look, and all of it is in the window. */
import { describe, expect, inject } from 'vitest';
import { ADMIN } from '../stack';
import { test } from '../test';
import { faultsOf } from './judge';
import type { State } from './state';
import { STATES } from './states';

/** Telephones, a tablet, a laptop, a screen. */
export const WINDOWS = [
  { width: 320, height: 640 },
  { width: 360, height: 740 },
  { width: 768, height: 1024 },
  { width: 1280, height: 800 },
  { width: 1920, height: 1080 },
] as const;

/** Define a test of each of these states in a window. */
export function judge({ width, height }: (typeof WINDOWS)[number], states: readonly State[]): void {
  describe(`in a window of ${width} pixels, light, dark and with forced colors, nothing is wrong with`, () => {
    for (const { name, user = ADMIN, open } of states) {
      test(name, async ({ visit, api, places }) => {
        const { page } = await visit(user, { width, height });
        await open({ page, api, places });
        expect(await faultsOf(page, `${name}-${width}`, inject('images'))).toEqual([]);
      });
    }
  });
}

/** Define the tests of every state in the window of this width: a file for each, so that several run at a time. */
export function every(width: (typeof WINDOWS)[number]['width']): void {
  describe.runIf(inject('thorough'))('every state', () => {
    for (const window of WINDOWS) if (window.width === width) judge(window, STATES);
  });
}
