import { describe, expect, it, vi } from 'vitest';
import { Api } from '../src/api/client';
import { fieldOfError, inverse, patchOf, type CellEdit } from '../src/edits/change';
import { Editor } from '../src/edits/editor';
import { did, NO_HISTORY, redid, undid } from '../src/edits/history';
import { keyOf } from '../src/edits/marks';
import type { Row } from '../src/fields/values';
import { field } from './fields';

const FIELDS = [{ ...field('name'), custom: false }, field('cost', 'number'), field('city')];

const edit = (num: number, id: string, before: string | null, after: string | null): CellEdit => ({ num, field: id, before, after });

/** Issues as the API keeps them: one version each, and a rule for one field. */
class Issues {
  readonly held = new Map<number, Row>();
  readonly requests: string[] = [];
  readonly stored = new Map<number, { version: number; values: Record<string, unknown>; by: string }>();

  constructor(count: number) {
    for (let num = 1; num <= count; num += 1) {
      this.stored.set(num, { version: 1, values: { name: `n${num}` }, by: 'ada' });
      this.held.set(num, { num, version: 1, values: { num, name: `n${num}` } });
    }
  }

  /** Somebody else's edit. */
  other(num: number, id: string, value: string): void {
    const issue = this.stored.get(num);
    if (issue) this.stored.set(num, { version: issue.version + 1, values: { ...issue.values, [id]: value }, by: 'bob' });
  }

  editor() {
    const written = vi.fn();
    const api = new Api({ sign: () => Promise.resolve(), expired: () => undefined }, (address, request) =>
      Promise.resolve(this.answer(address as string, request ?? {})),
    );
    const rows = {
      held: (num: number) => this.held.get(num),
      replace: (num: number, change: (row: Row) => Row) => {
        const row = this.held.get(num);
        if (row) this.held.set(num, change(row));
      },
    };
    return { written, editor: new Editor(api, 'p', FIELDS, rows, written) };
  }

  private answer(address: string, request: RequestInit): Response {
    this.requests.push(`${request.method ?? ''} ${address}`);
    const body = JSON.parse((request.body as string | null) ?? '{}') as Patched & { operations?: { update: Patched }[] };
    if (body.operations) {
      const results = body.operations.map(({ update }) => this.patch(update.num ?? 0, update, update.version));
      return Response.json({ results: results.map(({ status, ...result }) => ({ status, ...(status === 200 ? { version: result.issue?.version } : result) })) });
    }
    const num = Number(address.split('/').at(-1));
    if (request.method === 'GET') return Response.json(this.told(num));
    const match = new Headers(request.headers).get('If-Match');
    const { status, issue, problem } = this.patch(num, body, Number(match?.replaceAll('"', '')));
    return Response.json(issue ?? problem, { status, headers: { 'Content-Type': 'application/problem+json' } });
  }

  private patch(num: number, { fields, name }: Patched, version?: number) {
    const issue = this.stored.get(num);
    const refuse = (status: number, more = {}) => ({ status, issue: null, problem: { type: 'x', title: `no ${status}`, status, ...more } });
    if (!issue) return refuse(404);
    if (version !== undefined && version !== issue.version) return refuse(412);
    if (fields?.['city'] === 'Atlantis') return refuse(400, { errors: [{ field: 'fields.city', message: 'sunk' }] });
    const values = { ...issue.values, ...(name && { name }), ...fields };
    this.stored.set(num, { version: issue.version + 1, values, by: 'ada' });
    return { status: 200, issue: this.told(num), problem: null };
  }

  private told(num: number) {
    const { version, values, by } = this.stored.get(num) ?? { version: 0, values: {}, by: '' };
    const { name, ...fields } = values;
    return { num, version, name, fields, updated_by: by };
  }
}

interface Patched {
  readonly num?: number;
  readonly version?: number;
  readonly name?: string;
  readonly fields?: Record<string, unknown>;
}

