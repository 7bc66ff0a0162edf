import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { findings } from './accessibility';
import { ProjectPage } from './project-page';
import { ADMIN } from './stack';
import { test } from './test';

/** Expect no finding of axe, in light colors and in dark ones. The scheme changes only colors. */
async function isAccessible(page: Page, what: string): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  expect(await findings(page), what).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await findings(page, { runOnly: ['color-contrast'] }), `${what}, dark`).toEqual([]);
}

describe('axe finds nothing', () => {
  test('before sign-in, and in the list of projects', async ({ visit }) => {
    const door = await visit(null);
    await door.page.goto('/');
    await door.page.getByRole('button', { name: 'Sign in' }).waitFor();
    await isAccessible(door.page, 'signing in');
    const { page } = await visit();
    await page.goto('/');
    await page.getByRole('link', { name: 'Demo' }).waitFor();
    await isAccessible(page, 'projects');
  });

  test('in the grid, its groups and footers, and all panels and windows', async ({ visit }) => {
    const visited = await visit();
    const { page } = visited;
    const demo = await ProjectPage.open(visited, 'demo', 'sort=-due&color=priority&footers=cost:sum&columns=num:64!,name:310!,state:118,priority:110,due:130,cost:150');
    await demo.counts('2,000 issues');
    await isAccessible(page, 'the grid');
    for (const name of ['Fields', 'Filter', 'Group', 'Sort', 'Color', 'More']) {
      await demo.open(name);
      await isAccessible(page, name);
      await page.keyboard.press('Escape');
    }
    await (await demo.openColumnMenu('Name')).waitFor();
    await isAccessible(page, 'the menu of a column');
    await page.keyboard.press('Escape');
    await (await demo.cell(3, 'Name')).click();
    await page.keyboard.press('Space');
    await page.getByRole('complementary').getByText('Remarks').waitFor();
    await isAccessible(page, 'all fields of an issue');
    await page.keyboard.press('Escape');
    for (const [entry, seen] of [
      ['Query plan and cost', 'DynamoDB calls'],
      ['Project settings', 'Composite indexes'],
      ['Import CSV', 'Choose a CSV file, or drop one onto the page.'],
      ['Export as CSV', 'Raw values'],
    ] as const) {
      await demo.more(entry);
      await page.getByText(seen).first().waitFor();
      await isAccessible(page, entry);
      await page.keyboard.press('Escape');
      await page.getByText(seen).first().waitFor({ state: 'hidden' });
    }
    await page.goto('/projects/demo?group=state,priority&footers=severity:avg&columns=num:64!,name:310!,severity:160,state:118,priority:110');
    const average = await demo.figures('State: reported, 467 issues', 'Severity');
    await average.getByText('Average').waitFor();
    await isAccessible(page, 'groups');
    await average.hover();
    await page.mouse.wheel(0, 1000);
    await demo.stickyHeads.nth(1).waitFor();
    await isAccessible(page, 'heads of groups that stay at the top');
  });

  test('in empty and failed states', async ({ visit }) => {
    const { page } = await visit(ADMIN, { width: 360, height: 740 });
    await page.goto('/projects/demo?search=unheard');
    await page.getByText('No issues match the filter').waitFor();
    await isAccessible(page, 'an empty answer');
    await page.goto('/projects/absent');
    await page.getByRole('heading', { name: 'Project not found' }).waitFor();
    await isAccessible(page, 'no such project');
    await page.route('**/grid', (route) => route.abort('internetdisconnected'));
    await page.goto('/projects/demo');
    await page.getByText('You are offline').waitFor();
    await isAccessible(page, 'offline');
  });
});
