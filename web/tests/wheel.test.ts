import { expect, it } from 'vitest';
import { ratioOf } from '../src/grid/ag/wheel';

it('a step of the wheel is divided by the scale of the rows', () => {
  expect(ratioOf(1000, 32, 800, 32_000)).toBe(1);
  expect(ratioOf(1_000_000, 56, 800, 32_000_000)).toBeCloseTo(1.75, 4);
  expect(ratioOf(0, 32, 800, 800)).toBe(1);
});