describe('an edit', () => {
  it('is shown at once and written under the version that was seen', async () => {
    const issues = new Issues(1);
    const { editor, written } = issues.editor();
    const done = editor.apply([edit(1, 'city', null, 'Rome')]);
    expect(issues.held.get(1)?.values['city']).toBe('Rome');
    expect(editor.marks.value.get(keyOf(1, 'city'))).toEqual({ kind: 'pending' });
    await done;
    expect(issues.held.get(1)).toMatchObject({ version: 2, values: { city: 'Rome' } });
    expect(editor.marks.value.size).toBe(0);
    expect(written).toHaveBeenCalledOnce();
  });

  it('that changes nothing is not sent', async () => {
    const issues = new Issues(1);
    await issues.editor().editor.apply([edit(1, 'name', 'n1', 'n1')]);
    expect(issues.requests).toEqual([]);
  });

  it('is rolled back when it is refused, and says why', async () => {
    const issues = new Issues(1);
    const { editor } = issues.editor();
    await editor.apply([edit(1, 'city', null, 'Atlantis')]);
    expect(issues.held.get(1)?.values['city']).toBeNull();
    expect(editor.marks.value.get(keyOf(1, 'city'))).toEqual({ kind: 'refused', text: 'Atlantis', message: 'sunk' });
    expect(editor.history.value.done).toEqual([]);
  });

  it('of a field that others left alone is made on top of theirs', async () => {
    const issues = new Issues(1);
    issues.other(1, 'name', 'theirs');
    await issues.editor().editor.apply([edit(1, 'city', null, 'Rome')]);
    expect(issues.stored.get(1)?.values).toMatchObject({ name: 'theirs', city: 'Rome' });
    expect(issues.held.get(1)?.values).toMatchObject({ name: 'theirs', city: 'Rome' });
  });

  it('of a field that others changed waits for a choice', async () => {
    const issues = new Issues(1);
    issues.other(1, 'city', 'Oslo');
    const { editor } = issues.editor();
    await editor.apply([edit(1, 'city', null, 'Rome')]);
    expect(editor.marks.value.get(keyOf(1, 'city'))).toMatchObject({ kind: 'conflict', yours: 'Rome', theirs: 'Oslo', by: 'bob' });
    expect(issues.held.get(1)?.values['city']).toBe('Oslo');
    await editor.resolve(1, 'city', 'yours');
    expect(issues.stored.get(1)?.values['city']).toBe('Rome');
    expect(editor.marks.value.size).toBe(0);
  });

  it('that follows another of the same issue knows its version', async () => {
    const issues = new Issues(1);
    const { editor } = issues.editor();
    await Promise.all([editor.apply([edit(1, 'city', null, 'Rome')]), editor.apply([edit(1, 'name', 'n1', 'new')])]);
    expect(issues.stored.get(1)).toMatchObject({ version: 3, values: { city: 'Rome', name: 'new' } });
    expect(issues.requests).toHaveLength(2);
  });
});

describe('edits of many issues', () => {
  const paste = Array.from({ length: 1000 }, (_, place) => edit(place + 1, 'city', null, place === 700 ? 'Atlantis' : 'Rome'));

  it('go in batches of 500; what is refused is marked, and the rest is written', async () => {
    const issues = new Issues(1000);
    const { editor } = issues.editor();
    await editor.apply([...paste, edit(701, 'name', 'n701', 'kept')]);
    expect(issues.requests.filter((request) => request.includes('batch'))).toHaveLength(2);
    expect([...editor.marks.value.keys()]).toEqual([keyOf(701, 'city')]);
    expect(issues.stored.get(701)?.values).toEqual({ name: 'kept' });
    expect(issues.stored.get(1000)?.values['city']).toBe('Rome');
    expect(editor.progress.value).toBeNull();
  });

  it('are undone and redone as one', async () => {
    const issues = new Issues(1000);
    const { editor } = issues.editor();
    await editor.apply(paste);
    await editor.undo();
    expect(issues.stored.get(5)?.values['city']).toBeNull();
    expect(issues.held.get(999)?.values['city']).toBeNull();
    await editor.redo();
    expect(issues.stored.get(5)?.values['city']).toBe('Rome');
    await editor.redo();
    expect(editor.history.value.undone).toEqual([]);
  });
});

describe('the history', () => {
  const change = (id: string) => ({ edits: [edit(1, id, null, 'x')] });

  it('forgets what was undone when something else is done', () => {
    const two = did(did(NO_HISTORY, change('a')), change('b'));
    expect(redid(undid(two))).toEqual(two);
    expect(did(undid(two), change('c'))).toEqual({ done: [change('a'), change('c')], undone: [] });
    expect(undid(NO_HISTORY)).toEqual(NO_HISTORY);
    expect(did(NO_HISTORY, { edits: [] })).toEqual(NO_HISTORY);
  });
});

it('the inverse of edits puts back what was', () => {
  expect(inverse([edit(1, 'a', 'x', 'y')])).toEqual([edit(1, 'a', 'y', 'x')]);
});

it('a patch has attributes among the fields, and null to clear one', () => {
  expect(patchOf([edit(1, 'name', '', 'n'), edit(1, 'cost', '1', null)], FIELDS)).toEqual({ name: 'n', fields: { cost: null } });
});

it('an error is about the field that its path names', () => {
  expect(['fields.cost', 'fields.trades.0', 'name', 'operations.3.update.fields.city', 'version'].map(fieldOfError)).toEqual(['cost', 'trades', 'name', 'city', '']);
});
