import { loadEnv } from 'vite';
import { defineConfig } from 'vitest/config';

/** The stack to which the development server forwards requests; `./dev up` prints its address. */
const stack = loadEnv('', '.', 'GRIDVIEW_')['GRIDVIEW_API'] ?? 'http://127.0.0.1:8420';

export default defineConfig({
  build: {
    target: 'es2022',
    // A policy of `style-src 'self'` and `img-src 'self'` allows no inline content in the page.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1200,
  },
  server: {
    host: '127.0.0.1',
    // The stack gets the browser's Host header, since its cookie is valid only for its own origin.
    proxy: Object.fromEntries(
      ['/v1', '/local', '/config.json'].map((path) => [path, { target: stack, changeOrigin: false }]),
    ),
  },
  // The tests share no state between files, so a process loads the modules once for all files.
  test: { include: ['tests/**/*.test.ts', 'tests/**/*.test.tsx'], isolate: false },
});
