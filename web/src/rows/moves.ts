/** How rows in view have moved. Pure. */

/** The present row of the issue that was in a row of the screen; undefined if it is not held, or no issue was there. */
export type Moved = (before: number) => number | undefined;

/** Whether the user has moved them. */
export interface Moving {
  readonly isOwn: boolean;
}

/** The number of rows by which most of the rows in view have moved; a single row that moved far away does not count. */
export function commonShift({ first, last }: { readonly first: number; readonly last: number }, now: Moved): number {
  const counts = new Map<number, number>();
  for (let index = first; index <= last; index += 1) {
    const by = (now(index) ?? NaN) - index;
    if (!Number.isNaN(by)) counts.set(by, (counts.get(by) ?? 0) + 1);
  }
  const [most = [0, 0]] = [...counts].sort(([one, ones], [other, others]) => others - ones || Math.abs(one) - Math.abs(other));
  return most[0];
}
