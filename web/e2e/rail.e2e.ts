import { describe, expect } from 'vitest';
import type { Api } from '../src/api/client';
import { findings } from './accessibility';
import { drag } from './dragging';
import { ProjectPage } from './project-page';
import { makeProject, PARTS, valuesOf } from './projects';
import { ADMIN } from './stack';
import { test } from './test';
import { beyond, inEachWindow, scrolling } from './window';

const EDITOR = { ...ADMIN, user: 'edi', role: 'editor' } as const;

const WIDTHS = [320, 480, 601, 760, 900, 1024, 1280, 1600, 1920].map((width) => ({ width, height: 740 }));

const bridge = (api: Api, name: string): Promise<string> =>
  makeProject(api, { name, fields: PARTS, issues: ['Girder', 'Rivet', 'Cable'].map((one, at) => ({ name: one, fields: { weight: 10 * (at + 1), kind: 'beam' } })) });

async function withViews(api: Api, project: string): Promise<void> {
  const path = { project };
  for (const name of ['Alpha', 'Beta', 'Gamma']) await api.call('POST', '/v1/projects/{project}/views', { path, body: { name, visibility: 'shared' } });
  for (const name of ['Mine', 'Own']) await api.call('POST', '/v1/projects/{project}/views', { path, body: { name } });
}

const list = (project: ProjectPage) => project.page.getByRole('navigation', { name: 'Views' });
const viewLink = (project: ProjectPage, name: string) => list(project).getByRole('link', { name: new RegExp(`^${name}( |$)`) });
const names = (project: ProjectPage) => list(project).locator('.view-name').allInnerTexts();

describe('the order', () => {
  test('of views is changed by dragging, by keys and by their menu, for everyone who sees them', async ({ visit, api }) => {
    const id = await bridge(api, 'Sorted views');
    await withViews(api, id);
    const project = await ProjectPage.open(await visit(), id);
    const { page } = project;
    await expect.poll(() => names(project)).toEqual(['Alpha', 'Beta', 'Gamma', 'Mine', 'Own']);
    expect(await findings(page)).toEqual([]);

    await drag(page, viewLink(project, 'Gamma'), viewLink(project, 'Alpha'), 'upper');
    await expect.poll(() => names(project)).toEqual(['Gamma', 'Alpha', 'Beta', 'Mine', 'Own']);
    expect(project.view.get('view'), 'a drag opens no view').toBe(null);
    // A private view stays among the private ones.
    await drag(page, viewLink(project, 'Own'), viewLink(project, 'Gamma'), 'upper');
    await expect.poll(() => names(project)).toEqual(['Gamma', 'Alpha', 'Beta', 'Own', 'Mine']);

    await viewLink(project, 'Beta').focus();
    await page.keyboard.press('Alt+ArrowUp');
    await page.keyboard.press('Alt+ArrowUp');
    await expect.poll(() => names(project)).toEqual(['Beta', 'Gamma', 'Alpha', 'Own', 'Mine']);
    await list(project).getByRole('status').getByText('Moved Beta to place 1 of 3.').waitFor();
    expect(await viewLink(project, 'Beta').evaluate((one) => one === document.activeElement)).toBe(true);

    await list(project).getByRole('button', { name: 'Actions for the view Gamma' }).click();
    await page.getByRole('menu').getByRole('menuitem', { name: 'Move down' }).click();
    await expect.poll(() => names(project)).toEqual(['Beta', 'Alpha', 'Gamma', 'Own', 'Mine']);
    const stored = async () => (await api.call('GET', '/v1/projects/{project}/views', { path: { project: id } })).body.items.map(({ name }) => name);
    await expect.poll(stored).toEqual(['Beta', 'Alpha', 'Gamma', 'Own', 'Mine']);
    const other = await ProjectPage.open(await visit(EDITOR), id);
    await expect.poll(() => names(other)).toEqual(['Beta', 'Alpha', 'Gamma']);
    await other.page.reload();
  });

  test('of columns and of options is changed by dragging and by keys', async ({ visit, api }) => {
    const id = await bridge(api, 'Sorted fields');
    const project = await ProjectPage.open(await visit(), id, 'columns=name:200!,weight:120,due:120,kind:150');
    const { page } = project;
    const fields = await project.open('Fields');
    const item = (name: string) => fields.getByRole('listitem').filter({ hasText: name });
    await drag(page, item('Kind').locator('.grip'), item('Weight'), 'upper');
    await expect.poll(() => project.view.get('columns')).toMatch(/^name:200!,kind:150,weight:120,due:120/);
    await item('Kind').getByRole('checkbox').focus();
    await page.keyboard.press('Alt+ArrowDown');
    await expect.poll(() => project.view.get('columns')).toMatch(/^name:200!,weight:120,kind:150,due:120/);
    // A button that moves an item to the end of its list keeps the focus.
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
    await fields.getByRole('button', { name: 'Move Kind to the right' }).press('Enter');
    await expect.poll(() => project.view.get('columns')).toMatch(/^name:200!,weight:120,due:120,kind:150/);
    expect(await focused()).toBe('Move Kind to the right');
    await page.keyboard.press('Escape');

    await project.more('Project settings');
    const settings = page.getByRole('dialog', { name: 'Settings of Sorted fields' });
    await settings.locator('.attribute-name').getByText('Kind').click();
    const options = settings.locator('.options-editor:visible');
    const values = () => options.getByLabel('Option', { exact: true }).evaluateAll((all) => all.map((one) => (one as HTMLInputElement).value));
    await expect.poll(values).toEqual(['beam', 'bolt', 'plate']);
    await drag(page, options.locator('.grip').nth(2), options.getByRole('listitem').nth(0), 'upper');
    await expect.poll(values).toEqual(['plate', 'beam', 'bolt']);
    await options.getByLabel('Option', { exact: true }).nth(1).focus();
    await page.keyboard.press('Alt+ArrowDown');
    await expect.poll(values).toEqual(['plate', 'bolt', 'beam']);
    await options.getByRole('button', { name: 'Move bolt up' }).press('Enter');
    await expect.poll(values).toEqual(['bolt', 'plate', 'beam']);
    expect(await focused()).toBe('Move bolt up');
    await page.keyboard.press('Enter');
    await options.getByRole('button', { name: 'Move bolt down' }).click();
    await expect.poll(values).toEqual(['plate', 'bolt', 'beam']);
    await settings.getByRole('button', { name: 'Save' }).locator('visible=true').click();
    const stored = async () => (await api.call('GET', '/v1/projects/{project}/attributes/{attribute}', { path: { project: id, attribute: 'kind' } })).body.options?.map(({ value }) => value);
    await expect.poll(stored).toEqual(['plate', 'bolt', 'beam']);
    await options.getByRole('button', { name: 'Remove beam' }).press('Enter');
    await expect.poll(focused).toBe('Remove bolt');
  });
});

