/**
 * Prevents a spreadsheet from running a user's text as a formula. Pure.
 *
 * The API does the same (`csv_lines.py`, which says why), and tests hold both to
 * `tests/unit/maintenance/golden/csv_lines.json`.
 */
const BLANK = ' \\u00a0\\u3000\\ufeff';
const SIGN = '+\\-\\uff0b\\uff0d';
const SEPARATOR = /([;\t\r\n])/;
const FORMULA = new RegExp(`^[${BLANK}"]*[=@${SIGN}\\uff1d\\uff20]`);
const NUMBER = /^[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
/** A sign, a blank and words, without what a call needs. */
const ITEM = new RegExp(
  `^[${BLANK}]*[${SIGN}][${BLANK}]+[A-Za-z*\\[\\u00a1-\\u2fff\\u3001-\\ufdff\\u{10000}-\\u{10ffff}][^(|!\\uff08\\uff5c\\uff01]*$`,
  'u',
);
const RUN_AT_THE_START = /^[\t\r\n]/;
const QUOTED = new RegExp(`[",;\\t\\r\\n]|^[${BLANK}]|[${BLANK}]$`);

/** The text with an apostrophe before each part that a spreadsheet would run, and before a first tab or line break. */
export function guarded(text: string): string {
  const safe = text.split(SEPARATOR).map((part, at) => (runs(part, at > 0) ? `'${part}` : part));
  return (RUN_AT_THE_START.test(text) ? "'" : '') + safe.join('');
}

function runs(part: string, follows: boolean): boolean {
  return FORMULA.test(part) && !NUMBER.test(part) && !(follows && ITEM.test(part));
}

/** A cell as a line of CSV has it. */
export function quoted(cell: string): string {
  return QUOTED.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
