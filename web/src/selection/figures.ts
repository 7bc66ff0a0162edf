/** Figures of selected numbers, with all their digits. Pure. */
import { LosslessNumber } from 'lossless-json';
import type { Exact } from '../api/json';

export interface Figures {
  readonly count: number;
  readonly sum: Exact;
  readonly avg: Exact;
  readonly min: Exact;
  readonly max: Exact;
}

/** Digits of an average after those of the sum. */
const MORE_DIGITS = 12;

/** Null where there are no numbers. */
export function figuresOf(values: readonly Exact[]): Figures | null {
  const decimals = values.map(decimalOf);
  const [first] = decimals;
  if (!first) return null;
  const exponent = decimals.reduce((least, one) => Math.min(least, one.exponent), first.exponent);
  const scaled = decimals.map((one) => one.digits * 10n ** BigInt(one.exponent - exponent));
  const [least = 0n] = scaled;
  const sum = scaled.reduce((all, one) => all + one, 0n);
  return {
    count: values.length,
    sum: exact(sum, exponent),
    avg: exact((sum * 10n ** BigInt(MORE_DIGITS)) / BigInt(values.length), exponent - MORE_DIGITS),
    min: exact(scaled.reduce((min, one) => (one < min ? one : min), least), exponent),
    max: exact(scaled.reduce((max, one) => (one > max ? one : max), least), exponent),
  };
}

/** Whole digits times a power of ten. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

function decimalOf(value: Exact): Decimal {
  const [mantissa = '0', power = '0'] = String(value).toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}

function exact(digits: bigint, exponent: number): Exact {
  return new LosslessNumber(`${digits}e${exponent}`);
}
