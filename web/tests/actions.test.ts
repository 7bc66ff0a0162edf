import { LosslessNumber } from 'lossless-json';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { NO_CHANGE, type Change } from '../src/edits/change';
import type { Outcome } from '../src/edits/editor';
import type { Row } from '../src/fields/values';
import { Actions } from '../src/project/actions';
import type { ProjectModel } from '../src/project/model';
import { Layout } from '../src/rows/layout';
import { OfflineError } from '../src/api/problem';
import { targetsOf } from '../src/rows/targets';
import type { Rectangle } from '../src/selection/range';
import { words } from '../src/words';
import { field } from './fields';

const NUM = { ...field('num', 'number'), editable: false, custom: false };
const NAME = { ...field('name'), required: true, custom: false };
const FIELDS = [NUM, NAME, field('cost', 'number'), field('note')];
const FIRST: Row = { num: 9, version: 1, values: { num: 9, name: 'Girder', note: 'wet' } };
const ROWS = 1_000;

/** A project with many rows, of which only the first can be read. */
function projectOf(range: Rectangle, runs = 1) {
  const pieces = Array.from({ length: runs }, (_, at) => ({ kind: 'run', run: { key: String(at), filter: null, count: ROWS / runs } }) as const);
  const layout = new Layout(pieces);
  const changeMany = vi.fn(() => Promise.resolve(true));
  const apply = vi.fn();
  const model = {
    range,
    ranges: [range],
    canEdit: true,
    fields: FIELDS,
    fieldAt: (column: number) => FIELDS[column],
    issuesIn: (first: number, last: number) => (last > first ? Promise.reject(new Error('Too many rows are read.')) : Promise.resolve([FIRST])),
    selectedTargets: () => targetsOf(layout, range.top, range.bottom),
    targets: ({ first, last }: { first: number; last: number }) => targetsOf(layout, first, last),
    changes: { begin: changeMany },
    drafts: [],
    editor: { apply },
  } as unknown as ProjectModel;
  return { actions: new Actions(model), changeMany, apply };
}

/** Start an action, and answer its question. */
async function answered(actions: Actions, act: () => Promise<void>, yes = true): Promise<string | null> {
  const acting = act();
  await vi.waitFor(() => expect(actions.question.value !== null || actions.outcome.value !== '').toBe(true));
  const title = actions.question.value?.title ?? null;
  actions.question.value?.answer(yes);
  await acting;
  return title;
}

const rows = (top: number, bottom: number, left: number, right = left): Rectangle => ({ top, bottom, left, right });

describe('an action on more rows than one request can write', () => {
  const some = [{ filter: null, rows: { from: 0, to: 500 }, count: 501 }];

  it('clears them by a job, only in editable fields', async () => {
    const { actions, changeMany, apply } = projectOf(rows(0, 500, 2, 3));
    expect(await answered(actions, () => actions.clear())).toBe('Change 501 issues');
    expect(changeMany).toHaveBeenCalledWith({ targets: some, set: { fields: { cost: null, note: null } } });
    expect(apply).not.toHaveBeenCalled();
  });

  it('does not clear required fields', async () => {
    const { actions, changeMany } = projectOf(rows(0, 500, 0, 2));
    expect(await answered(actions, () => actions.clear())).toBeNull();
    expect(actions.outcome.value).toBe('name needs a value.');
    expect(changeMany).not.toHaveBeenCalled();
  });

  it('pastes one value, or fills down the first row, by a job', async () => {
    const pasted = projectOf(rows(0, 500, 0, 2));
    await answered(pasted.actions, () => pasted.actions.paste('12.5'));
    expect(pasted.changeMany).toHaveBeenCalledWith({ targets: some, set: { name: '12.5', fields: { cost: new LosslessNumber('12.5') } } });
    const filled = projectOf(rows(0, 999, 2, 3));
    await answered(filled.actions, () => filled.actions.fillDown());
    expect(filled.changeMany).toHaveBeenCalledWith({ targets: [{ filter: null, rows: null, count: ROWS }], set: { fields: { cost: null, note: 'wet' } } });
  });

  it('deletes them by a job after confirmation', async () => {
    const { actions, changeMany } = projectOf(rows(0, 500, 0));
    expect(await answered(actions, () => actions.remove(), false)).toBe('Delete 501 issues?');
    expect(changeMany).not.toHaveBeenCalled();
    await answered(actions, () => actions.remove());
    expect(changeMany).toHaveBeenCalledWith({ targets: some, set: null });
  });

  it('is refused for more groups than a project can have jobs', async () => {
    const { actions, changeMany } = projectOf(rows(0, 999, 2), 20);
    expect(await answered(actions, () => actions.clear())).toBeNull();
    expect(actions.outcome.value).toBe('The selection has more than 10 groups. Select fewer groups, or use a filter.');
    expect(changeMany).not.toHaveBeenCalled();
  });
});

