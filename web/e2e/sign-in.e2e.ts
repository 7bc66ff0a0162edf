import { describe, expect } from 'vitest';
import { Visit } from './browser';
import { ProjectPage } from './project-page';
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
    await demo.rows();
    expect(demo.view.get('sort')).toBe('name');
    await page.goBack();
    await expect.poll(() => demo.rows()).toEqual(before);
  });
});
