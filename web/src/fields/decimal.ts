/** Exact arithmetic on numbers with all their digits. Pure. */
import { exactOf, type Exact } from '../api/json';

/** Whole digits times a power of ten. */
export interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/** A number whose first digit is beyond this power of ten, either way, is written with an exponent. It has at most 38 digits. */
export const MAX_PLAIN_EXPONENT = 38;

export function decimalOf(value: Exact): Decimal {
  const [mantissa = '0', power = '0'] = String(value).toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}

export function exactFrom({ digits, exponent }: Decimal): Exact {
  if (digits === 0n) return 0;
  const sign = digits < 0n ? '-' : '';
  const plain = String(digits).replace('-', '');
  if (Math.abs(plain.length - 1 + exponent) > MAX_PLAIN_EXPONENT) return exactOf(`${digits}e${exponent}`);
  if (exponent >= 0) return exactOf(`${sign}${plain}${'0'.repeat(exponent)}`);
  const all = plain.padStart(1 - exponent, '0');
  return exactOf(`${sign}${all.slice(0, exponent)}.${all.slice(exponent)}`);
}

/** The digits of several numbers at the least of their powers of ten. */
export function aligned(values: readonly Exact[]): { readonly digits: readonly bigint[]; readonly exponent: number } {
  const decimals = values.map(decimalOf);
  const exponent = decimals.reduce((least, one) => Math.min(least, one.exponent), decimals[0]?.exponent ?? 0);
  return { digits: decimals.map((one) => one.digits * 10n ** BigInt(one.exponent - exponent)), exponent };
}
