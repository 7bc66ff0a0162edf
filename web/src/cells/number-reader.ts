/** Reads numbers that users type and paste, also in the format of a field. Pure. */
import { unformatted, type FieldFormat } from '../fields/format';
import { jsonNumber, numberText } from './number-text';

/** The number that a text means in a format, with all its digits, as JSON has it; null for none. */
export type NumberReader = (format: FieldFormat | null, text: string) => string | null;

/** A reader of numbers as a locale, by default the reader's own, writes them, or as programs do. */
export function numberReader(locale?: string): NumberReader {
  const numbers = numberText(locale);
  return (format, text) => {
    const { digits, isPercentage, ...marks } = unformatted(format, text, locale);
    const plain = numbers.read(digits, marks);
    if (plain === null) return null;
    return isPercentage ? hundredth(jsonNumber(plain)) : jsonNumber(plain);
  };
}

/** The hundredth part of a decimal: the point moves, and no digit is lost. */
function hundredth(decimal: string): string {
  const [, sign = '', whole = '', fraction = '', power] = /^(-?)(\d+)\.?(\d*)(?:e(.*))?$/i.exec(decimal) ?? [];
  if (power !== undefined) return `${sign}${whole}${fraction && `.${fraction}`}e${Number(power) - 2}`;
  const digits = whole.padStart(3, '0');
  return jsonNumber(`${sign}${digits.slice(0, -2)}.${`${digits.slice(-2)}${fraction}`.replace(/0+$/, '')}`);
}
