/** The tests of the page in a real browser, before a stack that runs. `tests/web` starts one with data, and calls them. */
import { loadEnv } from 'vite';
import { defineConfig } from 'vitest/config';
import { PATIENCE } from './patience.ts';

const { GRIDVIEW_PAGE: page = '', GRIDVIEW_CHROMIUM: chromium = '/usr/bin/chromium' } = loadEnv('', '.', 'GRIDVIEW_');

declare module 'vitest' {
  interface ProvidedContext {
    /** The address that `./dev up` prints, with its key. */
    readonly page: string;
    /** The path of the browser. */
    readonly chromium: string;
  }
}

export default defineConfig({
  test: {
    include: ['e2e/**/*.e2e.ts'],
    provide: { page, chromium },
    // One browser for all files: the key in the address is good once, and a second browser would cost more than it gives.
    isolate: false,
    maxWorkers: 1,
    testTimeout: 3 * PATIENCE,
    hookTimeout: PATIENCE,
    expect: { poll: { timeout: PATIENCE, interval: 50 } },
  },
});
