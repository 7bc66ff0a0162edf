import type { Page, Route } from 'playwright-core';
import { describe, expect } from 'vitest';
import { ProjectPage } from './project-page';
import { makeProject, valuesOf } from './projects';
import { test } from './test';
import { showsWhatTheApiHas } from './truth';

const GRID = '**/v1/projects/*/grid';

/** What an API in trouble answers. */
function broken(route: Route): Promise<void> {
  const problem = { type: 'about:blank', title: 'Internal server error', status: 500, detail: 'The request failed; its id is 4711.' };
  return route.fulfill({ status: 500, contentType: 'application/problem+json', body: JSON.stringify(problem) });
}

/** The page gets on by itself once it is asked to. */
async function recovers(page: Page): Promise<void> {
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click();
}

describe('without an answer', () => {
  test('the page says that it is offline, or what failed, and goes on when it is asked to', async ({ visit, api }) => {
    const { page } = await visit();
    for (const [way, said] of [
      [(route: Route) => route.abort('internetdisconnected'), 'You are offline'],
      [broken, 'Internal server error'],
    ] as const) {
      await page.route(GRID, way);
      await page.goto('/projects/demo?sort=-due');
      await page.getByRole('alert').getByText(said).waitFor();
      await page.unroute(GRID);
      await recovers(page);
      await showsWhatTheApiHas(new ProjectPage(page, 'demo'), api, { sort: [{ field: 'due', direction: 'desc', nulls: 'last' }] });
      expect(await page.getByRole('alert').count()).toBe(0);
    }
  });

  test('rows further down that cannot be had do not stay blank', async ({ visit, api }) => {
    const visited = await visit();
    const demo = await ProjectPage.open(visited, 'demo', 'sort=-due');
    await demo.counts('2,000 issues');
    await visited.page.route(GRID, (route) => route.abort('internetdisconnected'));
    await demo.dragScrollBar(0.5);
    await visited.page.getByRole('alert').getByText('You are offline').waitFor();
    await visited.page.unroute(GRID);
    await recovers(visited.page);
    const [top] = await showsWhatTheApiHas(demo, api, { sort: [{ field: 'due', direction: 'desc', nulls: 'last' }] });
    expect(top?.at).toBeGreaterThan(800);
  });

  test('rows that are on their way do not look empty, in any column', async ({ visit }) => {
    const { page } = await visit();
    const waiting: (() => void)[] = [];
    let holding = true;
    await page.route(GRID, async (route) => {
      if (holding) await new Promise<void>((resolve) => waiting.push(resolve));
      await route.continue();
    });
    await page.goto('/projects/demo');
    await page.getByRole('grid').waitFor();
    const rows = page.getByRole('row').filter({ has: page.locator('.cell-loading') });
    await expect.poll(() => rows.count()).toBeGreaterThan(10);
    for (const cell of await rows.first().locator('.cell-loading').all()) {
      const bar = await cell.evaluate((element) => getComputedStyle(element, '::before'));
      expect([bar.display, bar.height]).toEqual(['block', '10px']);
    }
    holding = false;
    for (const go of waiting) go();
    await new ProjectPage(page, 'demo').rows();
  });

  test('an edit is taken back, and the cell says why', async ({ visit, api }) => {
    const id = await makeProject(api, { name: 'Offline', issues: [{ name: 'Girder' }] });
    const visited = await visit();
    const project = await ProjectPage.open(visited, id);
    await visited.page.route('**/issues/**', (route) => route.abort('internetdisconnected'));
    const cell = await project.cell(0, 'Name');
    await cell.click();
    await visited.page.keyboard.type('Never written');
    await visited.page.keyboard.press('Enter');
    await visited.page.getByText('1 cell was refused').waitFor();
    expect(await cell.innerText()).toBe('Girder');
    await cell.click();
    await visited.page.getByText('The server could not be reached. Nothing was written.').waitFor();
    expect(await valuesOf(api, id, 1)).toMatchObject({ name: 'Girder' });
  });
});
