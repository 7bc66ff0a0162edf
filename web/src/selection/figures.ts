/** Figures of selected numbers, with all their digits. Pure. */
import type { Exact } from '../api/json';
import { aligned, exactFrom } from '../fields/decimal';

export interface Figures {
  readonly sum: Exact;
  readonly avg: Exact;
  readonly min: Exact;
  readonly max: Exact;
}

/** Digits of an average after those of the sum. */
const MORE_DIGITS = 12;

/** Null where there are no numbers. */
export function figuresOf(values: readonly Exact[]): Figures | null {
  const { digits, exponent } = aligned(values);
  const [first] = digits;
  if (first === undefined) return null;
  const sum = digits.reduce((all, one) => all + one, 0n);
  return {
    sum: exactFrom({ digits: sum, exponent }),
    avg: exactFrom({ digits: (sum * 10n ** BigInt(MORE_DIGITS)) / BigInt(values.length), exponent: exponent - MORE_DIGITS }),
    min: exactFrom({ digits: digits.reduce((min, one) => (one < min ? one : min), first), exponent }),
    max: exactFrom({ digits: digits.reduce((max, one) => (one > max ? one : max), first), exponent }),
  };
}
