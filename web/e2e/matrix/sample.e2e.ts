import { describe, inject } from 'vitest';
import { judge, WINDOWS } from './matrix';
import { STATES } from './states';

/** One state of so many, each in another window. */
const ONE_OF = 16;

describe.skipIf(inject('thorough'))('some states', () => {
  const sample = STATES.filter((_, place) => place % ONE_OF === 0);
  for (const [at, window] of WINDOWS.entries()) judge(window, sample.filter((_, place) => place % WINDOWS.length === at));
});
