import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { effect } from '@preact/signals';
import { LosslessNumber } from 'lossless-json';
import { Api } from '../src/api/client';
import type { Project } from '../src/api/types';
import type { Row } from '../src/fields/values';

vi.hoisted(() => {
  const location = { pathname: '/', search: '' };
  const put = (_: unknown, __: string, target: string) => {
    const url = new URL(target, 'http://x');
    Object.assign(location, { pathname: url.pathname, search: url.search });
  };
  vi.stubGlobal('window', { location, history: { pushState: put, replaceState: put }, addEventListener: () => undefined });
});

const { go } = await import('../src/router');
const { Actions } = await import('../src/project/actions');
const { ProjectModel } = await import('../src/project/model');
const { SavedViews } = await import('../src/project/saved-views');
const { keyOf } = await import('../src/edits/marks');

const attribute = (id: string, type: string, required: boolean) => ({ id, name: id, type, required, default: null, options: [], format: null, indexed: true, uses: [] });

const project = (required: readonly string[]) =>
  ({
    id: 'demo', name: 'Demo', states: [{ id: 'o1', value: 'open', color: null }], issues: 5, history: { enabled: true, days: 90 }, version: 1,
    attributes: [attribute('cost', 'number', required.includes('cost')), attribute('city', 'text', required.includes('city'))],
    created: '2023-05-01T12:00:00Z', updated: '2023-05-01T12:00:00Z', created_by: 'ann', updated_by: 'ann',
  }) as unknown as Project;

interface Stored {
  readonly num: number;
  readonly version: number;
  readonly name: string;
  readonly state: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly updated_by: string;
  /** The versions that last changed each field. */
  readonly changed: Readonly<Record<string, number>>;
}

/** A refusal of the API. */
const refusal = (status: number, more: object) => Response.json({ type: 'x', title: `no ${status}`, status, ...more }, { status, headers: { 'Content-Type': 'application/problem+json' } });

interface Created {
  readonly name: string;
  readonly fields?: Record<string, unknown>;
}

interface Opened {
  readonly required?: readonly string[];
  readonly search?: string;
  /** The answer to a request by the end of its path; undefined for the usual one. */
  readonly special?: (end: string, body: Record<string, unknown>, issues: ReadonlyMap<number, Stored>) => Response | undefined;
}

