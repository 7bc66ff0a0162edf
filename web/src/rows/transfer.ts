/** The rows of a run that are held, after some of them have gone to other places. Pure. */
import type { Row } from '../fields/values';

/** Rows that come into a run, before the row that has been at this offset. */
export interface Arriving {
  readonly before: number;
  readonly rows: readonly Row[];
}

/** The held rows of a run by their offsets, without the issues in `gone`, and with the arriving ones. */
export function transferred(held: ReadonlyMap<number, Row>, gone: ReadonlySet<number>, arriving: Arriving | null): ReadonlyMap<number, Row> {
  const found = new Map<number, Row>();
  const { before = Infinity, rows = [] } = arriving ?? {};
  let start = before;
  let left = 0;
  for (const [offset, row] of [...held].sort(([a], [b]) => a - b)) {
    if (gone.has(row.num)) {
      left += 1;
      if (offset < before) start = before - left;
      continue;
    }
    found.set(offset - left + (offset < before ? 0 : rows.length), row);
  }
  for (const [place, row] of rows.entries()) found.set(start + place, row);
  return found;
}
