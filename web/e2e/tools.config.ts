/** What drives the page and is no test: `npm run tool -w web -- screenshots` or `-- measure`, before a stack that runs. */
import { loadEnv } from 'vite';
import { defineConfig } from 'vitest/config';
import tests from './vitest.config.ts';

const env = loadEnv('', '.', 'GRIDVIEW_');

declare module 'vitest' {
  interface ProvidedContext {
    /** The project and the tenant that are shown. */
    readonly project: string;
    readonly tenant: string;
    /** The file or the folder that is written. */
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
