import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Api } from '../src/api/client';
import type { Filter, Project } from '../src/api/types';
import type { CellValue } from '../src/fields/values';
import { effectOfEdits } from '../src/live/events';
import { saved } from './views';

vi.hoisted(() => {
  const location = { pathname: '/', search: '' };
  const put = (_: unknown, __: string, target: string) => {
    const url = new URL(target, 'http://x');
    Object.assign(location, { pathname: url.pathname, search: url.search });
  };
  vi.stubGlobal('window', { location, history: { pushState: put, replaceState: put }, addEventListener: () => undefined });
});

const { go } = await import('../src/router');
const { ProjectModel } = await import('../src/project/model');
const { SavedViews } = await import('../src/project/saved-views');

const PROJECT = {
  id: 'demo', name: 'Demo', states: ['open', 'closed'].map((value) => ({ id: value, value, color: null })), issues: 4, version: 1, history: { enabled: true, days: 90 },
  attributes: [{ id: 'cost', name: 'Cost', type: 'number', required: false, default: null, options: [], format: null, indexed: true, formula: null, uses: [] }],
  created: '2023-05-01T12:00:00Z', updated: '2023-05-01T12:00:00Z', created_by: 'ann', updated_by: 'ann',
} as unknown as Project;

interface Stored {
  readonly num: number;
  readonly version: number;
  readonly name: string;
  readonly state: string;
  readonly fields: { readonly cost: number };
}

function passes(issue: Stored, filter: Filter | null | undefined): boolean {
  if (!filter) return true;
  if ('and' in filter) return filter.and.every((part) => passes(issue, part));
  if (!('field' in filter) || !('value' in filter)) return true;
  const value = filter.field === 'num' ? issue.num : issue.state;
  return Array.isArray(filter.value) ? filter.value.some((one) => one === value) : filter.value === value;
}

const closing: (() => void)[] = [];
beforeEach(() => vi.stubGlobal('document', { hidden: false, addEventListener: () => undefined, removeEventListener: () => undefined }));
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** An open project of four issues that cost 1 to 4; the last is closed. `mayAnswer` delays requests by the end of their path. */
function opened(view: string, mayAnswer: (end: string) => Promise<void> | undefined = () => undefined) {
  go(`/projects/demo?${view}`);
  const issues = new Map<number, Stored>([1, 2, 3, 4].map((num) => [num, { num, version: 1, name: `n${num}`, state: num < 4 ? 'open' : 'closed', fields: { cost: num } }]));
  const sum = (some: readonly Stored[]) => some.reduce((total, { fields }) => total + fields.cost, 0);
  const answer = (path: string, method: string | undefined, body: { filter?: Filter; state?: string; fields?: { cost: number }; offset?: number; limit?: number }): unknown => {
    const found = [...issues.values()].filter((issue) => passes(issue, body.filter));
    if (path.endsWith('/grid')) {
      const { offset = 0, limit = 100 } = body;
      return { rows: found.slice(offset, offset + limit), next: null, total: issues.size, matched: found.length, index: null, changes_cursor: null };
    }
    if (path.endsWith('/summary')) return { summaries: [{ sum: sum(found), avg: 0, min: 0, max: 0 }], changes_cursor: null };
    if (path.endsWith('/groups')) {
      const groups = ['open', 'closed'].map((state) => {
        const some = found.filter((issue) => issue.state === state);
        return { values: [state], count: some.length, filter: { field: 'state', op: 'eq', value: state }, aggregates: [{ field: 'cost', function: 'sum', value: sum(some) }] };
      });
      return { groups, next: null, changes_cursor: null };
    }
    if (path.endsWith('/order')) return { items: [] };
    const issue = issues.get(Number(path.split('/').at(-1)));
    if (!issue) return {};
    if (method === 'PATCH') issues.set(issue.num, { ...issue, state: body.state ?? issue.state, fields: body.fields ?? issue.fields, version: issue.version + 1 });
    return issues.get(issue.num);
  };
  const api = new Api({ sign: () => Promise.resolve(), expired: () => undefined }, async (address, request) => {
    const body = JSON.parse((request?.body as string | undefined) ?? '{}') as Parameters<typeof answer>[2];
    const [path = ''] = (address as string).split('?');
    await mayAnswer(`${request?.method ?? ''} ${path.split('/').at(-1) ?? ''}`);
    return Response.json(answer(path, request?.method, body));
  });
  const views = new SavedViews(api, PROJECT, { tenant: 't', user: 'ann', name: 'Ann', role: 'editor' }, [saved('v1', { manual_order: 'ready' })]);
  const model = new ProjectModel(api, views.project, views);
  model.show({ first: 0, last: 20 });
  closing.push(() => model.close());
  const group = (at: number) => model.groups.levels.value[0]?.[at];
  return {
    model,
    edit: (num: number, field: string, before: CellValue, after: CellValue) => model.editor.apply({ edits: [{ num, field, before, after }] }),
    total: () => model.summaries.values.value.get('cost'),
    counts: () => [group(0)?.count, group(1)?.count],
    figures: () => [group(0)?.figures[0]?.value, group(1)?.figures[0]?.value],
  };
}

