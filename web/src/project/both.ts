/** The two places of the page that show an issue, as one. */
import type { HeldRows } from '../edits/editor';

/**
 * The rows of the grid and the issue in the panel: an edit is shown in both, and written under the earlier of their
 * versions. The user may not have seen the later one.
 */
export function bothOf(rows: HeldRows, issue: HeldRows): HeldRows {
  return {
    held: (num) => {
      const [one, other] = [rows.held(num), issue.held(num)];
      return one && other ? (one.version > other.version ? other : one) : (one ?? other);
    },
    place: (places) => rows.place?.(places) ?? (() => undefined),
    replace: (num, change) => {
      rows.replace(num, change);
      issue.replace(num, change);
    },
  };
}
