/** The tests of the page in a real browser, with a running stack. `tests/web` starts one with data, and calls them. */
import { loadEnv } from 'vite';
import { defineConfig } from 'vitest/config';
import { TIMEOUT } from './timeout.ts';

const env = loadEnv('', '.', 'GRIDVIEW_');
const { GRIDVIEW_PAGE: pages = '', GRIDVIEW_CHROMIUM: chromium = '/usr/bin/chromium', GRIDVIEW_IMAGES: images = '', GRIDVIEW_LATE: late = '0' } = env;

declare module 'vitest' {
  interface ProvidedContext {
    /** Addresses that `./dev up` prints, each with a key of its own. */
    readonly pages: readonly string[];
    /** The path of the browser. */
    readonly chromium: string;
    /** Whether everything is tested that is sampled otherwise. */
    readonly thorough: boolean;
    /** The folder for images of every state; empty: none are written. */
    readonly images: string;
    /** The most milliseconds by which answers of the API come late. */
    readonly late: number;
  }
}

const addresses = pages.split(' ');

export default defineConfig({
  test: {
    include: ['e2e/**/*.e2e.ts'],
    provide: { pages: addresses, chromium, thorough: 'GRIDVIEW_THOROUGH' in env, images, late: Number(late) },
    // A worker keeps its browser for all its files. A key in an address is good once, so each worker has an address.
    isolate: false,
    maxWorkers: addresses.length,
    testTimeout: 3 * TIMEOUT,
    hookTimeout: TIMEOUT,
    expect: { poll: { timeout: TIMEOUT, interval: 50 } },
  },
});
