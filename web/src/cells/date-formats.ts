/** The formats in which the page shows dates and points in time. Pure. */

export type DateStyle = 'short' | 'medium' | 'long';

export interface DateFormats {
  /** Of days, which have no time zone. */
  readonly dates: Readonly<Record<DateStyle, Intl.DateTimeFormat>>;
  /** In the reader's own time zone. */
  readonly datetimes: Readonly<Record<DateStyle, Intl.DateTimeFormat>>;
}

/** By default in the reader's own locale. */
export function dateFormats(locale?: string): DateFormats {
  const dated = (dateStyle: DateStyle) => new Intl.DateTimeFormat(locale, { dateStyle, timeZone: 'UTC' });
  const timed = (dateStyle: DateStyle, timeStyle: DateStyle) => new Intl.DateTimeFormat(locale, { dateStyle, timeStyle });
  return {
    dates: { short: dated('short'), medium: dated('medium'), long: dated('long') },
    datetimes: { short: timed('short', 'short'), medium: timed('medium', 'short'), long: timed('long', 'medium') },
  };
}
