import type { Page, Route } from 'playwright-core';
import { describe, expect } from 'vitest';
import { ProjectPage } from './project-page';
import { makeProject, valuesOf } from './projects';
import { test } from './test';
import { showsWhatTheApiHas } from './truth';

const GRID = '**/v1/projects/*/grid';

/** The answer of an API in trouble. */
function broken(route: Route): Promise<void> {
  const problem = { type: 'about:blank', title: 'Internal server error', status: 500, detail: 'The request failed; its id is 4711.' };
  return route.fulfill({ status: 500, contentType: 'application/problem+json', body: JSON.stringify(problem) });
}

/** The page recovers after a retry. */
async function recovers(page: Page): Promise<void> {
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click();
}

/** The address of one project, with nothing below it. */
const PROJECT = /\/v1\/projects\/[^/?]+$/;

describe('while the project is read again', () => {
  test('opened panels stay open, and typed text is written', async ({ visit, api }) => {
    const id = await makeProject(api, { name: 'Slow', fields: [{ id: 'note', name: 'Note', type: 'text' }], issues: [{ name: 'Girder' }, { name: 'Rivet' }] });
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id);
    const settings = page.getByRole('dialog', { name: /^Settings of/ });
    const waiting: (() => void)[] = [];
    let holding = false;
    await page.route(PROJECT, async (route) => {
      if (holding) await new Promise<void>((resolve) => waiting.push(resolve));
      await route.continue();
    });
    const rename = async (name: string) => {
      await project.more('Project settings');
      await settings.getByText('Name, states, deletion').click();
      await settings.getByLabel('Name', { exact: true }).first().fill(name);
      await settings.getByRole('button', { name: 'Save' }).first().click();
      await page.getByRole('dialog', { name: `Settings of ${name}` }).waitFor();
      holding = true;
      await page.keyboard.press('Escape');
      await expect.poll(() => waiting.length).toBeGreaterThan(0);
    };
    const answer = async () => {
      holding = false;
      const answered = page.waitForResponse(PROJECT);
      for (const go of waiting.splice(0)) go();
      await answered;
    };
    const hasName = (name: string) => page.getByRole('heading', { name, exact: true }).first().waitFor();

    await rename('Slower');
    await project.more('Trash');
    await page.getByRole('dialog', { name: 'Trash' }).waitFor();
    await answer();
    await hasName('Slower');
    await page.getByRole('dialog', { name: 'Trash' }).waitFor();
    await page.keyboard.press('Escape');

    await rename('Slowest');
    await (await project.cell(1, 'Note')).click();
    await page.keyboard.type('not lost');
    await answer();
    await page.keyboard.type(' at all');
    await page.keyboard.press('Enter');
    await hasName('Slowest');
    await expect.poll(() => valuesOf(api, id, 2)).toMatchObject({ note: 'not lost at all' });
    // Settings without changes leave the grid as it is. Its views are read only when the project is opened.
    const opened: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/views?')) opened.push(request.url());
    });
    await project.more('Project settings');
    await settings.waitFor();
    await page.keyboard.press('Escape');
    await settings.waitFor({ state: 'hidden' });
    await project.more('Trash');
    await page.getByRole('dialog', { name: 'Trash' }).waitFor();
    expect(opened).toEqual([]);
  });
});

describe('without an answer', () => {
  test('the page shows that it is offline, or what failed, and continues after a retry', async ({ visit, api }) => {
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

  test('rows further down that fail to load do not stay blank', async ({ visit, api }) => {
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

  test('loading rows do not look empty in any column', async ({ visit }) => {
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

  test('edits wait for the server, and are sent in order when it answers; the page asks before it closes', async ({ visit, api }) => {
    const id = await makeProject(api, { name: 'Offline', fields: [{ id: 'note', name: 'Note', type: 'text' }], issues: [{ name: 'Girder' }, { name: 'Rivet' }] });
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id);
    let isAway = true;
    // The first request takes effect, and its answer is lost. The repeated request changes nothing.
    let lost = 0;
    await page.route('**/issues/**', async (route) => {
      if (!isAway) return route.continue();
      if (!lost++) await route.fetch();
      return route.abort('internetdisconnected');
    });
    const type = async (row: number, column: string, text: string) => {
      await (await project.cell(row, column)).click();
      await page.keyboard.type(text);
      await page.keyboard.press('Enter');
    };
    await type(0, 'Name', 'Girder 1');
    await type(0, 'Name', 'Girder 2');
    await type(1, 'Note', 'written offline');
    await type(0, 'Note', 'mine');
    const unsent = page.getByRole('status').getByText('4 changes not sent. Waiting for the server; keep this page open.');
    await unsent.waitFor();
    expect(await (await project.cell(0, 'Name')).innerText()).toBe('Girder 2');
    // Someone else changes one of the cells meanwhile.
    await api.call('PATCH', '/v1/projects/{project}/issues/{num}', { path: { project: id, num: 1 }, body: { fields: { note: 'theirs' } } });
    const asked = page.waitForEvent('dialog').then(async (dialog) => {
      await dialog.dismiss();
      return dialog.type();
    });
    await page.evaluate(() => location.reload());
    expect(await asked).toBe('beforeunload');
    await unsent.waitFor();

    // The button sends them at once. When the server answers again, they are sent without it, and the button
    // disappears.
    const sent = page.waitForRequest('**/issues/**');
    await page.getByRole('button', { name: 'Send now' }).click();
    await sent;
    isAway = false;
    await page.getByRole('dialog', { name: 'Someone else changed this' }).getByRole('button', { name: 'Keep Yours' }).click();
    await expect.poll(() => valuesOf(api, id, 1)).toMatchObject({ name: 'Girder 2', note: 'mine' });
    await expect.poll(() => valuesOf(api, id, 2)).toMatchObject({ name: 'Rivet', note: 'written offline' });
    await expect.poll(() => page.locator('.unsent').innerText()).toBe('');
    const { body } = await api.call('GET', '/v1/projects/{project}/issues/{num}', { path: { project: id, num: 1 } });
    // Created, two names, the other user's value and the own one: nothing is written twice.
    expect(body.version).toBe(5);
    // They are steps of undo, in their order.
    await page.keyboard.press('Control+z');
    await expect.poll(() => valuesOf(api, id, 1)).toMatchObject({ note: 'theirs' });
  });
});