describe('an own edit', () => {
  it('and its undo alter the summary below the column', async () => {
    const { model, edit, total } = opened('footers=cost:sum');
    await vi.waitFor(() => expect(total()).toMatchObject({ value: 10 }));
    await edit(1, 'cost', 1, 5);
    await vi.waitFor(() => expect(total()).toMatchObject({ value: 14 }));
    await model.editor.undo();
    await vi.waitFor(() => expect(total()).toMatchObject({ value: 10 }), 3000);
  });

  it('alters the figures of its group, while the rows stay', async () => {
    const { model, edit, figures } = opened('group=state&footers=cost:sum');
    await vi.waitFor(() => expect([figures(), model.rows.indexOf(1)]).toEqual([[6, 4], 1]));
    await edit(1, 'cost', 1, 5);
    await vi.waitFor(() => expect(figures()).toEqual([10, 4]));
    expect([model.rows.indexOf(1), model.misfits.value.size]).toEqual([1, 0]);
  });

  it('into another group leaves the row where it is until the user moves on', async () => {
    const { model, edit, counts } = opened('group=state');
    await vi.waitFor(() => expect([counts(), model.rows.indexOf(2)]).toEqual([[3, 1], 2]));
    model.moveTo({ row: 2, column: 0 });
    await edit(2, 'state', 'open', 'closed');
    await vi.waitFor(() => expect([...model.misfits.value]).toEqual([2]));
    expect([counts(), model.rows.indexOf(2)]).toEqual([[3, 1], 2]);
    model.moveTo({ row: 1, column: 0 });
    await vi.waitFor(() => expect([counts(), model.rows.indexOf(2)]).toEqual([[2, 2], 4]));
    expect(model.misfits.value.size).toBe(0);
  });

  it('that was undone before it was known whether its issue fits its new group leaves no mark', async () => {
    let holds = false;
    const held: (() => void)[] = [];
    const { model, counts } = opened('group=state&sort=manual.v1', (request) => (holds && request === 'POST grid' ? new Promise((resolve) => held.push(resolve)) : undefined));
    await vi.waitFor(() => expect([counts(), model.rows.indexOf(2), model.rows.indexOf(4)]).toEqual([[3, 1], 2, 5]));
    holds = true;
    const edits = [{ num: 2, field: 'state', before: 'open', after: 'closed' }];
    await model.editor.apply({ edits, places: { view: 'v1', forth: [{ nums: [2], anchor: { before: 4 } }], back: [{ nums: [2], anchor: { after: 1 } }] } });
    expect([counts(), held.length]).toEqual([[2, 2], 1]);
    await model.editor.undo();
    holds = false;
    for (const answer of held) answer();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([counts(), [...model.misfits.value]]).toEqual([[3, 1], []]);
  });

  it('that places a row keeps it there, though the user leaves another row before the API has it', async () => {
    let holds = true;
    const held: (() => void)[] = [];
    const { model, counts } = opened('group=state&sort=manual.v1', (request) => (holds && request === 'PATCH 3' ? new Promise((resolve) => held.push(resolve)) : undefined));
    await vi.waitFor(() => expect([counts(), model.rows.indexOf(3), model.rows.indexOf(4), model.view.value.manual]).toEqual([[3, 1], 3, 5, 'v1']));
    model.misfits.value = new Set([1]);
    const edits = [{ num: 3, field: 'state', before: 'open', after: 'closed' }];
    const placed = model.editor.apply({ edits, places: { view: 'v1', forth: [{ nums: [3], anchor: { before: 4 } }], back: [] } });
    expect([counts(), model.rows.indexOf(3)]).toEqual([[2, 2], 4]);
    model.moveTo({ row: 4, column: 0 });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([counts(), model.rows.indexOf(3), held.length]).toEqual([[2, 2], 4, 1]);
    holds = false;
    held[0]?.();
    await placed;
    await vi.waitFor(() => expect(model.misfits.value.size).toBe(0));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([counts(), model.rows.indexOf(3)]).toEqual([[2, 2], 4]);
  });

  it('of an issue that is not on the screen moves it to its group', async () => {
    const { model, edit, counts } = opened('group=state');
    await vi.waitFor(() => expect([counts(), model.rows.indexOf(2)]).toEqual([[3, 1], 2]));
    model.toggleGroup('open');
    expect(model.rows.layout.length).toBe(3);
    await edit(2, 'state', 'open', 'closed');
    await vi.waitFor(() => expect(counts()).toEqual([2, 2]), 3000);
  });

  it('alters the figures of a selected column', async () => {
    const { model, edit } = opened('columns=name:200,cost:100');
    await vi.waitFor(() => expect(model.rows.indexOf(4)).toBe(3));
    const read = model.figuresRead.value;
    await edit(1, 'cost', 1, 5);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(model.figuresRead.value).toBe(read);
    model.selectColumn('cost', 'only');
    await edit(1, 'cost', 5, 6);
    await vi.waitFor(() => expect(model.figuresRead.value).toBe(read + 1));
  });
});

it('edits read again what they alter beside their rows', () => {
  const dependence = { places: new Set(['state']), figures: new Set(['cost']), ranks: new Set(['size']) };
  const effect = (field: string, isShown = true) => effectOfEdits([{ num: 1, field, before: null, after: 1 }], dependence, () => isShown);
  expect(effect('cost')).toEqual({ places: false, figures: true });
  expect(effect('state')).toEqual({ places: false, figures: false });
  expect(effect('state', false)).toEqual({ places: true, figures: false });
  expect(effect('size')).toEqual({ places: true, figures: true });
  expect(effect('name')).toEqual({ places: false, figures: false });
});
