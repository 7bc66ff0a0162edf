/** The price of reads. Pure. */

/** US dollars for a million read units, on demand, in us-east-1. */
const DOLLARS_PER_MILLION_UNITS = 0.125;

/** US dollars of a million requests of this many read units each. */
export function dollarsOfMillion(readUnits: number): number {
  return readUnits * DOLLARS_PER_MILLION_UNITS;
}
