import type { Locator, Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Api } from '../src/api/client';
import { boxOf, middleOf } from './dragging';
import { Finger, handleOf } from './finger';
import { ProjectPage } from './project-page';
import { countOf, makeProject, PARTS, valuesOf } from './projects';
import { ADMIN } from './stack';
import { test } from './test';

/** A telephone: nothing but fingers. */
const TELEPHONE = { width: 390, height: 780, touch: true } as const;
const VIEW = 'columns=num:56!,name:110,weight:80,kind:90,note:100,due:120,safe:70';

const parts = (api: Api, count = 40): Promise<string> =>
  makeProject(api, {
    name: 'By finger',
    fields: PARTS,
    issues: Array.from({ length: count }, (_, at) => ({ name: `Part ${at}`, fields: { weight: at, kind: at % 2 ? 'bolt' : 'beam', note: `note ${at}` } })),
  });

/** A finger drags an element onto the upper or lower half of another. */
async function drag(finger: Finger, from: Locator, to: Locator, half: 'upper' | 'lower'): Promise<void> {
  const { x, y, width, height } = await boxOf(to);
  await finger.drag(await middleOf(from), { x: x + width / 2, y: y + height * (half === 'upper' ? 0.2 : 0.8) });
}

/** Choose from the menu “More”, which has all tools without room. */
async function more(project: ProjectPage, entry: string | RegExp): Promise<void> {
  await project.tool('More').tap();
  await project.panel('More').getByRole('button', { name: entry }).tap();
}

/** Tap the title of the page, which no menu or panel covers. */
const tapBeside = (page: Page) => page.touchscreen.tap(150, 20);

const selected = (page: Page) => page.locator('.is-selected').allInnerTexts();
const drawer = (page: Page, name: string) => page.getByRole('complementary', { name, exact: true });

