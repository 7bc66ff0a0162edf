/** Days of the calendar, and their digits. Pure. */

export function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}

/** A day as ISO has it. Months are from 1. */
export function isoDay(year: number, month: number, day: number): string {
  return `${String(year).padStart(4, '0')}-${twoDigits(month)}-${twoDigits(day)}`;
}

/** The day as ISO has it; null if the calendar does not have it. */
export function realDay(year: number, month: number, day: number): string | null {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const isReal = year >= 1 && year <= 9999 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isReal ? isoDay(year, month, day) : null;
}

/** A year that may be written with its last two digits, as spreadsheets read it. */
export function fullYear(year: number): number {
  return year < 50 ? 2000 + year : year < 100 ? 1900 + year : year;
}
