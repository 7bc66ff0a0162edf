/** The marks in numbers as locales write them. Pure. */

export interface NumberMarks {
  readonly group: string;
  readonly point: string;
}

/** The marks of a format. Currencies may have others than plain numbers: `1 234` and `€ 1.234` in Austria. */
export function marksOf(format: Intl.NumberFormat): NumberMarks {
  // Some locales group from five digits on.
  const parts = format.formatToParts(-1234567.5);
  const mark = (type: 'group' | 'decimal') => parts.find((part) => part.type === type)?.value;
  return { group: mark('group') ?? ',', point: mark('decimal') ?? '.' };
}