/** An open project of five issues. A write waits until it is let go. */
function opened({ required = [], search = '', special = () => undefined }: Opened = {}) {
  go(`/projects/demo${search}`);
  const issues = new Map<number, Stored>([1, 2, 3, 4, 5].map((num) => [num, { num, version: 1, name: `n${num}`, state: 'open', fields: {}, updated_by: 'ann', changed: {} }]));
  const bodies: unknown[] = [];
  const writes: (() => void)[] = [];
  let isCutOff = false;
  let holds = false;
  const created = ({ name, fields = {} }: Created) => {
    bodies.push({ name, ...(Object.keys(fields).length && { fields }) });
    const missing = required.filter((id) => fields[id] === undefined);
    if (missing.length) {
      const errors = missing.map((id) => ({ field: `fields.${id}`, message: 'is required' }));
      return { status: 400, problem: { type: 'x/invalid-request', title: 'Invalid', status: 400, detail: 'The issue lacks required values.', errors } };
    }
    const num = issues.size + 1;
    issues.set(num, { num, version: 1, name, state: 'open', fields, updated_by: 'ann', changed: {} });
    return { status: 201, num, version: 1 };
  };
  const answer = (path: string, method: string, body: Record<string, unknown>): unknown => {
    if (path.endsWith('/grid')) {
      const nums = /"num".*\[(.*)\]/.exec(JSON.stringify(body['filter'] ?? null))?.[1]?.split(',').map(Number);
      const rows = [...issues.values()].filter(({ num }) => !nums || nums.includes(num));
      return { rows, next: null, total: issues.size, matched: rows.length, index: null, changes_cursor: null };
    }
    if (path.endsWith('/batch')) {
      return {
        results: (body['operations'] as { create?: Created; delete?: { num: number } }[]).map(({ create, delete: gone }) => {
          if (create) return created(create);
          issues.delete(gone?.num ?? 0);
          return { status: 204, num: gone?.num };
        }),
      };
    }
    const issue = issues.get(Number(path.split('/').at(-1)));
    if (!issue) return {};
    if (method === 'PATCH') {
      const { fields = {}, base = Infinity, ...rest } = body as { fields?: Record<string, unknown>; base?: number };
      const conflicts = Object.keys(fields).filter((id) => (issue.changed[id] ?? 0) > base && fields[id] !== issue.fields[id]);
      if (conflicts.length) return refusal(409, { conflicts: conflicts.map((id) => ({ field: id, by: issue.updated_by })), current: issue });
      if (fields['city'] === 'Atlantis') return refusal(400, { errors: [{ field: 'fields.city', message: 'sunk' }] });
      const written = Object.fromEntries(Object.entries(fields).map(([id, value]) => [id, typeof value === 'string' ? value.trim() : value]));
      const version = issue.version + 1;
      const changed = { ...issue.changed, ...Object.fromEntries(Object.keys(fields).map((id) => [id, version])) };
      issues.set(issue.num, { ...issue, ...rest, fields: { ...issue.fields, ...written }, version, changed });
    }
    return issues.get(issue.num);
  };
  const api = new Api({ sign: () => Promise.resolve(), expired: () => undefined }, async (address, request) => {
    const path = (address as string).split('?')[0] ?? '';
    if (isCutOff && path.endsWith('/grid')) throw new TypeError('offline');
    const isWrite = path.endsWith('/batch') || request?.method === 'PATCH';
    if (isWrite && holds) await new Promise<void>((resolve) => writes.push(resolve));
    const body = JSON.parse((request?.body as string | undefined) ?? '{}') as Record<string, unknown>;
    const answered = special(path.split('/').at(-1) ?? '', body, issues) ?? answer(path, request?.method ?? '', body);
    return answered instanceof Response ? answered : Response.json(answered);
  });
  const views = new SavedViews(api, project(required), { tenant: 't', user: 'ann', name: 'Ann', role: 'editor' }, []);
  const model = new ProjectModel(api, views.project, views);
  const actions = new Actions(model);
  model.show({ first: 0, last: 20 });
  closing.push(() => model.close());
  const field = (id: string) => model.field(id) ?? expect.fail(id);
  const rowOf = (num: number): Row => model.rows.held(num) ?? expect.fail(`issue ${num} is not held`);
  return {
    model, actions, issues, bodies, field, rowOf,
    hold: () => (holds = true),
    letGo: () => {
      holds = false;
      for (const resolve of writes.splice(0)) resolve();
    },
    cutOff: (yes: boolean) => (isCutOff = yes),
    shown: () => Array.from({ length: model.size.rows }, (_, at) => model.rows.at(at)).map((slot) => (slot.kind === 'issue' ? slot.row.num : slot.kind)),
    mark: (num: number, id: string) => model.editor.marks.value.get(keyOf(num, id)),
  };
}

const closing: (() => void)[] = [];
beforeEach(() => vi.stubGlobal('document', { hidden: false, addEventListener: () => undefined, removeEventListener: () => undefined }));
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** An issue to be deleted. */
const kept = (num: number) => ({ num, version: 1, body: { name: `n${num}` } });

describe('rows below an open editor', () => {
  it('do not move when an own delete is answered, and do once the editor is closed', async () => {
    const { model, actions, issues, hold, letGo, shown, rowOf, field } = opened();
    await vi.waitFor(() => expect(shown()).toEqual([1, 2, 3, 4, 5]));
    hold();
    const deleted = model.editor.apply({ deleted: [kept(2)] });
    const { take, end } = actions.open(rowOf(4), field('name'));
    letGo();
    await deleted;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(shown()).toEqual([1, 2, 3, 4, 5]);
    take({ text: 'typed' });
    end();
    await vi.waitFor(() => expect(shown()).toEqual([1, 3, 4, 5]));
    await vi.waitFor(() => expect(issues.get(4)?.name).toBe('typed'));
    expect(issues.get(5)?.name).toBe('n5');
  });

  it('do not move when the answer of an earlier read comes', async () => {
    const { model, shown } = opened();
    await vi.waitFor(() => expect(shown()).toEqual([1, 2, 3, 4, 5]));
    await model.editor.apply({ deleted: [kept(2)] });
    const end = model.editing.begin(4, 'name');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(shown()).toEqual([1, 2, 3, 4, 5]);
    end();
    await vi.waitFor(() => expect(shown()).toEqual([1, 3, 4, 5]));
  });

  it('do not matter to a result, which belongs to the issue of the editor', async () => {
    const { model, actions, issues, shown, rowOf, field } = opened();
    await vi.waitFor(() => expect(shown()).toEqual([1, 2, 3, 4, 5]));
    const { take, end } = actions.open(rowOf(4), field('name'));
    end();
    await model.editor.apply({ deleted: [kept(2)] });
    await vi.waitFor(() => expect(shown()).toEqual([1, 3, 4, 5]));
    take({ text: 'typed' });
    await vi.waitFor(() => expect(issues.get(4)?.name).toBe('typed'));
  });
});