describe('values that do not fit their field', () => {
  /** A project of one row; its editor creates each new issue under the next number. */
  function small(range: Rectangle) {
    const refuse = vi.fn();
    const apply = vi.fn(({ made = [] }: Partial<Change>) =>
      Promise.resolve({ taken: { ...NO_CHANGE, made: made.map((issue, at) => ({ ...issue, num: 10 + at })) }, problems: [] }),
    );
    const model = {
      range,
      canEdit: true,
      fields: FIELDS,
      fieldAt: (column: number) => FIELDS[column],
      issuesIn: () => Promise.resolve([FIRST]),
      issuesFrom: () => Promise.resolve([FIRST]),
      rows: { held: () => undefined, indexOf: () => 0 },
      selection: { value: null },
      editor: { apply, refuse },
      undoOffer: { deleted: () => false },
    } as unknown as ProjectModel;
    return { actions: new Actions(model), apply, refuse };
  }

  it('are marked in new and in changed rows of a paste', async () => {
    const { actions, apply, refuse } = small(rows(0, 0, 1, 2));
    await answered(actions, () => actions.paste('Beam\tn/a\nBolt\t12\n\tnone\nPlate\t\n'));
    expect(apply.mock.calls[0]?.[0].made?.map(({ body }) => body)).toEqual([
      { name: 'Bolt', fields: { cost: new LosslessNumber('12') } },
      { name: 'New issue' },
      { name: 'Plate' },
    ]);
    expect(refuse.mock.calls).toEqual([
      [9, 'cost', 'n/a', 'Not a number. Enter digits, such as 1200.5.'],
      [11, 'cost', 'none', 'Not a number. Enter digits, such as 1200.5.'],
    ]);
  });

  it('are marked when a fill reaches a cell of another type', async () => {
    const { actions, refuse } = small(rows(0, 0, 2, 3));
    await actions.fill(rows(0, 0, 3), rows(0, 0, 2, 3));
    expect(refuse.mock.calls).toEqual([[9, 'cost', 'wet', 'Not a number. Enter digits, such as 1200.5.']]);
  });
});

describe('rows that cannot be read', () => {
  /** A project of which only the first row can be read: the server does not answer for the others. */
  function cutOff(ranges: readonly Rectangle[], isReachable = (first: number) => first === 0) {
    const apply = vi.fn<(change: Partial<Change>) => Promise<Outcome>>(() => Promise.resolve({ taken: NO_CHANGE, problems: [] }));
    const refuse = vi.fn();
    const extend = vi.fn();
    const model = {
      range: ranges.at(-1),
      ranges,
      canEdit: true,
      fields: FIELDS,
      drafts: [],
      fieldAt: (column: number) => FIELDS[column],
      rows: { held: () => undefined, at: () => ({ kind: 'issue', row: FIRST }), indexOf: () => 0 },
      checked: { origin: 9, extend },
      issuesIn: (first: number, last: number) => (isReachable(first) && first === last ? Promise.resolve([FIRST]) : Promise.reject(new OfflineError('away'))),
      issuesFrom: (first: number, count: number) => (isReachable(first) && count === 1 ? Promise.resolve([FIRST]) : Promise.reject(new OfflineError('away'))),
      editor: { apply, refuse },
    } as unknown as ProjectModel;
    return { actions: new Actions(model), apply, refuse, extend };
  }

  const TWO = [rows(0, 0, 1, 2), rows(5, 6, 1, 2)];
  it.each<[string, (actions: Actions) => Promise<void>]>([
    ['a paste', (actions) => actions.paste('Beam\t12\nBolt\t13')],
    ['a paste of one value', (actions) => actions.paste('none')],
    ['clear', (actions) => actions.clear()],
    ['a fill', (actions) => actions.fill(rows(0, 0, 2), rows(0, 6, 2))],
    ['a fill by a job', (actions) => actions.fill(rows(5, 5, 2), rows(5, 905, 2))],
    ['fill down', (actions) => actions.fillDown()],
    ['delete', (actions) => actions.remove()],
    ['check', (actions) => actions.check(5, true)],
  ])('are reported by %s, which changes and marks nothing', async (_, act) => {
    const { actions, apply, refuse, extend } = cutOff(TWO);
    await act(actions);
    expect(actions.outcome.value).toBe(words.refusal.offlineWhy);
    for (const changing of [apply, refuse, extend]) expect(changing).not.toHaveBeenCalled();
  });

  it('leave no range of several filled down alone', async () => {
    const issues = [rows(0, 1, 2), rows(5, 6, 2)];
    const { actions, apply } = cutOff(issues, (first) => first === 0);
    await actions.fillDown();
    expect(apply).not.toHaveBeenCalled();
  });

  it('are reported by copy', async () => {
    vi.stubGlobal('navigator', { clipboard: { write: () => Promise.reject(new Error('no content')) } });
    vi.stubGlobal('ClipboardItem', vi.fn());
    const { actions } = cutOff([rows(5, 6, 1)]);
    await actions.copy();
    expect(actions.outcome.value).toBe(words.refusal.offlineWhy);
    vi.unstubAllGlobals();
  });
});

