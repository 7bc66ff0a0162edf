import { signal } from '@preact/signals';
import { describe, expect, it } from 'vitest';
import type { Row } from '../src/fields/values';
import { Arranging } from '../src/grid/arranging';
import { moveEntries } from '../src/grid/move-entries';
import type { Actions } from '../src/project/actions';
import { Checked } from '../src/project/checked';
import type { ProjectModel } from '../src/project/model';
import { Layout, type Group } from '../src/rows/layout';
import { RowStore } from '../src/rows/store';
import type { Rectangle } from '../src/selection/range';
import { field } from './fields';

const row = (num: number): Row => ({ num, version: 1, values: { num, name: `Row ${num}` } });
const rowsFrom = (top: number, bottom: number): Rectangle => ({ top, bottom, left: 0, right: 0 });

/** Six rows, 1 to 6, in a manual order, and the placements that were asked for. */
function six({ checks = [], ranges = [], canPlace = true }: { readonly checks?: readonly number[]; readonly ranges?: readonly Rectangle[]; readonly canPlace?: boolean } = {}) {
  const rows = new RowStore(() => new Promise(() => undefined), { pageSize: 6 });
  rows.reset(Layout.ofOneRun(null, 6));
  rows.seed({ key: '', filter: null, count: 6 }, [1, 2, 3, 4, 5, 6].map(row));
  const checked = new Checked();
  checked.set(checks, true);
  const asked: unknown[] = [];
  const model = {
    rows,
    checked,
    ranges,
    canPlace,
    canEdit: true,
    view: signal({ manual: 'v1', groups: [] }),
    get checkedNums() {
      return [...checked.nums.peek()];
    },
    issuesOf: (nums: readonly number[]) => Promise.resolve(nums.map(row)),
    issuesIn: (first: number, last: number) => Promise.resolve(Array.from({ length: last - first + 1 }, (_, at) => row(first + at + 1))),
    editor: {
      apply: ({ places }: { readonly places: { readonly forth: readonly unknown[] } }) => {
        asked.push(...places.forth);
        return Promise.resolve({ problems: [] });
      },
    },
  } as unknown as ProjectModel;
  const outcome = signal('');
  return { arranging: new Arranging(model, { outcome, reporting: (act: () => Promise<void>) => act() } as unknown as Actions, () => undefined), asked, outcome };
}

const textsOf = (arranging: Arranging, at: number) => moveEntries(arranging.mover(at)).map(({ text, disabled }) => (disabled ? `(${text})` : text));

describe('rows move by one', () => {
  it('with the selected ones if they are selected, and with the checked ones if they are checked', async () => {
    const selected = six({ ranges: [rowsFrom(1, 2)], checks: [5] });
    await selected.arranging.step(2, 1);
    await selected.arranging.step(3, -1);
    await selected.arranging.step(4, -1);
    expect(selected.asked).toEqual([
      { nums: [2, 3], anchor: { after: 4 } },
      { nums: [4], anchor: { before: 3 } },
      { nums: [5], anchor: { before: 4 } },
    ]);
    const checked = six({ checks: [5, 3], ranges: [rowsFrom(2, 2)] });
    await checked.arranging.step(2, -1);
    await checked.arranging.step(4, 1);
    expect(checked.asked).toEqual([
      { nums: [3, 5], anchor: { before: 2 } },
      { nums: [3, 5], anchor: { after: 6 } },
    ]);
  });

  it('not over the first and last row, as the status line reports', async () => {
    const { arranging, asked, outcome } = six();
    await arranging.step(0, -1);
    expect(outcome.value).toBe('The rows are at the beginning already.');
    await arranging.step(5, 1);
    expect(outcome.value).toBe('The rows are at the end already.');
    expect(asked).toEqual([]);
  });
});

describe('the menu of a row', () => {
  it('moves it, or the rows that move with it, where there is a place', () => {
    expect(textsOf(six().arranging, 3)).toEqual(['Move up', 'Move down']);
    expect(textsOf(six().arranging, 0)).toEqual(['(Move up)', 'Move down']);
    expect(textsOf(six({ ranges: [rowsFrom(3, 5)] }).arranging, 4)).toEqual(['Move 3 rows up', '(Move 3 rows down)']);
    expect(textsOf(six({ checks: [1, 4] }).arranging, 3)).toEqual(['(Move 2 rows up)', 'Move 2 rows down']);
    expect(textsOf(six({ checks: [1, 4] }).arranging, 4)).toEqual(['Move up', 'Move down']);
  });

  it('has no such entries without a manual order that the user may change, nor for a row without a place', () => {
    expect(textsOf(six({ canPlace: false }).arranging, 3)).toEqual([]);
    expect(textsOf(six().arranging, 9)).toEqual([]);
  });
});

it('rows that are dragged into another group replace the value that the user saw when the drag began', async () => {
  const group = (key: string): Group => ({ key, depth: 0, field: 'kind', value: key, values: [key], filter: null, count: 1, open: true, figures: [] });
  const runs = ['a', 'b'].map((key) => ({ key: `/${key}`, filter: null, count: 1 }));
  const rows = new RowStore(() => new Promise(() => undefined), { pageSize: 6 });
  rows.reset(new Layout(runs.flatMap((run) => [{ kind: 'group', group: group(run.key.slice(1)) } as const, { kind: 'run', run } as const])));
  for (const [at, run] of runs.entries()) rows.seed(run, [{ num: at + 1, version: 1, values: { kind: run.key.slice(1) } }]);
  const asked: unknown[] = [];
  const model = {
    rows,
    ranges: [],
    checked: new Checked(),
    canPlace: true,
    canEdit: true,
    fields: [field('kind')],
    field: () => field('kind'),
    view: signal({ manual: 'v1', groups: [{ field: 'kind', unit: null }] }),
    hold: () => () => undefined,
    issuesIn: (at: number) => Promise.resolve([rows.at(at)].flatMap((slot) => (slot.kind === 'issue' ? [slot.row] : []))),
    editor: {
      apply: ({ edits }: { readonly edits: readonly unknown[] }, seen: ReadonlyMap<number, number>) => {
        asked.push(...edits, [...seen]);
        return Promise.resolve({ problems: [] });
      },
    },
  } as unknown as ProjectModel;
  const actions = { outcome: signal(''), reporting: (act: () => Promise<void>) => act() } as unknown as Actions;
  const arranging = new Arranging(model, actions, () => undefined);
  arranging.start(1);
  // Another user changes it, while it stays where it is.
  rows.replace(1, (row) => ({ ...row, version: 2, values: { kind: 'c' } }));
  expect(arranging.over({ row: 3, side: 'after' })).not.toBeNull();
  await arranging.drop();
  expect(asked).toEqual([{ num: 1, field: 'kind', before: 'a', after: 'b' }, [[1, 1]]]);
});