describe('an editor below which another user’s value has come to the page', () => {
  /** Another user writes a field, of which no event comes. */
  function other(issues: ReturnType<typeof opened>['issues'], num: number, fields: Stored['fields']) {
    const issue = issues.get(num);
    const version = (issue?.version ?? 0) + 1;
    if (issue) issues.set(num, { ...issue, fields: { ...issue.fields, ...fields }, version, updated_by: 'bob', changed: { ...issue.changed, ...Object.fromEntries(Object.keys(fields).map((id) => [id, version])) } });
  }

  it.each([
    ['the answer of an own edit', ({ model }: ReturnType<typeof opened>) => model.editor.apply({ edits: [{ num: 4, field: 'name', before: 'n4', after: 'mine' }] })],
    ['reads of the rows and of the panel', ({ model }: ReturnType<typeof opened>) => {
      model.rows.refresh();
      return model.issue.show(4);
    }],
  ] as const)('asks which one to keep (%s)', async (_, arrive) => {
    const page = opened();
    const { model, actions, issues, shown, rowOf, field, mark } = page;
    await vi.waitFor(() => expect(shown()).toEqual([1, 2, 3, 4, 5]));
    await model.issue.show(4);
    const { take, end } = actions.open(rowOf(4), field('city'));
    other(issues, 4, { city: 'Oslo' });
    await arrive(page);
    await vi.waitFor(() => expect([model.rows.held(4), model.issue.held(4)].map((row) => row?.values['city'])).toEqual(['Oslo', 'Oslo']));
    take({ text: 'Rome' });
    end();
    await vi.waitFor(() => expect(mark(4, 'city')).toMatchObject({ kind: 'conflict', yours: 'Rome', theirs: 'Oslo' }));
    expect(issues.get(4)?.fields['city']).toBe('Oslo');
  });

  it('in the panel asks as well, also for a check box or a cell without an editor', async () => {
    const { model, actions, issues, shown, rowOf, field, mark } = opened();
    await vi.waitFor(() => expect(shown()).toEqual([1, 2, 3, 4, 5]));
    await model.issue.show(4);
    other(issues, 4, { city: 'Oslo', cost: 7 });
    await model.issue.show(4);
    actions.commit(rowOf(4), field('city'), { text: 'Rome' });
    await vi.waitFor(() => expect(mark(4, 'city')).toMatchObject({ kind: 'conflict', theirs: 'Oslo' }));
    other(issues, 5, { cost: 7 });
    await model.issue.show(5);
    await model.editor.apply({ edits: [{ num: 5, field: 'cost', before: null, after: '8' }] });
    expect(mark(5, 'cost')).toMatchObject({ kind: 'conflict', theirs: 7 });
  });

  it('does not ask about own edits of the cell: answered, in another form, or refused', async () => {
    const { model, actions, issues, shown, rowOf, field, mark, hold, letGo } = opened();
    await vi.waitFor(() => expect(shown()).toEqual([1, 2, 3, 4, 5]));
    hold();
    const first = model.editor.apply({ edits: [{ num: 4, field: 'city', before: null, after: ' rome' }] });
    other(issues, 4, { cost: 7 });
    const { take, end } = actions.open(rowOf(4), field('city'));
    letGo();
    await first;
    expect(rowOf(4).values).toMatchObject({ city: 'rome', cost: 7 });
    take({ text: 'Bonn' });
    end();
    await vi.waitFor(() => expect([issues.get(4)?.fields['city'], mark(4, 'city')]).toEqual(['Bonn', undefined]));
    await model.editor.undo();
    expect(issues.get(4)?.fields['city']).toBe('rome');
    hold();
    const refused = model.editor.apply({ edits: [{ num: 4, field: 'city', before: 'rome', after: 'Atlantis' }] });
    const again = actions.open(rowOf(4), field('city'));
    letGo();
    await refused;
    again.take({ text: 'Kyiv' });
    again.end();
    await vi.waitFor(() => expect(issues.get(4)?.fields['city']).toBe('Kyiv'));
    await model.editor.undo();
    expect(issues.get(4)?.fields['city']).toBe('rome');
  });

  it('asks if its row was no issue yet when it opened', async () => {
    const { model, actions, issues, shown, rowOf, field, mark, hold, letGo } = opened();
    await vi.waitFor(() => expect(shown()).toEqual([1, 2, 3, 4, 5]));
    const draft = actions.draft();
    hold();
    actions.commit(rowOf(draft), field('name'), { text: 'Foo' });
    const { take, end } = actions.open(rowOf(draft), field('city'));
    const other6 = actions.open(rowOf(draft), field('cost'));
    letGo();
    await vi.waitFor(() => expect(shown()).toContain(6));
    other(issues, 6, { city: 'Oslo' });
    await model.editor.apply({ edits: [{ num: 6, field: 'name', before: 'Foo', after: 'Bar' }] });
    expect(rowOf(6).values['city']).toBe('Oslo');
    take({ text: 'Rome' });
    other6.take({ text: '5' });
    end();
    other6.end();
    await vi.waitFor(() => expect(mark(6, 'city')).toMatchObject({ kind: 'conflict', yours: 'Rome', theirs: 'Oslo' }));
    await vi.waitFor(() => expect(issues.get(6)?.fields).toMatchObject({ city: 'Oslo', cost: 5 }));
  });
});

