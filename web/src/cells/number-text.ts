/** Numbers as texts that users of a locale type and read. All digits are kept. Pure. */

const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,4})?$/i;
const IN_GROUPS_BY_POINTS = /^[+-]?[1-9]\d{0,2}(\.\d{3})+$/;

export interface NumberText {
  /** The number that a text means, with a point and without groups; null for none. */
  read(text: string): string | null;
  /** The text of a number with a point. `read` returns the number again. */
  write(digits: string): string;
  /** A text that users see, without the groups that programs would take for a fraction: 1.234 is 1234. */
  plain(shown: string): string;
}

/** How a locale, by default the reader's own, writes numbers. */
export function numberText(locale?: string): NumberText {
  const parts = new Intl.NumberFormat(locale).formatToParts(-12345.5);
  const group = parts.find(({ type }) => type === 'group')?.value ?? ',';
  const point = parts.find(({ type }) => type === 'decimal')?.value ?? '.';
  return {
    read(text) {
      const bare = text.replace(/[\s\u00a0\u202f]/g, '').replace('\u2212', '-');
      const local = bare.replaceAll(group, '').replace(point, '.');
      // "1.5" is a number to programs everywhere, even where the locale groups by points. Three digits after a point are
      // a group.
      const plain = group === '.' && IN_GROUPS_BY_POINTS.test(bare) ? local : DECIMAL.test(bare) ? bare : local;
      return DECIMAL.test(plain) ? plain : null;
    },
    plain: (shown) => (group === '.' && IN_GROUPS_BY_POINTS.test(shown.replace('\u2212', '-')) ? shown.replaceAll('.', '') : shown),
    write: (digits) => (point === ',' ? digits.replace('.', ',') : digits),
  };
}

/** Digits as JSON wants them: no plus, no leading zeros, a digit on both sides of the point. */
export function jsonNumber(decimal: string): string {
  const [, sign = '', whole = '', fraction = '', power = ''] = /^([+-]?)(\d*)\.?(\d*)(e.*)?$/i.exec(decimal) ?? [];
  const digits = whole.replace(/^0+(?=\d)/, '') || '0';
  return `${sign === '-' ? '-' : ''}${digits}${fraction && `.${fraction}`}${power}`;
}
