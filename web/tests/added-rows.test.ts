import { describe, expect, it } from 'vitest';
import type { Project } from '../src/api/types';
import type { Row } from '../src/fields/values';
import { AddedRows } from '../src/project/added-rows';
import { field } from './fields';

/** Rows at the end of a screen that shows them, with edits of them. */
function end() {
  const shown = new Map<number, Row>();
  const added = new AddedRows({ states: [{ value: 'open' }] } as unknown as Project, [field('name'), field('cost', 'number')], (num) => shown.get(num), (rows) => {
    shown.clear();
    for (const row of rows) shown.set(row.num, row);
  });
  const edit = (num: number, id: string, value: string) => {
    const row = shown.get(num);
    if (row) shown.set(num, { ...row, values: { ...row.values, [id]: value } });
  };
  return { added, edit, rows: () => [...shown.values()].map(({ num, values }) => [num, values['name']]) };
}

const issue = (num: number, name: string) => ({ num, version: 1, body: { name } });

describe('rows at the end', () => {
  it('are drafts with numbers of their own, and each becomes its issue where it is', () => {
    const { added, edit, rows } = end();
    const first = added.draft({});
    edit(first, 'name', 'Girder');
    const girder = issue(57, 'Girder');
    const ended = added.become(first, girder.body);
    const second = added.draft({});
    expect(rows()).toEqual([[first, 'Girder'], [second, undefined]]);
    edit(second, 'name', 'Rivet');
    // An issue that comes from elsewhere takes no draft's place.
    expect(added.add([issue(56, 'Pasted')])).toBe(true);
    expect(added.add([girder])).toBe(true);
    ended();
    expect(rows()).toEqual([[57, 'Girder'], [second, 'Rivet'], [56, 'Pasted']]);
    expect(added.drafts).toEqual([second]);
  });

  it('keep the edits that they are shown with when another one begins', () => {
    const { added, edit, rows } = end();
    added.add([issue(57, 'Girder')]);
    edit(57, 'name', 'Beam');
    const draft = added.draft({});
    expect(rows()).toEqual([[57, 'Beam'], [draft, undefined]]);
    added.dropDraft(draft);
    expect(rows()).toEqual([[57, 'Beam']]);
  });

  it('are gone with their issues, and drafts stay', () => {
    const { added, rows } = end();
    added.add([issue(57, 'Girder'), issue(58, 'Beam')]);
    const draft = added.draft({});
    added.remove([57, 3]);
    expect(rows()).toEqual([[58, 'Beam'], [draft, undefined]]);
    expect(added.isEmpty.value).toBe(false);
    added.remove([58]);
    added.dropDraft(draft);
    expect(added.isEmpty.value).toBe(true);
  });

  it('do not come back as issues once the user has left them', () => {
    const { added, rows } = end();
    const girder = issue(57, 'Girder');
    added.become(added.draft({}), girder.body);
    added.forget();
    const later = added.draft({});
    expect(added.add([girder])).toBe(false);
    expect(rows()).toEqual([[later, undefined]]);
  });
});