describe('an edit of which the page cannot find out whether its issue still fits', () => {
  it('has all rows read again', async () => {
    const { model, shown, cutOff } = opened({ search: `?filter=${encodeURIComponent(JSON.stringify({ field: 'name', op: 'contains', value: 'n' }))}` });
    await vi.waitFor(() => expect(shown()).toEqual([1, 2, 3, 4, 5]));
    expect(model.filter).not.toBeNull();
    const reread = vi.spyOn(model.live, 'rereadPlaces');
    cutOff(true);
    await model.editor.apply({ edits: [{ num: 4, field: 'name', before: 'n4', after: 'x' }] });
    await vi.waitFor(() => expect(reread).toHaveBeenCalled());
  });
});

describe('groups that cannot be read after an own delete', () => {
  it('are read again until they are shown', async () => {
    let refusals = 0;
    const { model, shown } = opened({
      search: '?group=state',
      special: (end, _, issues) => {
        if (end !== 'groups') return undefined;
        if (refusals > 0) {
          refusals -= 1;
          return new Response('{}', { status: 503 });
        }
        return Response.json({ groups: [{ values: ['open'], count: issues.size, filter: { field: 'state', op: 'eq', value: 'open' } }], next: null, changes_cursor: null });
      },
    });
    await vi.waitFor(() => expect(shown()).toEqual(['group', 1, 2, 3, 4, 5]));
    refusals = 2;
    await model.editor.apply({ deleted: [kept(2)] });
    await vi.waitFor(() => expect(shown()).toEqual(['group', 1, 3, 4, 5]), 4000);
    expect(refusals).toBe(0);
  });
});

