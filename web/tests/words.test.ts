import { expect, it } from 'vitest';
import { words } from '../src/words';

it.each([
  [0, 'Index 0 sec behind'],
  [840, 'Index 0.8 sec behind'],
  [59_000, 'Index 59 sec behind'],
  [412_000, 'Index 6.9 min behind'],
  [7_200_000, 'Index 2 hr behind'],
])('a lag of %d ms is readable', (milliseconds, said) => {
  expect(words.status.late(milliseconds)).toBe(said);
});
