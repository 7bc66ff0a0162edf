/** Numbers as texts that users of a locale type and read. All digits are kept. Pure. */

const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,4})?$/i;
const IN_GROUPS_BY_POINTS = /^[+-]?\d{1,3}(\.\d{3})+$/;

export interface NumberText {
  /** The number that a text means, with a point and without groups; null for none. */
  read(text: string): string | null;
  /** The text of a number with a point. `read` returns the number again. */
  write(digits: string): string;
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
    write: (digits) => (point === ',' ? digits.replace('.', ',') : digits),
  };
}
