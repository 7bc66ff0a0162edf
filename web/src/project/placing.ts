/** Shows rows where they are being placed in a manual order, before the API has them there. */
import type { Placing } from '../edits/placing';
import { recounted, type Levels } from '../rows/groups';
import type { Layout } from '../rows/layout';
import type { RowStore } from '../rows/store';

/** The rows, and the groups that they are in. */
export interface Shown {
  readonly rows: RowStore;
  readonly levels: () => Levels;
  readonly layout: (levels: Levels) => Layout;
  /** Show groups with other counts, in the layout that the rows have already. */
  readonly recount: (levels: Levels) => void;
  /** The key of a run whose rows stay where they are. */
  readonly fixed: string;
}

/** Show rows beside their anchor. If that is not held, nothing changes until they are read again. */
export function showPlaced({ rows, levels, layout, recount, fixed }: Shown, { nums, anchor }: Placing): void {
  const isBefore = 'before' in anchor;
  const place = rows.placeOf((isBefore ? anchor.before : anchor.after) ?? 0);
  const found = nums.flatMap((num) => {
    const from = rows.placeOf(num);
    return from && from.run.key !== fixed ? [{ num, run: from.run.key }] : [];
  });
  if (!place || place.run.key === fixed || !found.length) return;
  const changes = new Map<string, number>();
  for (const [key, by] of found.flatMap(({ run }) => [[run, -1], [place.run.key, 1]] as const)) {
    // The key of a run is that of its group after a slash.
    changes.set(key.slice(1), (changes.get(key.slice(1)) ?? 0) + by);
  }
  const after = recounted(levels(), changes);
  rows.transfer(found.map(({ num }) => num), { run: place.run.key, before: place.offset + (isBefore ? 0 : 1) }, layout(after));
  recount(after);
}
