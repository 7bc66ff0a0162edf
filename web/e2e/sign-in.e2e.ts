import { describe, expect } from 'vitest';
import { Visit } from './browser';
import { ProjectPage } from './project-page';
import { makeProject, valuesOf } from './projects';
import { test } from './test';

describe('sign-in', () => {
  test('fails without a key, or with a used one', async ({ browser, stack, address }) => {
    for (const way of [stack.origin, address]) {
      const { page, context, faults } = await Visit.begin(browser, stack.origin, []);
      await page.goto(way);
      await page.getByRole('alert').getByText('Open the address that ./dev up prints').waitFor();
      expect(await page.getByRole('button').count()).toBe(0);
      expect(new URL(page.url()).hash).toBe('');
      expect(faults).toEqual([]);
      await context.close();
    }
  });

  test('asks for a user, and leads to the projects of the tenant', async ({ visit }) => {
    const { page, context } = await visit(null);
    await page.goto('/');
    await page.getByLabel('Tenant').fill('3cc8');
    await page.getByLabel('User').fill('grace');
    await page.getByLabel('Role').selectOption('Viewer');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: 'The Daily News' }).waitFor();
    await expect.poll(() => page.getByRole('banner').innerText()).toMatch(/grace\s+3cc8 · Viewer/);
    expect(await context.storageState({ indexedDB: true })).toMatchObject({ origins: [] });
  });

  test('reports an ended session, and returns to the former address', async ({ visit }) => {
    const { page, context } = await visit();
    const demo = await ProjectPage.open({ page }, 'demo', 'sort=-due');
    const before = await demo.rows();
    const elsewhere = await context.newPage();
    await elsewhere.goto('/');
    await elsewhere.getByRole('button', { name: 'Account menu' }).click();
    await elsewhere.getByRole('menuitem', { name: 'Sign out' }).click();
    await elsewhere.getByRole('button', { name: 'Sign in' }).waitFor();
    await demo.sort('Name');
    await page.getByRole('alert').getByText('Your session has ended.').waitFor();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
    await demo.rows();
    expect(demo.view.get('sort')).toBe('name');
    await page.goBack();
    await expect.poll(() => demo.rows()).toEqual(before);
  });

  test('is asked for over the page, which keeps edits and comments until the user is back', async ({ visit, api }) => {
    const id = await makeProject(api, { name: 'Kept', fields: [{ id: 'note', name: 'Note', type: 'text' }], issues: [{ name: 'Girder' }, { name: 'Rivet' }] });
    const visited = await visit();
    const { page, context } = visited;
    const project = await ProjectPage.open(visited, id);
    const edit = async (row: number, text: string) => {
      await (await project.cell(row, 'Note')).click();
      await page.keyboard.type(text);
      await page.keyboard.press('Enter');
    };
    await (await project.cell(1, 'Name')).click();
    await page.keyboard.press('Space');
    const comment = page.getByRole('complementary').getByLabel('New comment');
    await comment.fill('Not sent yet');
    const elsewhere = await context.newPage();
    await elsewhere.goto('/');
    await elsewhere.getByRole('button', { name: 'Account menu' }).click();
    await elsewhere.getByRole('menuitem', { name: 'Sign out' }).click();
    await elsewhere.getByRole('button', { name: 'Sign in' }).waitFor();
    await edit(0, 'typed after the end');
    await page.getByRole('alert').getByText('Your session has ended.').waitFor();
    await edit(1, 'and this one');
    expect((await project.rows()).map(({ cells }) => cells['Note'])).toEqual(['typed after the end', 'and this one']);
    expect(await valuesOf(api, id, 1)).not.toHaveProperty('note');
    const question = page.getByRole('dialog', { name: 'Sign in' });
    await page.getByRole('button', { name: 'Sign in' }).click();
    await question.getByText('2 changes').waitFor();
    await question.getByRole('button', { name: 'Sign in' }).click();
    await expect.poll(() => valuesOf(api, id, 1)).toMatchObject({ note: 'typed after the end' });
    await expect.poll(() => valuesOf(api, id, 2)).toMatchObject({ note: 'and this one' });
    await question.waitFor({ state: 'detached' });
    expect(await comment.inputValue()).toBe('Not sent yet');
  });
});
