import { expect, it } from 'vitest';
import { words } from '../src/words';

it.each([
  [0, 0, 'Index 0 sec behind'],
  [840, 0, 'Index 0.8 sec behind'],
  [59_000, 1, 'Index 59 sec behind, 1 change to come'],
  [412_000, 1_900, 'Index 6.9 min behind, 1,900 changes to come'],
  [7_200_000, 0, 'Index 2 hr behind'],
])('%d ms with %d changes to come are told', (milliseconds, pending, said) => {
  expect(words.status.late(milliseconds, pending)).toBe(said);
});
