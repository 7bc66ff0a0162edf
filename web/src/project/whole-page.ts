/** Pages of rows. The API ends a page early if its rows are large. Pure. */

export interface PagePart<T> {
  readonly rows: readonly T[];
  /** Whether these are the last rows of the query. */
  readonly end: boolean;
}

/**
 * The rows at `limit` places from `offset` on, in as many requests as they need. `read` requests rows at places.
 *
 * A part is also short if it leaves rows out that have moved. The next part then begins too early, and repeats rows.
 */
export async function wholePage<T extends { readonly num: number }>(
  read: (offset: number, limit: number) => Promise<PagePart<T>>,
  offset: number,
  limit: number,
): Promise<PagePart<T>> {
  const found = new Map<number, T>();
  for (let done = 0; ; ) {
    const { rows, end } = await read(offset + done, limit - done);
    for (const row of rows) found.set(row.num, row);
    done += rows.length;
    if (end || !rows.length || done >= limit) return { rows: [...found.values()], end };
  }
}