describe('large rows, of which an answer holds few', () => {
  it('are all shown, and read in their places', async () => {
    const { model, shown } = opened({
      special: (end, { offset = 0, limit, count = false }) => {
        if (end !== 'grid') return undefined;
        const first = offset as number;
        const most = Math.min(limit as number, 42, 600 - first);
        const rows = Array.from({ length: most }, (_, at) => ({ num: first + at + 1, version: 1, name: 'n', state: 'open', fields: {} }));
        return Response.json({ rows, next: first + most < 600 ? 'more' : null, index: null, changes_cursor: null, ...(count === true && { total: 600, matched: 600 }) });
      },
    });
    await vi.waitFor(() => expect(shown().slice(0, 101)).toEqual([...Array.from({ length: 100 }, (_, at) => at + 1), 'loading']));
    const nums = async (read: Promise<readonly Row[]>) => (await read).map(({ num }) => num);
    const all = Array.from({ length: 600 }, (_, at) => at + 1);
    expect(await nums(model.issuesIn(0, 599))).toEqual(all);
    expect(await nums(model.issuesFrom(90, 400))).toEqual(all.slice(90, 490));
    expect(await nums(model.issuesOf(all))).toEqual(all);
  });
});

describe('another order', () => {
  it('has the footers read again, which may lack changes that the feed then leaves out', async () => {
    let sum = 7;
    const { model, shown } = opened({
      search: '?footers=cost:sum',
      special: (end) => (end === 'summary' ? Response.json({ summaries: [{ field: 'cost', sum }], changes_cursor: null }) : undefined),
    });
    const footer = () => model.summaries.values.value.get('cost');
    await vi.waitFor(() => expect([shown(), footer()]).toEqual([[1, 2, 3, 4, 5], { kind: 'ready', value: 7 }]));
    sum = 8;
    model.change({ sort: [{ field: 'name', direction: 'desc', nulls: 'last' }] });
    // The present one stays until then.
    expect(footer()).toEqual({ kind: 'ready', value: 7 });
    await vi.waitFor(() => expect(footer()).toEqual({ kind: 'ready', value: 8 }));
  });
});

describe('a project that would be read again', () => {
  it('holds work: a new row with values, checked issues, the find bar, steps to undo', async () => {
    const { model, actions, shown, rowOf, field } = opened({ required: ['cost'] });
    await vi.waitFor(() => expect(shown()).toEqual([1, 2, 3, 4, 5]));
    const held: boolean[] = [];
    closing.push(effect(() => void held.push(model.holdsWork)));
    model.checked.toggle(1);
    model.checked.clear();
    model.finding.open();
    model.finding.close();
    expect(held).toEqual([false, true, false, true, false]);
    const draft = actions.draft();
    expect(model.holdsWork).toBe(false);
    actions.commit(rowOf(draft), field('name'), { text: 'Foo' });
    await vi.waitFor(() => expect(model.editor.marks.value.get(keyOf(draft, 'cost'))?.kind).toBe('refused'));
    // Its mark alone goes with the text.
    model.editor.forgetRefusal(draft, 'cost');
    expect([model.editor.marks.value.size, model.holdsWork]).toEqual([0, true]);
    await actions.removeIssues([draft]);
    expect(model.holdsWork).toBe(false);
    await model.editor.apply({ edits: [{ num: 1, field: 'name', before: 'n1', after: 'x' }] });
    expect([held.at(-1), model.holdsWork, model.isInUse]).toEqual([true, true, true]);
    // Its undo is work all the time, until it can be redone.
    const before = held.length;
    await model.editor.undo();
    expect([held.slice(before).includes(false), model.editor.history.value.undone.length, model.holdsWork]).toEqual([false, 1, true]);
  });

  it('is in use also while a panel or a window is open', async () => {
    const { model, shown } = opened();
    await vi.waitFor(() => expect(shown()).toEqual([1, 2, 3, 4, 5]));
    expect(model.isInUse).toBe(false);
    model.panels.open({ kind: 'explain' });
    expect([model.isInUse, model.holdsWork]).toEqual([true, false]);
    model.panels.close();
    model.panels.window.value = 'settings';
    expect([model.isInUse, model.holdsWork]).toEqual([true, false]);
  });
});