test('the switch at the top of the rail finds another project by typing, and creates one', async ({ visit, api }) => {
  // The stack may have projects of an earlier run.
  const one = crypto.randomUUID().slice(0, 8);
  const id = await bridge(api, `Here ${one}`);
  const there = await bridge(api, `Elsewhere ${one}`);
  const project = await ProjectPage.open(await visit(), id);
  const { page } = project;
  await page.getByRole('button', { name: `Here ${one}, switch project` }).click();
  const panel = project.panel('Projects');
  await page.keyboard.type(`elsewhere ${one}`);
  await expect.poll(() => panel.getByRole('link', { name: 'Elsewhere' }).count()).toBe(1);
  expect(await findings(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await expect.poll(() => new URL(page.url()).pathname).toBe(`/projects/${there}`);
  await project.rows();
  await page.getByRole('button', { name: `Elsewhere ${one}, switch project` }).click();
  await panel.getByRole('button', { name: 'New project' }).click();
  const creating = page.getByRole('dialog', { name: 'New project' });
  await creating.getByLabel('Name').fill(`Made in ${one}`);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: `Made in ${one}` }).waitFor();

  // It has no rows yet, and says how to begin.
  const notice = page.locator('.over-grid');
  await notice.getByRole('button', { name: 'Import CSV' }).click();
  await page.getByRole('dialog', { name: `Import into Made in ${one}` }).waitFor();
  await page.keyboard.press('Escape');
  await notice.getByRole('button', { name: 'New row' }).click();
  await page.locator('.editor').waitFor();
});

test('the panel of a button has the focus before the next key', async ({ visit, api }) => {
  const project = await ProjectPage.open(await visit(), await bridge(api, 'Quick keys'));
  const { page } = project;
  const buttons = page.locator('button[popovertarget]:visible');
  expect(await buttons.count()).toBeGreaterThan(5);
  for (const button of await buttons.all()) {
    // No event of the browser comes between microtasks.
    const hasFocus = await button.evaluate(async (one) => {
      (one as HTMLButtonElement).click();
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
      return document.querySelector('.popover:popover-open')?.contains(document.activeElement);
    });
    expect(hasFocus, (await button.getAttribute('aria-label')) ?? '').toBe(true);
    await button.click();
    await expect.poll(() => page.locator('.popover:visible').count()).toBe(0);
  }
});

