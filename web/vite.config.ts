import { loadEnv } from 'vite';
import { defineConfig } from 'vitest/config';

/** The stack that the development server passes requests on to; `./dev up` prints its address. */
const stack = loadEnv('', '.', 'GRIDVIEW_')['GRIDVIEW_API'] ?? 'http://127.0.0.1:8420';

export default defineConfig({
  build: {
    target: 'es2022',
    // A policy of `style-src 'self'` and `img-src 'self'` lets nothing stand in the page itself.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1200,
  },
  server: {
    host: '127.0.0.1',
    // The browser's own Host goes on to the stack, which counts its cookie for its own origin alone.
    proxy: Object.fromEntries(
      ['/v1', '/local', '/config.json'].map((path) => [path, { target: stack, changeOrigin: false }]),
    ),
  },
  // What is pure keeps nothing that another file could meet, so a process loads the modules once for all files.
  test: { include: ['tests/**/*.test.ts', 'tests/**/*.test.tsx'], isolate: false },
});
