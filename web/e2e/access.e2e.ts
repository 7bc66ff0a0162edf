import { describe, expect } from 'vitest';
import { ApiError } from '../src/api/problem';
import { ProjectPage } from './project-page';
import { makeProject, valuesOf } from './projects';
import { ADMIN } from './stack';
import { test } from './test';
import { showsWhatTheApiHas } from './truth';

const VIEWER = { ...ADMIN, user: 'vera', role: 'viewer' } as const;

describe('a viewer', () => {
  test('sees everything and changes nothing, by key or menu', async ({ visit, api, stack }) => {
    const id = await makeProject(api, { name: 'Looked at', issues: [{ name: 'Girder' }, { name: 'Rivet' }] });
    const page = await ProjectPage.open(await visit(VIEWER), id);
    for (const name of ['New row', 'Undo', 'Delete rows']) expect(await page.tool(name).count()).toBe(0);
    const more = await page.open('More');
    await expect.poll(() => more.getByRole('button').allInnerTexts()).toEqual(['Commands\nCtrl+K', 'Find in the rows\nCtrl+F', 'Query plan and cost', 'Save as view', 'New board', 'Export as CSV', 'Background jobs', 'Trash']);
    await page.page.keyboard.press('Escape');
    const cell = await page.cell(0, 'Name');
    await cell.dblclick();
    await page.page.keyboard.type('Mine');
    await page.page.keyboard.press('Enter');
    await page.page.evaluate(() => navigator.clipboard.writeText('Mine'));
    await cell.click();
    await page.page.keyboard.press('Control+v');
    await page.page.keyboard.press('Delete');
    expect(await page.page.getByRole('textbox').count()).toBe(0);
    await expect.poll(() => page.column('Name')).toEqual(['Girder', 'Rivet']);
    expect(await valuesOf(api, id, 1)).toMatchObject({ name: 'Girder' });
    // The API refuses the actions that the page does not offer.
    const theirs = await stack.api(VIEWER);
    const asked = theirs.call('PATCH', '/v1/projects/{project}/issues/{num}', { path: { project: id, num: 1 }, body: { name: 'Mine' }, headers: { 'If-Match': '"1"' } });
    await expect(asked).rejects.toThrow(ApiError);
    await expect(asked).rejects.toMatchObject({ status: 403 });
  });
});

describe('another tenant', () => {
  test('sees nothing of a project, in the list or by its address', async ({ visit }) => {
    const { page } = await visit({ tenant: '3cc8', user: 'grace', role: 'admin' });
    await page.goto('/');
    await page.getByRole('link', { name: 'The Daily News' }).waitFor();
    expect(await page.getByRole('main').getByRole('link').count()).toBe(1);
    await page.goto('/projects/demo');
    await page.getByRole('heading', { name: 'Project not found' }).waitFor();
    expect(await page.getByRole('grid').count()).toBe(0);
    expect(await page.content()).not.toMatch(/Discipline|Forth Rail Bridge/);
  });
});

describe('a refused plan', () => {
  const issues = [3, 1, 2].map((weight) => ({ name: `Part ${weight}`, fields: { weight } }));
  const fields = [{ id: 'weight', name: 'Weight', type: 'number', indexed: false }] as const;

  test('offers an admin the missing index, and shows the rows when it is built', async ({ visit, api }) => {
    const id = await makeProject(api, { name: 'Unindexed', fields: [...fields], issues });
    const page = await ProjectPage.open(await visit(), id);
    await page.sort('Weight');
    await page.page.getByRole('alert').getByRole('button', { name: 'Index Weight' }).click();
    await showsWhatTheApiHas(page, api, { sort: [{ field: 'weight', direction: 'asc', nulls: 'last' }] });
    await expect.poll(() => page.column('Weight')).toEqual(['1', '2', '3']);
  });

  test('shows all other users what an admin can do', async ({ visit, api }) => {
    const id = await makeProject(api, { name: 'Unindexed', fields: [...fields], issues });
    const page = await ProjectPage.open(await visit({ ...ADMIN, user: 'ellen', role: 'editor' }), id);
    await page.sort('Weight');
    const refusal = page.page.getByRole('alert').filter({ hasText: 'Ask an admin to do this: Index Weight.' });
    await refusal.waitFor();
    expect(await refusal.getByRole('button').count()).toBe(0);
  });
});

describe('the content security policy', () => {
  test('is enforced, and violations are reported', async ({ visit }) => {
    const { page, faults } = await visit();
    await page.goto('/');
    await page.getByRole('link', { name: 'Demo' }).waitFor();
    await page.evaluate(() => document.body.setAttribute('style', 'color: red'));
    await expect.poll(() => faults.splice(0).join()).toContain('The policy refused style-src-attr inline');
  });
});
