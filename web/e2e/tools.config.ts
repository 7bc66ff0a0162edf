/**
 * Programs that drive the page but are no tests: `npm run tool -w web -- screenshots` or `-- measure`, with a running
 * stack.
 */
import { loadEnv } from 'vite';
import { defineConfig } from 'vitest/config';
import tests from './vitest.config.ts';

const env = loadEnv('', '.', 'GRIDVIEW_');

declare module 'vitest' {
  interface ProvidedContext {
    /** The project and the tenant to show. */
    readonly project: string;
    readonly tenant: string;
    /** The output file or folder. */
    readonly output: string;
  }
}

export default defineConfig({
  test: {
    ...tests.test,
    include: ['e2e/**/*.tool.ts'],
    testTimeout: 15 * 60_000,
    provide: {
      ...tests.test?.provide,
      project: env['GRIDVIEW_PROJECT'] ?? 'demo',
      tenant: env['GRIDVIEW_TENANT'] ?? '0807',
      output: env['GRIDVIEW_OUTPUT'] ?? '../docs/images',
    },
  },
});
