/** Numbers as texts that users of a locale type and read. All digits are kept. Pure. */
import { plainDigits } from '../fields/digits';
import { marksOf, type NumberMarks } from '../fields/number-marks';

const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,4})?$/i;
const IN_GROUPS_BY_POINTS = /^[+-]?[1-9]\d{0,2}(\.\d{3})+$/;

export interface NumberText {
  /**
   * The number that a text means, with a point and without groups; null for none. `format`: the marks of its field's
   * format, where they may be others, and whether the text has more of the format than the number.
   */
  read(text: string, format?: { readonly marks: NumberMarks | null; readonly isMarked: boolean }): string | null;
  /** The text of a number with a point. `read` returns the number again. */
  write(digits: string): string;
  /** A text that users see, without the groups that programs would take for a fraction: 1.234 is 1234. */
  plain(shown: string): string;
}

/** How a locale, by default the reader's own, writes numbers. */
export function numberText(locale?: string): NumberText {
  const own = marksOf(new Intl.NumberFormat(locale));
  return {
    read(text, { marks = null, isMarked = false } = NO_FORMAT) {
      const bare = plainDigits(text).replace(/\s/g, '').replaceAll('\u2212', '-');
      // A copied number has the marks of the locale, also from a field whose format has others.
      const known = marks === null ? [own] : isMarked ? [marks, own] : [own, marks];
      // "1.5" is a number to programs everywhere, even where the locale groups by points. Three digits after a point are
      // a group.
      const grouping = isMarked ? known.slice(0, 1) : known;
      if (grouping.some(({ group }) => group === '.') && IN_GROUPS_BY_POINTS.test(bare)) return bare.replaceAll('.', '');
      const locals = known.map(({ group, point }) => bare.replaceAll(group, '').replace(point, '.'));
      return [bare, ...locals].find((one) => DECIMAL.test(one)) ?? null;
    },
    plain: (shown) => {
      const bare = plainDigits(shown);
      return own.group === '.' && IN_GROUPS_BY_POINTS.test(bare.replace('\u2212', '-')) ? bare.replaceAll('.', '') : shown;
    },
    write: (digits) => (own.point === ',' ? digits.replace('.', ',') : digits),
  };
}

const NO_FORMAT = { marks: null, isMarked: false };

/** Digits as JSON wants them: no plus, no leading zeros, a digit on both sides of the point. */
export function jsonNumber(decimal: string): string {
  const [, sign = '', whole = '', fraction = '', power = ''] = /^([+-]?)(\d*)\.?(\d*)(e.*)?$/i.exec(decimal) ?? [];
  const digits = whole.replace(/^0+(?=\d)/, '') || '0';
  return `${sign === '-' ? '-' : ''}${digits}${fraction && `.${fraction}`}${power}`;
}