test('the toolbar fits every window, and its menu has what has no room', async ({ visit, api }) => {
  const id = await bridge(api, 'Of all widths');
  const project = await ProjectPage.open(await visit(), id, 'sort=-weight&group=kind&search=e');
  const { page, toolbar } = project;
  // In a narrow window, the rail is in front of the rest.
  await page.getByRole('button', { name: 'Views and projects' }).click();
  const faults = await inEachWindow(page, WIDTHS, async () => {
    for (const name of ['Undo', 'Redo', 'New row', 'More']) expect(await project.tool(name).isVisible(), name).toBe(true);
    expect(await toolbar.getByRole('searchbox').isVisible()).toBe(true);
    const apart = await toolbar.locator(':scope > button:visible, :scope > form').evaluateAll((all) => new Set(all.map((one) => Math.round(one.getBoundingClientRect().top / 10))).size);
    return [...(await scrolling(page)), ...(await beyond(toolbar.locator(':scope > button:visible, :scope > form'))), ...(apart > 1 ? [`${apart} lines of tools`] : [])];
  });
  expect(faults).toEqual([]);
  await page.setViewportSize({ width: 320, height: 740 });
  await expect.poll(() => project.tool('Sort').isVisible()).toBe(false);
  const sort = await project.open('Sort');
  await expect.poll(() => beyond(sort)).toEqual([]);
  await page.keyboard.press('Escape');
  await expect.poll(() => project.tool('More').evaluate((one) => one === document.activeElement)).toBe(true);
  expect(await findings(page)).toEqual([]);
});

test('the panel of an issue has its name as the title, steps along the rows, and each fact once', async ({ visit, api }) => {
  const id = await bridge(api, 'In the panel');
  const project = await ProjectPage.open(await visit(), id);
  const { page } = project;
  await (await project.cell(1, 'Name')).click();
  await page.keyboard.press('Space');
  const panel = page.getByRole('complementary', { name: '2 Rivet', exact: true });
  await panel.getByLabel('New comment').waitFor();
  expect((await panel.boundingBox())?.width).toBe(520);
  expect(await findings(page)).toEqual([]);
  for (const fact of ['Rivet', 'Created', 'Updated']) expect(await panel.locator('.dialog-body').getByText(fact).locator('visible=true').count(), fact).toBe(1);

  await panel.getByRole('button', { name: 'Name Rivet' }).click();
  await page.keyboard.press('End');
  await page.keyboard.type(' of steel');
  await page.keyboard.press('Enter');
  await expect.poll(() => valuesOf(api, id, 2)).toMatchObject({ name: 'Rivet of steel' });
  const now = (name: string) => page.getByRole('complementary', { name, exact: true });
  await now('2 Rivet of steel').getByRole('button', { name: 'Next issue' }).click();
  await now('3 Cable').waitFor();
  expect(await now('3 Cable').getByRole('button', { name: 'Next issue' }).getAttribute('aria-disabled')).toBe('true');
  await page.keyboard.press('k');
  await now('2 Rivet of steel').waitFor();
  await page.keyboard.press('k');
  await now('1 Girder').waitFor();
  await page.keyboard.press('j');
  await now('2 Rivet of steel').waitFor();
  // The keys are letters where one types.
  await now('2 Rivet of steel').getByLabel('New comment').fill('');
  await page.keyboard.type('jk');
  expect(await page.getByLabel('New comment').inputValue()).toBe('jk');
  await page.getByLabel('New comment').fill('');

  // The field for a comment stays at the bottom, and in a narrow window the panel is all there is.
  await page.setViewportSize({ width: 1280, height: 400 });
  await now('2 Rivet of steel').locator('.dialog-body').evaluate((body) => (body.scrollTop = 0));
  await expect.poll(() => beyond(page.getByLabel('New comment'))).toEqual([]);
  await page.setViewportSize({ width: 560, height: 740 });
  await expect.poll(async () => (await now('2 Rivet of steel').boundingBox())?.width).toBe(560);
});

test('a theme is chosen in the account menu, and stays before the first paint', async ({ visit, api }) => {
  const id = await bridge(api, 'By day and night');
  const project = await ProjectPage.open(await visit(), id);
  const { page } = project;
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  const choose = async (name: string) => {
    await page.getByRole('button', { name: 'Account menu' }).click();
    await page.getByRole('menu').getByText(/^gridview \d+\.\d+\.\d+$/).waitFor();
    await page.getByRole('menuitemcheckbox', { name }).click();
  };
  await choose('Dark theme');
  await expect.poll(ground).not.toBe(light);
  const dark = await ground();
  expect(await findings(page)).toEqual([]);
  // The page of a later visit is dark before its code runs.
  await page.route('**/assets/*.js', (route) => route.abort());
  await page.reload({ waitUntil: 'commit' });
  await expect.poll(() => page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark');
  await page.unroute('**/assets/*.js');
  await page.reload();
  await project.rows();
  expect(await ground()).toBe(dark);
  await choose('Light theme');
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect.poll(ground).toBe(light);
  await choose('System theme');
  await expect.poll(ground).toBe(dark);
  await page.emulateMedia({ colorScheme: 'light' });
  await expect.poll(ground).toBe(light);
});
