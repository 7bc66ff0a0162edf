/** The bars of a histogram: the ranges or periods of a field, and the place of each on the axis. Pure. */
import type { Filter } from '../api/types';
import type { Field } from '../fields/fields';
import { isRange, type CellValue, type GroupValue } from '../fields/values';
import type { GroupKey } from './view';

/** The number of bars to which the width of ranges is closest. */
const BARS = 12;
/** With more places than this between the first bar and the last, empty ones are left out. */
const MAX_PLACES = 60;
const DAY = 86_400_000;
/** Days up to which a span is drawn in days, and in months. */
const MAX_DAYS = 31;
const MAX_DAYS_OF_MONTHS = 1_100;

export interface Bar {
  readonly value: GroupValue;
  readonly count: number;
  /** The filter that selects its issues; null if no request can. */
  readonly filter: Filter | null;
}

/** The key by which the values between the least and the greatest are grouped for a histogram. */
export function keyOf({ id, type }: Field, least: CellValue, greatest: CellValue): GroupKey {
  if (type !== 'number') return { field: id, unit: unitOf(String(least), String(greatest)) };
  const width = widthOf(Number(least), Number(greatest));
  return { field: id, unit: null, ...(width !== null && { width: String(width) }) };
}

/** A round width that gives about 12 ranges; null if all numbers are the same. Between whole numbers the width is whole. */
export function widthOf(least: number, greatest: number): number | null {
  const span = greatest - least;
  if (!(span > 0) || !Number.isFinite(span)) return null;
  const power = Math.floor(Math.log10(span / BARS));
  // Text makes exact decimals of these.
  const rounds = [power, power + 1].flatMap((exponent) => [1, 2, 5].map((digit) => Number(`${digit}e${exponent}`)));
  const off = (width: number) => Math.abs(Math.log((Math.floor(greatest / width) - Math.floor(least / width) + 1) / BARS));
  const [best = 0] = rounds.sort((a, b) => off(a) - off(b));
  // Numbers from 0 to 1 are rather shares.
  const isWhole = Number.isInteger(least) && Number.isInteger(greatest) && span > 1;
  return isWhole ? Math.max(1, best) : best;
}

function unitOf(least: string, greatest: string): 'day' | 'month' | 'year' {
  const days = (Date.parse(greatest) - Date.parse(least)) / DAY;
  return days <= MAX_DAYS ? 'day' : days <= MAX_DAYS_OF_MONTHS ? 'month' : 'year';
}

/** The bars with null for each empty place between them, unless there were too many of these. */
export function withGaps(bars: readonly Bar[], { width, unit }: GroupKey): readonly (Bar | null)[] {
  if (!bars.length) return bars;
  const places = bars.map(({ value }) => placeOf(value, width, unit));
  const [first = 0] = places;
  const length = (places.at(-1) ?? 0) - first + 1;
  if (!(length <= MAX_PLACES)) return bars;
  const all = new Array<Bar | null>(length).fill(null);
  bars.forEach((bar, at) => (all[(places[at] ?? 0) - first] = bar));
  return all;
}

/** The place of a range or period on the axis. Neighbors differ by one. */
function placeOf(value: GroupValue, width: string | undefined, unit: GroupKey['unit']): number {
  if (isRange(value)) return Math.round(Number(value.from) / Number(width));
  const [year = 0, month = 1, day = 1] = String(value).split('-').map(Number);
  if (unit === 'year') return year;
  return unit === 'month' ? year * 12 + month : Date.UTC(year, month - 1, day) / DAY;
}
