/** Texts with the digits of any script. Pure. */

/** Marks that give a text a direction. Locales that are written from right to left add them to numbers and dates. */
const DIRECTIONS = /[\u200e\u200f\u061c]/g;
const FOREIGN_DIGITS = /(?![0-9])\p{Nd}/gu;
const DIGIT = /\p{Nd}/u;

/** A text with the digits 0 to 9 in place of those of other scripts, and without marks of direction. */
export function plainDigits(text: string): string {
  return text.replace(DIRECTIONS, '').replace(FOREIGN_DIGITS, (digit) => String(valueOf(digit.codePointAt(0) ?? 0)));
}

/** The value of a digit: digits from 0 to 9 follow one another, also where several such rows do. */
function valueOf(code: number): number {
  let first = code;
  while (DIGIT.test(String.fromCodePoint(first - 1))) first -= 1;
  return (code - first) % 10;
}
