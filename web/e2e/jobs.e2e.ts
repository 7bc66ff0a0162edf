import { describe, expect } from 'vitest';
import type { Filter } from '../src/api/types';
import { findings } from './accessibility';
import { ProjectPage } from './project-page';
import { countOf, makeProject, PARTS } from './projects';
import { test } from './test';

/** Rows that the page does not read to change them, and issues among them that a filter leaves. */
const MANY = 510;
const BOLTS = 10;

const is = (field: string, value: string): Filter => ({ field, op: 'eq', value });
const EMPTY: Filter = { field: 'note', op: 'is_empty' };

describe('jobs', () => {
  test('change all that the filter leaves and are taken back; of all selected rows they go on without the page', async ({ visit, api }) => {
    const issues = Array.from({ length: MANY }, (_, at) => ({ name: `Part ${at}`, fields: { kind: at < BOLTS ? 'bolt' : 'beam', note: 'old' } }));
    const id = await makeProject(api, { name: 'Many', fields: PARTS, issues });
    const project = await ProjectPage.open(await visit(), id, `filter=${JSON.stringify(is('kind', 'bolt'))}&columns=num:64!,name:200,state:120,note:160`);
    const { page } = project;
    const jobs = project.panel('Background jobs');

    await project.counts('10 of 510 issues');
    await project.more('Change all 10 matching');
    const drawer = page.getByRole('complementary');
    await drawer.getByLabel('Field').selectOption('State');
    const begin = drawer.getByRole('button', { name: 'Change 10 issues' });
    expect(await begin.isDisabled()).toBe(true);
    await drawer.getByRole('button', { name: 'New value' }).click();
    await page.getByRole('option', { name: 'closed' }).click();
    expect(await findings(page)).toEqual([]);
    await begin.click();
    await jobs.getByText('Done: 10 of 10 issues.').waitFor();
    await expect.poll(() => countOf(api, id, is('state', 'closed'))).toBe(BOLTS);
    expect(await findings(page)).toEqual([]);
    await jobs.getByRole('button', { name: 'Undo: Change of many issues' }).click();
    await jobs.getByText('Undone in 10 issues.').waitFor();
    await expect.poll(() => countOf(api, id, is('state', 'closed'))).toBe(0);

    await page.goto(`/projects/${id}?columns=num:64!,name:200,state:120,note:160`);
    await project.counts('510 issues');
    await (await project.cell(0, 'Note')).click();
    await page.keyboard.press('Control+Shift+ArrowDown');
    await page.getByText('510 cells selected').waitFor();
    await page.keyboard.press('Delete');
    await page.getByRole('dialog', { name: 'Change 510 issues' }).getByRole('button', { name: 'Change' }).click();
    await jobs.getByText(/of 510 issues/).waitFor();
    await page.reload();
    await project.more('Background jobs');
    await jobs.getByText('Done: 510 of 510 issues.').waitFor();
    await expect.poll(() => countOf(api, id, EMPTY)).toBe(MANY);
  });

  test('delete after a question, and tell which issues they could not change and why', async ({ visit, api }) => {
    const id = await makeProject(api, { name: 'Few', issues: [{ name: 'Girder' }, { name: 'Rivet' }, { name: 'Plate' }] });
    await api.call('POST', '/v1/projects/{project}/attributes', { path: { project: id }, body: { id: 'due', name: 'Due', type: 'date', required: true } });
    await api.call('PATCH', '/v1/projects/{project}/issues/{num}', { path: { project: id, num: 1 }, body: { fields: { due: '2024-05-31' } } });
    const project = await ProjectPage.open(await visit(), id);
    const jobs = project.panel('Background jobs');
    await project.columnMenu('State', 'Change in all rows');
    const drawer = project.page.getByRole('complementary');
    await drawer.getByRole('button', { name: 'New value' }).click();
    await project.page.getByRole('option', { name: 'closed' }).click();
    await drawer.getByRole('button', { name: 'Change 3 issues' }).click();
    await jobs.getByText('Done: 1 of 3 issues, 2 refused.').waitFor();
    await jobs.getByText('2 issues were refused').click();
    await expect.poll(() => jobs.getByRole('listitem').filter({ hasText: /^[23] / }).count()).toBe(2);
    await project.page.keyboard.press('Escape');

    await project.more('Delete all 3 issues');
    await project.page.getByRole('dialog', { name: 'Delete 3 issues?' }).getByRole('button', { name: 'Delete', exact: true }).click();
    await jobs.getByText('Done: 3 of 3 issues.').waitFor();
    await expect.poll(() => countOf(api, id)).toBe(0);
  });
});