describe('a finger', () => {
  test('selects by a tap, edits by two, and takes, cancels and undoes the edit', async ({ visit, api }) => {
    const id = await parts(api);
    const project = await ProjectPage.open(await visit(ADMIN, TELEPHONE), id, VIEW);
    const { page } = project;
    await (await project.cell(1, 'Weight')).tap();
    await expect.poll(() => selected(page)).toEqual(['1']);
    expect(await page.locator('.editor').count()).toBe(0);
    const editor = page.locator('.editor:focus');
    const open = async (row: number, column: string) => {
      const cell = await project.cell(row, column);
      await cell.tap();
      await cell.tap();
      await editor.waitFor();
    };
    await open(1, 'Weight');
    await editor.fill('77');
    // A tap elsewhere takes the value.
    await (await project.cell(4, 'Name')).tap();
    await expect.poll(() => valuesOf(api, id, 2)).toMatchObject({ weight: 77 });
    await open(2, 'Kind');
    await page.getByRole('option', { name: 'plate' }).tap();
    await expect.poll(() => valuesOf(api, id, 3)).toMatchObject({ kind: 'plate' });
    await project.tool('Undo').tap();
    await expect.poll(() => valuesOf(api, id, 3)).toMatchObject({ kind: 'beam' });
    await project.tool('Redo').tap();
    await expect.poll(() => valuesOf(api, id, 3)).toMatchObject({ kind: 'plate' });
  });

  test('opens the menus of a cell, a row, a column and a group by resting, and one closes by a tap beside it', async ({ visit, api }) => {
    const id = await parts(api);
    const project = await ProjectPage.open(await visit(ADMIN, TELEPHONE), id, VIEW);
    const { page } = project;
    const finger = await Finger.on(page);
    const menu = page.getByRole('menu');
    await finger.rest(await project.cell(3, 'Weight'));
    await project.menu('Actions for the cell Weight').waitFor();
    await tapBeside(page);
    await menu.waitFor({ state: 'hidden' });
    await finger.rest(await project.cell(3, 'Weight'));
    await menu.getByRole('menuitem', { name: 'Clear' }).tap();
    await expect.poll(() => valuesOf(api, id, 4)).not.toHaveProperty('weight');
    await finger.rest(await project.cell(5, 'Name'));
    await menu.getByRole('menuitem', { name: 'Edit' }).tap();
    await page.locator('.editor:focus').fill('By a finger');
    await (await project.cell(7, 'Name')).tap();
    await expect.poll(() => valuesOf(api, id, 6)).toMatchObject({ name: 'By a finger' });

    await finger.rest(project.gutter(2));
    await project.menu('Actions for issue 3').getByRole('menuitem', { name: 'Duplicate' }).tap();
    await expect.poll(() => countOf(api, id)).toBe(41);
    await finger.rest(project.head('Weight'));
    await project.menu('Weight menu').getByRole('menuitemcheckbox', { name: 'Sort descending' }).tap();
    await expect.poll(() => project.view.get('sort')).toBe('-weight');

    await more(project, /^Group/);
    const panel = project.panel('Group');
    await panel.getByRole('button', { name: 'Add a field' }).tap();
    await panel.getByLabel('Field', { exact: true }).selectOption('Kind');
    await tapBeside(page);
    await panel.waitFor({ state: 'hidden' });
    const bolts = project.grid.getByRole('button', { name: /^Kind: bolt/ });
    const beams = project.grid.getByRole('button', { name: /^Kind: beam/ });
    await beams.tap();
    await expect.poll(() => beams.getAttribute('aria-expanded')).toBe('false');
    await bolts.waitFor();
    await finger.rest(bolts);
    await page.getByRole('menuitem', { name: 'Filter by this group' }).tap();
    await project.counts('20 of 41 issues');
  });

  test('scrolls the grid both ways without selecting, and fills by the handle', async ({ visit, api }) => {
    const id = await parts(api);
    const project = await ProjectPage.open(await visit(ADMIN, TELEPHONE), id, VIEW);
    const { page } = project;
    const finger = await Finger.on(page);
    await (await project.cell(2, 'Weight')).tap();
    await expect.poll(() => selected(page)).toEqual(['2']);
    await finger.drag(await handleOf(await project.cell(2, 'Weight')), await middleOf(await project.cell(4, 'Weight')));
    await expect.poll(() => selected(page)).toEqual(['2', '2', '2']);
    await expect.poll(() => valuesOf(api, id, 5)).toMatchObject({ weight: 2 });

    const viewport = page.locator('.ag-grid-viewport');
    const from = await middleOf(await project.cell(10, 'Name'));
    await finger.drag(from, { x: from.x, y: from.y - 300 });
    await expect.poll(() => viewport.evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(100);
    await finger.drag({ x: 330, y: 500 }, { x: 130, y: 500 });
    await expect.poll(() => page.locator('.ag-body-horizontal-scroll-viewport').evaluate(({ scrollLeft }) => scrollLeft)).toBeGreaterThan(50);
    expect(await page.evaluate(() => [document.documentElement.scrollTop, document.documentElement.scrollLeft])).toEqual([0, 0]);
  });

  test('checks issues in the gutter, and opens an issue there, pages through the issues, comments and closes it', async ({ visit, api }) => {
    const id = await parts(api);
    const project = await ProjectPage.open(await visit(ADMIN, TELEPHONE), id, VIEW);
    const { page } = project;
    for (const row of [1, 3]) await project.gutter(row).getByRole('checkbox').tap();
    const bar = page.getByRole('group', { name: 'Checked issues' });
    await bar.getByText('2 issues checked').waitFor();
    await bar.getByRole('button', { name: 'Uncheck all' }).tap();
    await bar.waitFor({ state: 'hidden' });

    await project.gutter(1).getByRole('button', { name: 'Open issue 2' }).tap();
    const second = drawer(page, '2 Part 1');
    await second.getByLabel('New comment').waitFor();
    await second.getByRole('button', { name: /^Next issue/ }).tap();
    const third = drawer(page, '3 Part 2');
    await third.getByRole('button', { name: /^Weight / }).tap();
    await page.locator('.editor:focus').fill('12');
    await third.getByLabel('New comment').tap();
    await expect.poll(() => valuesOf(api, id, 3)).toMatchObject({ weight: 12 });
    await third.getByLabel('New comment').fill('Seen.');
    await third.getByRole('button', { name: 'Comment', exact: true }).tap();
    await third.getByText('Seen.').waitFor();
    await third.getByText('History', { exact: true }).tap();
    await third.getByText('created the issue').waitFor();
    await third.getByRole('button', { name: /^Previous issue/ }).tap();
    await second.getByRole('button', { name: 'Close' }).tap();
    await second.waitFor({ state: 'hidden' });
  });

  test('filters, sorts, colors and shows fields by the panels, and moves the items of lists by their handles', async ({ visit, api }) => {
    const id = await parts(api);
    for (const name of ['Alpha', 'Beta', 'Gamma']) await api.call('POST', '/v1/projects/{project}/views', { path: { project: id }, body: { name, visibility: 'shared' } });
    const project = await ProjectPage.open(await visit(ADMIN, TELEPHONE), id, VIEW);
    const { page } = project;
    const finger = await Finger.on(page);
    const close = async (name: string) => {
      await tapBeside(page);
      await project.panel(name).waitFor({ state: 'hidden' });
    };

    await more(project, /^Filter/);
    const filter = project.panel('Filter');
    await filter.getByLabel('Value', { exact: true }).fill('Part 1');
    await filter.getByRole('button', { name: 'Apply' }).tap();
    await project.counts('11 of 40 issues');

    await more(project, /^Fields/);
    const fields = project.panel('Fields');
    const item = (name: string) => fields.getByRole('listitem').filter({ hasText: name });
    await drag(finger, item('Kind').locator('.grip'), item('Weight'), 'upper');
    await expect.poll(() => project.view.get('columns')).toMatch(/^num:56!,name:110,kind:90,weight:80/);
    await expect.poll(() => fields.getByRole('listitem').allInnerTexts()).toEqual(['No.', 'Name', 'Kind', 'Weight', 'Note', 'Due', 'Safe', 'State', 'Created', 'Updated', 'Created by', 'Updated by']);
    await item('Note').getByRole('checkbox').tap();
    await expect.poll(() => project.view.get('columns')).not.toContain('note');
    await tapBeside(page);
    await fields.waitFor({ state: 'hidden' });

    await more(project, /^Color/);
    const color = project.panel('Color');
    for (const [rule, value] of [['Rule 1', '15'], ['Rule 2', '5']] as const) {
      await color.getByRole('button', { name: 'Add a rule' }).tap();
      const form = color.getByRole('form', { name: rule });
      await form.getByLabel('Field', { exact: true }).selectOption('Weight');
      await form.getByLabel('Operator').selectOption('comes after or is');
      await form.getByLabel('Value', { exact: true }).fill(value);
      await form.getByRole('button', { name: 'Done' }).tap();
    }
    const rules = () => color.locator('.rule-text').allInnerTexts();
    await expect.poll(rules).toEqual([expect.stringContaining('15'), expect.stringContaining('5')]);
    const heads = color.locator('.rule-head');
    await drag(finger, heads.nth(1).locator('.grip'), heads.nth(0), 'upper');
    await expect.poll(async () => (await rules())[0]).toMatch(/ 5$/);
    await close('Color');

    await page.getByRole('button', { name: 'Views and projects' }).tap();
    const views = page.getByRole('navigation', { name: 'Views' });
    const view = (name: string) => views.getByRole('listitem').filter({ hasText: name });
    await drag(finger, view('Gamma').locator('.grip'), view('Alpha'), 'upper');
    await expect.poll(() => views.locator('.view-name').allInnerTexts()).toEqual(['Gamma', 'Alpha', 'Beta']);
    await views.getByRole('button', { name: 'Actions for the view Beta' }).tap();
    await page.getByRole('menuitem', { name: 'Move up' }).tap();
    await expect.poll(() => views.locator('.view-name').allInnerTexts()).toEqual(['Gamma', 'Beta', 'Alpha']);
    await views.getByRole('link', { name: 'Beta' }).tap();
    await expect.poll(() => project.view.has('view')).toBe(true);
  });

  test('finds, opens the commands, adds a row, saves a view and changes the settings', async ({ visit, api }) => {
    const id = await parts(api);
    const project = await ProjectPage.open(await visit(ADMIN, TELEPHONE), id, VIEW);
    const { page } = project;
    await more(project, 'Find in the rows');
    const find = page.getByRole('search', { name: 'Find in the rows' });
    await find.getByRole('textbox').fill('part 3');
    await find.getByText('11 issues').waitFor();
    await find.getByRole('button', { name: 'Next match' }).tap();
    await find.getByText('1 of 11 issues').waitFor();
    await find.getByRole('button', { name: 'Close find' }).tap();
    await find.waitFor({ state: 'hidden' });

    await more(project, 'Commands');
    const commands = page.getByRole('dialog', { name: 'Commands' });
    await commands.getByRole('combobox').fill('trash');
    await commands.getByRole('option', { name: 'Trash' }).tap();
    await page.getByRole('dialog', { name: 'Trash' }).getByRole('button', { name: 'Close' }).tap();

    await project.tool('New row').tap();
    await page.locator('.editor:focus').fill('Added by a finger');
    await project.gutter(39).tap();
    await expect.poll(() => countOf(api, id)).toBe(41);

    await more(project, 'Save as view');
    const saving = project.panel('Save as view');
    await saving.getByLabel('View name').fill('Mine');
    await saving.getByRole('button', { name: 'Save' }).tap();
    await expect.poll(() => project.view.get('view')).toBe('v1');

    await more(project, 'Project settings');
    const settings = page.getByRole('dialog', { name: 'Settings of By finger' });
    await settings.locator('.attribute-name').getByText('Note').tap();
    await settings.getByLabel('Description').filter({ visible: true }).fill('As found');
    await settings.getByRole('button', { name: 'Save' }).filter({ visible: true }).tap();
    const described = async () => (await api.call('GET', '/v1/projects/{project}/attributes/{attribute}', { path: { project: id, attribute: 'note' } })).body.description;
    await expect.poll(described).toBe('As found');
    // The page has its answer a moment later.
    await expect.poll(() => settings.locator('[data-unsaved]').count()).toBe(0);
    await settings.getByRole('button', { name: 'Close' }).tap();
    await settings.waitFor({ state: 'hidden' });

    await page.getByRole('button', { name: 'Account menu' }).tap();
    await page.getByRole('menuitemcheckbox', { name: 'Dark theme' }).tap();
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark');
  });
});