describe('a paste that asks the user', () => {
  it('replaces the values that the rows have when the user answers', async () => {
    const apply = vi.fn<(change: Partial<Change>) => Promise<Outcome>>(() => Promise.resolve({ taken: NO_CHANGE, problems: [] }));
    const now = { ...FIRST, version: 2, values: { ...FIRST.values, name: 'theirs' } };
    const model = {
      range: rows(0, 0, 1),
      canEdit: true,
      fields: FIELDS,
      fieldAt: (column: number) => FIELDS[column],
      issuesFrom: () => Promise.resolve([FIRST]),
      rows: { held: () => now, indexOf: () => 0 },
      selection: { value: null },
      editor: { apply },
      undoOffer: { deleted: () => false },
    } as unknown as ProjectModel;
    const actions = new Actions(model);
    await answered(actions, () => actions.paste('Beam\nBolt'));
    expect(apply.mock.calls[0]?.[0].edits).toMatchObject([{ before: 'theirs', after: 'Beam' }]);
  });
});

describe('a fill', () => {
  const screen = (head: number): readonly (Row | null)[] => (head < 0 ? issues : [...issues.slice(0, head), null, ...issues.slice(head)]);
  const issues: readonly Row[] = [1, 2, 3, 4].map((num) => ({ num, version: 1, values: { num, name: 'Beam', cost: num * 10, note: 'dry' } }));
  /** `head`: the row that is the head of a group. */
  const filled = async (source: Rectangle, target: Rectangle, continues: boolean, head = -1) => {
    const apply = vi.fn((change: Partial<Change>) => Promise.resolve({ taken: { ...NO_CHANGE, ...change }, problems: [] }));
    const model = {
      canEdit: true,
      fieldAt: (column: number) => FIELDS[column],
      issuesIn: (first: number, last: number) => Promise.resolve(screen(head).slice(first, last + 1).filter((row) => row !== null)),
      editor: { apply },
    } as unknown as ProjectModel;
    await new Actions(model).fill(source, target, { continues });
    return apply.mock.calls[0]?.[0].edits?.map(({ num, field: id, after }) => `${num} ${id} ${String(after)}`);
  };

  it('by the handle continues a constant step, in each column that has one', async () => {
    expect(await filled(rows(0, 1, 2, 3), rows(0, 3, 2, 3), true)).toEqual(['3 cost 30', '3 note dry', '4 cost 40', '4 note dry']);
    expect(await filled(rows(2, 3, 2), rows(0, 3, 2), true)).toEqual(['1 cost 10', '2 cost 20']);
  });

  it('otherwise repeats the cells, and so does one of a single row', async () => {
    expect(await filled(rows(0, 1, 2), rows(0, 3, 2), false)).toEqual(['3 cost 10', '4 cost 20']);
    expect(await filled(rows(0, 0, 2), rows(0, 2, 2), true)).toEqual(['2 cost 10', '3 cost 10']);
  });

  it('counts issues, also across the head of a group', async () => {
    expect(await filled(rows(0, 1, 2), rows(0, 4, 2), true, 2)).toEqual(['3 cost 30', '4 cost 40']);
    expect(await filled(rows(0, 2, 2), rows(0, 4, 2), false, 1)).toEqual(['3 cost 10', '4 cost 20']);
    expect(await filled(rows(3, 4, 2), rows(0, 4, 2), false, 1)).toEqual(['1 cost 30', '2 cost 40']);
    expect(await filled(rows(0, 4, 2), rows(0, 4, 2, 3), false, 2)).toEqual(['1 note 10', '2 note 20', '3 note 30', '4 note 40']);
  });
});

describe('cut', () => {
  afterEach(() => vi.unstubAllGlobals());

  it.each([
    ['clears what was copied, as one change', () => Promise.resolve(), 'Cut 1 row.', 1],
    ['clears nothing that could not be copied', () => Promise.reject(new Error('not allowed')), 'Could not copy the cells. Allow this page to use the clipboard.', 0],
  ])('%s', async (_, write, said, changes) => {
    vi.stubGlobal('navigator', { clipboard: { write } });
    vi.stubGlobal('ClipboardItem', vi.fn());
    const { actions, apply } = projectOf(rows(0, 0, 2, 3));
    await actions.cut();
    expect(actions.outcome.value).toBe(said);
    const edits = ['cost', 'note'].map((field) => expect.objectContaining({ num: 9, field, after: null }) as unknown);
    expect(apply.mock.calls).toEqual(changes ? [[{ edits }]] : []);
  });
});
