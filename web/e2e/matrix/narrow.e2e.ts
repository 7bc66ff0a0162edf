import { describe, inject } from 'vitest';
import { judge, WINDOWS } from './matrix';
import { STATES } from './states';

describe.runIf(inject('thorough'))('every state', () => {
  for (const window of WINDOWS) if (window.width < 1000) judge(window, STATES);
});
