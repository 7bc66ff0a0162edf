/** Placements of rows in the manual order of a view. */
import type { Api } from '../api/client';

/** The place of rows: before or after an issue, or at the end (before null) or the beginning (after null) of the order. */
export type Anchor = { readonly before: number | null } | { readonly after: number | null };

/** Issues that are placed together, in this order. */
export interface Placing {
  readonly nums: readonly number[];
  readonly anchor: Anchor;
}

/** The placements of one step, and the ones that reverse it. */
export interface Arrangement {
  /** The view with the order. */
  readonly view: string;
  readonly forth: readonly Placing[];
  readonly back: readonly Placing[];
}

/** A row that was placed: its key in the order, and its version. */
export interface Placed {
  readonly num: number;
  readonly key: string;
  readonly version: number;
}

/** The arrangement that reverses another one. */
export function unarranged({ view, forth, back }: Arrangement): Arrangement {
  return { view, forth: back, back: forth };
}

/** The arrangement with other numbers of issues. */
export function arrangedWith({ view, forth, back }: Arrangement, numbers: ReadonlyMap<number, number>): Arrangement {
  const now = (num: number) => numbers.get(num) ?? num;
  const anchored = (num: number | null) => (num === null ? null : now(num));
  const placing = ({ nums, anchor }: Placing): Placing => ({
    nums: nums.map(now),
    anchor: 'before' in anchor ? { before: anchored(anchor.before) } : { after: anchored(anchor.after) },
  });
  return { view, forth: forth.map(placing), back: back.map(placing) };
}

/** Place up to 500 rows. Sent again under the same key, they are placed once. Issues that do not exist are left out. */
export async function placeRows(
  api: Api,
  project: string,
  view: string,
  { nums, anchor }: Placing,
  { change, key }: { readonly change: string; readonly key: string },
): Promise<readonly Placed[]> {
  const { body } = await api.call('POST', '/v1/projects/{project}/views/{view}/order', {
    path: { project, view },
    body: { nums: [...nums], ...anchor },
    headers: { 'Idempotency-Key': key, 'X-Change-Id': change },
  });
  return body.items;
}
