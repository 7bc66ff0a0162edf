import { expect, it } from 'vitest';
import { words } from '../src/words';

it.each([
  [0, 'Index lag: 0 sec'],
  [840, 'Index lag: 0.8 sec'],
  [59_000, 'Index lag: 59 sec'],
  [412_000, 'Index lag: 6.9 min'],
  [7_200_000, 'Index lag: 2 hr'],
])('a lag of %d ms is readable', (milliseconds, text) => {
  expect(words.status.late(milliseconds)).toBe(text);
});