describe('a new row of a project with required fields', () => {
  const FIVE = new LosslessNumber('5');

  it('keeps all of its values until the issue is created, and says what is missing', async () => {
    const { model, actions, bodies, shown, rowOf, field, mark } = opened({ required: ['cost', 'city'] });
    await vi.waitFor(() => expect(shown()).toEqual([1, 2, 3, 4, 5]));
    const draft = actions.draft();
    actions.commit(rowOf(draft), field('name'), { text: 'Foo' });
    await vi.waitFor(() => expect(mark(draft, 'cost')).toEqual({ kind: 'refused', text: '', message: 'is required' }));
    expect(mark(draft, 'name')).toBeUndefined();
    expect(actions.outcome.value).toContain('cost is required; city is required.');
    actions.commit(rowOf(draft), field('cost'), { text: '5' });
    await vi.waitFor(() => expect(bodies).toHaveLength(2));
    await vi.waitFor(() => expect(mark(draft, 'cost')).toBeUndefined());
    expect(mark(draft, 'city')).toMatchObject({ kind: 'refused' });
    actions.commit(rowOf(draft), field('city'), { text: 'Rome' });
    await vi.waitFor(() => expect(model.rows.held(6)?.values).toMatchObject({ name: 'Foo', cost: FIVE, city: 'Rome' }));
    expect(bodies).toEqual([{ name: 'Foo' }, { name: 'Foo', fields: { cost: 5 } }, { name: 'Foo', fields: { cost: 5, city: 'Rome' } }]);
    expect([...model.editor.marks.value]).toEqual([]);
  });

  describe('of which cells are selected', () => {
    /** Name it Foo, and select cells from a field to another, down to its row. */
    const named = async (required: readonly string[] = ['cost', 'city']) => {
      const all = opened({ required });
      const { model, actions, shown, rowOf, field, mark } = all;
      await vi.waitFor(() => expect(shown()).toEqual([1, 2, 3, 4, 5]));
      const draft = actions.draft();
      actions.commit(rowOf(draft), field('name'), { text: 'Foo' });
      await vi.waitFor(() => expect(mark(draft, 'cost')).toBeDefined());
      const place = (id: string) => model.columns.peek().findIndex((column) => column.field === id);
      const select = (from: string, to = from, row = 5) => {
        model.selection.value = { anchor: { row, column: place(from) }, reach: { row: 5, column: place(to) } };
      };
      return { ...all, draft, select };
    };

    it('takes a pasted value, and each further one tries again', async () => {
      const { model, actions, bodies, select, mark, draft } = await named();
      select('cost');
      await actions.paste('5');
      await vi.waitFor(() => expect(bodies).toHaveLength(2));
      await vi.waitFor(() => expect(mark(draft, 'city')).toMatchObject({ kind: 'refused' }));
      select('city');
      await actions.paste('Rome');
      await vi.waitFor(() => expect(model.rows.held(6)?.values).toMatchObject({ name: 'Foo', cost: FIVE, city: 'Rome' }));
      expect([...model.editor.marks.value]).toEqual([]);
    });

    it('takes pasted cells together, and no question offers a new row', async () => {
      const { actions, issues, bodies, select } = await named();
      select('cost');
      await actions.paste('5\tRome');
      await vi.waitFor(() => expect(issues.get(6)).toMatchObject({ name: 'Foo', fields: { cost: 5, city: 'Rome' } }));
      expect(actions.question.value).toBeNull();
      expect(bodies).toHaveLength(2);
    });

    it('keeps the valid ones of pasted cells, and marks the others', async () => {
      const { actions, issues, bodies, rowOf, select, mark, draft } = await named();
      select('cost');
      await actions.paste('n/a\tRome');
      expect(mark(draft, 'cost')).toMatchObject({ kind: 'refused', text: 'n/a' });
      expect(rowOf(draft).values['city']).toBe('Rome');
      expect(bodies).toHaveLength(1);
      select('cost');
      await actions.paste('5');
      await vi.waitFor(() => expect(issues.get(6)?.fields).toEqual({ cost: 5, city: 'Rome' }));
    });

    it('is cleared, and marks what it needs', async () => {
      const { actions, bodies, rowOf, select, mark, draft } = await named(['cost']);
      actions.putInDraft(draft, [{ field: 'city', after: 'Rome' }]);
      select('city');
      await actions.clear();
      await vi.waitFor(() => expect(bodies).toHaveLength(2));
      expect(rowOf(draft).values['city']).toBeNull();
      select('name');
      await actions.clear();
      expect(mark(draft, 'name')).toMatchObject({ kind: 'refused', message: 'Name needs a value.' });
    });

    it('is filled with the cells above', async () => {
      const { model, actions, issues, rowOf, field, select } = await named(['cost']);
      actions.commit(rowOf(5), field('cost'), { text: '5' });
      await vi.waitFor(() => expect(model.rows.held(5)?.values['cost']).toEqual(FIVE));
      select('cost', 'cost', 4);
      await actions.fillDown();
      await vi.waitFor(() => expect(issues.get(6)).toMatchObject({ name: 'Foo', fields: { cost: 5 } }));
    });

    it('is copied', async () => {
      const write = vi.fn(() => Promise.resolve());
      vi.stubGlobal('navigator', { clipboard: { write } });
      vi.stubGlobal('ClipboardItem', vi.fn());
      const { actions, select } = await named();
      select('name');
      await actions.copy();
      expect(actions.outcome.value).toBe('Copied 1 row.');
    });
  });

  it('is created from a value that was entered while the first try was under way', async () => {
    const { actions, bodies, shown, rowOf, field, mark, hold, letGo } = opened({ required: ['cost'] });
    await vi.waitFor(() => expect(shown()).toEqual([1, 2, 3, 4, 5]));
    const draft = actions.draft();
    hold();
    actions.commit(rowOf(draft), field('name'), { text: 'Foo' });
    actions.commit(rowOf(draft), field('cost'), { text: '5' });
    expect(mark(draft, 'cost')).toEqual({ kind: 'pending' });
    letGo();
    await vi.waitFor(() => expect(shown()).toContain(6));
    expect(bodies).toEqual([{ name: 'Foo' }, { name: 'Foo', fields: { cost: 5 } }]);
  });

  it('stays with its values when the user moves on, and when an editor in it is cancelled', async () => {
    const { model, actions, shown, rowOf, field, mark } = opened({ required: ['cost'] });
    await vi.waitFor(() => expect(shown()).toEqual([1, 2, 3, 4, 5]));
    const draft = actions.draft();
    actions.commit(rowOf(draft), field('name'), { text: 'Foo' });
    await vi.waitFor(() => expect(mark(draft, 'cost')).toBeDefined());
    actions.commit(rowOf(draft), field('cost'), null);
    model.moveTo({ row: 0, column: 0 });
    model.settle();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(shown()).toEqual([1, 2, 3, 4, 5, draft]);
    expect(rowOf(draft).values['name']).toBe('Foo');
    expect(model.refusal.value).toBeNull();
    await actions.removeIssues([draft]);
    expect(shown()).toEqual([1, 2, 3, 4, 5]);
    expect(mark(draft, 'cost')).toBeUndefined();
  });

  it('takes the value of an editor that was open while it became an issue', async () => {
    const { actions, issues, shown, rowOf, field, hold, letGo } = opened();
    await vi.waitFor(() => expect(shown()).toEqual([1, 2, 3, 4, 5]));
    const draft = actions.draft();
    hold();
    actions.commit(rowOf(draft), field('name'), { text: 'Foo' });
    const { take } = actions.open(rowOf(draft), field('city'));
    letGo();
    await vi.waitFor(() => expect(shown()).toContain(6));
    take({ text: 'Rome' });
    await vi.waitFor(() => expect(issues.get(6)?.fields).toEqual({ city: 'Rome' }));
  });

  it('is listed with its text if it is refused after the project was closed', async () => {
    const { model, actions, shown, rowOf, field, hold, letGo } = opened({ required: ['cost'] });
    await vi.waitFor(() => expect(shown()).toEqual([1, 2, 3, 4, 5]));
    const draft = actions.draft();
    hold();
    actions.commit(rowOf(draft), field('name'), { text: 'Foo' });
    model.close();
    letGo();
    const listed = { project: 'Demo', num: null, field: null, text: 'Foo', reason: 'cost is required.' };
    await vi.waitFor(() => expect(model.panels.unwritten.texts.value).toEqual([listed]));
  });

  it('is gone if it is cancelled without a value', async () => {
    const { actions, shown, rowOf, field } = opened();
    await vi.waitFor(() => expect(shown()).toEqual([1, 2, 3, 4, 5]));
    const draft = actions.draft();
    expect(shown()).toContain(draft);
    actions.commit(rowOf(draft), field('name'), null);
    expect(shown()).toEqual([1, 2, 3, 4, 5]);
  });
});
