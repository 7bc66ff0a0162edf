/** Places rows in the manual order of the open view, as one step of undo with the edits that go with it. */
import type { CellEdit } from '../edits/change';
import type { Anchor } from '../edits/placing';
import type { ProblemDocument } from '../api/problem';
import type { ProjectModel } from '../project/model';
import { placingsBack } from './back';
import { manualWords as words } from './words';

export interface Wanted {
  /** In their order. */
  readonly nums: readonly number[];
  readonly anchor: Anchor;
  readonly edits: readonly CellEdit[];
  /** The versions of the rows in which the user saw the values before. */
  readonly seen?: ReadonlyMap<number, number>;
}

/** Returns why the rows were not placed; null if they are. They are shown in place at once. */
export async function placeRows(model: ProjectModel, { nums, anchor, edits, seen }: Wanted): Promise<string | null> {
  const { manual: view } = model.view.peek();
  if (view === null || !model.canEdit) return null;
  const { rows } = model;
  const spots = nums.flatMap((num) => {
    const place = rows.placeOf(num);
    return place ? [{ num, run: place.run.key, offset: place.offset }] : [];
  });
  const back = placingsBack(spots, (run, offset) => {
    const slot = offset < 0 ? null : rows.inRun(run, offset);
    return slot?.kind === 'issue' ? slot.row.num : null;
  });
  const { problems } = await model.editor.apply({ edits, places: { view, forth: [{ nums, anchor }], back } }, seen);
  const [problem] = problems;
  return problem ? reasonOf(problem) : null;
}

function reasonOf({ type, title, detail }: ProblemDocument): string {
  if (type.endsWith('anchor-gone')) return words.gone;
  if (type.endsWith('index-building')) return words.building;
  return words.refused(detail ?? title);
}
