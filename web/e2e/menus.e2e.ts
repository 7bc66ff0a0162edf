import type { Locator } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Api } from '../src/api/client';
import { filterOfNums, MAX_NAMED } from '../src/rows/targets';
import { findings } from './accessibility';
import { boxOf } from './dragging';
import { Finger } from './finger';
import { ProjectPage } from './project-page';
import { countOf, makeProject, PARTS, valuesOf } from './projects';
import { ADMIN } from './stack';
import { test } from './test';

const parts = (api: Api, count = 60): Promise<string> =>
  makeProject(api, {
    name: 'Menus',
    fields: PARTS,
    issues: Array.from({ length: count }, (_, at) => ({ name: `Part ${at}`, fields: { weight: at, kind: at % 2 ? 'bolt' : 'beam', note: `note ${at}` } })),
  });

/** The entries of the open menu, each with its keys. */
function entriesOf(menu: Locator): Promise<readonly string[]> {
  return menu.locator('.menu-entry').evaluateAll((all) => all.map((one) => [...one.querySelectorAll('.menu-text, .menu-keys')].map(({ textContent }) => textContent).join(' | ')));
}

/** The names of the columns whose heads are selected. */
function chosen({ grid }: ProjectPage): Promise<readonly string[]> {
  return grid.locator('.ag-header-cell.is-chosen .head-name').allInnerTexts();
}

test('a menu stays the menu of its issue when others move the rows', async ({ visit, api }) => {
  const id = await parts(api);
  const visited = await visit();
  const project = await ProjectPage.open(visited, id, 'sort=-weight');
  const first = (weights: readonly string[]) => expect.poll(async () => (await project.column('Weight')).slice(0, weights.length)).toEqual(weights);
  await first(['59', '58', '57']);
  const create = (weight: number) => api.call('POST', '/v1/projects/{project}/issues', { path: { project: id }, body: { name: 'New', fields: { weight } } });

  await project.gutter(2).click({ button: 'right' });
  const menu = project.menu(/^Actions for issue/);
  expect(await menu.getAttribute('aria-label')).toBe('Actions for issue 58');
  await create(100);
  await first(['100', '59', '58', '57']);
  expect(await menu.getAttribute('aria-label')).toBe('Actions for issue 58');
  await menu.getByRole('menuitem', { name: 'Delete' }).click();
  const question = visited.page.getByRole('dialog', { name: /Part 57/ });
  await question.getByRole('button', { name: 'Delete' }).click();
  await first(['100', '59', '58', '56']);

  // Also that of a cell.
  await (await project.cell(3, 'Note')).click({ button: 'right' });
  const entries = project.menu('Actions for the cell Note');
  await entries.getByText('Filter by “note 56”').waitFor();
  await create(200);
  // The grid scrolls along with the row in focus.
  await expect.poll(async () => (await project.rows()).find(({ cells }) => cells['Weight'] === '56')?.at).toBe(4);
  await entries.getByText('Filter by “note 56”').waitFor();
  await entries.getByRole('menuitem', { name: 'Clear' }).click();
  await expect.poll(() => valuesOf(api, id, 57)).not.toHaveProperty('note');
  expect(await valuesOf(api, id, 59)).toHaveProperty('note');
});

describe('the menu of a cell', () => {
  test('opens by the right button and by keys, shows the keys of its entries, and acts on the selected cells', async ({ visit, api }) => {
    const id = await parts(api);
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id);
    const keys = page.keyboard;
    const menu = project.menu('Actions for the cell Note');

    await (await project.cell(2, 'Note')).click({ button: 'right' });
    await menu.waitFor();
    expect(await entriesOf(menu)).toEqual([
      'Edit | Enter', 'Cut | Ctrl+X', 'Copy | Ctrl+C', 'Paste | Ctrl+V', 'Clear | Delete', 'Filter by “note 2”',
      'Show all fields of the issue | Space', 'History', 'Comments',
    ]);
    expect(await findings(page)).toEqual([]);
    await keys.press('Escape');
    await menu.waitFor({ state: 'hidden' });

    // A range keeps its extent if the menu is opened in it, by the mouse or by keys.
    await (await project.cell(4, 'Note')).click();
    await (await project.cell(6, 'Note')).click({ modifiers: ['Shift'] });
    await page.getByText('3 cells selected').waitFor();
    await (await project.cell(5, 'Note')).click({ button: 'right' });
    await menu.getByRole('menuitem', { name: 'Cut' }).click();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('note 4\r\nnote 5\r\nnote 6');
    await expect.poll(() => valuesOf(api, id, 6)).not.toHaveProperty('note');
    await keys.press('Control+z');
    await expect.poll(() => valuesOf(api, id, 6)).toMatchObject({ note: 'note 5' });

    await (await project.cell(9, 'Note')).click();
    await keys.press('Shift+F10');
    await menu.getByRole('menuitem', { name: 'Paste' }).click();
    await expect.poll(() => valuesOf(api, id, 12)).toMatchObject({ note: 'note 6' });

    await (await project.cell(0, 'Note')).click();
    await keys.press('ContextMenu');
    await menu.getByRole('menuitem', { name: 'Edit' }).click();
    await page.locator('textarea:focus').waitFor();
    await keys.press('Escape');

    await (await project.cell(0, 'Kind')).click({ button: 'right' });
    await project.menu('Actions for the cell Kind').getByRole('menuitem', { name: 'Filter by “beam”' }).click();
    await project.counts('30 of 60 issues');
    await project.rows();
    await (await project.cell(1, 'Name')).click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'History' }).click();
    await page.getByRole('complementary').locator('details.history[open]').waitFor();
  });

  test('opens under a finger that rests', async ({ visit, api }) => {
    const id = await parts(api, 10);
    const { page } = await visit();
    const project = await ProjectPage.open({ page }, id);
    await (await Finger.on(page)).rest(await project.cell(3, 'Weight'));
    const menu = project.menu('Actions for the cell Weight');
    await menu.getByRole('menuitem', { name: 'Clear' }).click();
    await expect.poll(() => valuesOf(api, id, 4)).not.toHaveProperty('weight');
    expect(await valuesOf(api, id, 3)).toHaveProperty('weight');
  });
});

describe('the head of a column', () => {
  test('selects the column, and its arrow and its menu sort', async ({ visit, api }) => {
    const id = await parts(api);
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id);
    const keys = page.keyboard;

    await project.head('Weight').click();
    await page.getByText('60 cells selected').waitFor();
    expect(await chosen(project)).toEqual(['Weight']);
    await project.head('Kind').click({ modifiers: ['Shift'] });
    await page.getByText('180 cells selected').waitFor();
    expect(await chosen(project)).toEqual(['Weight', 'Due', 'Kind']);
    expect(project.view.get('sort')).toBeNull();

    // Keys of cells act on the whole column.
    await project.head('Note').click();
    await keys.press('Control+c');
    await page.getByText('Copied 60 rows.').waitFor();
    await keys.press('Delete');
    await expect.poll(() => countOf(api, id, { field: 'note', op: 'is_empty' })).toBe(60);
    await keys.press('Control+z');
    await expect.poll(() => countOf(api, id, { field: 'note', op: 'is_empty' })).toBe(0);

    // Only with keys: the head, and the column of a cell.
    await keys.press('ArrowRight');
    await keys.press('Enter');
    await expect.poll(() => chosen(project)).toEqual(['Safe']);
    await (await project.cell(1, 'Due')).click();
    await keys.press('Control+ ');
    await expect.poll(() => chosen(project)).toEqual(['Due']);

    await project.sort('Weight');
    await project.sort('Weight');
    await expect.poll(() => project.view.get('sort')).toBe('-weight');
    await project.head('Weight').click({ button: 'right' });
    await project.menu('Weight menu').getByRole('menuitemcheckbox', { name: 'Sort ascending' }).click();
    await expect.poll(() => project.view.get('sort')).toBe('weight');
  });

  test('leads admins to the forms of fields, and no one else', async ({ visit, api }) => {
    const id = await parts(api, 5);
    const visited = await visit(ADMIN, { width: 2000 });
    const { page } = visited;
    const project = await ProjectPage.open(visited, id);
    const settings = page.getByRole('dialog', { name: 'Settings of Menus' });

    await project.columnMenu('Kind', 'Insert a field before');
    await settings.waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Name of a new field');
    await page.keyboard.type('Supplier');
    await settings.getByRole('button', { name: 'Add field' }).click();
    await settings.getByText('Supplier', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await project.head('Supplier').waitFor();
    const order = await project.grid.locator('.head-name').allInnerTexts();
    expect(order.indexOf('Supplier')).toBe(order.indexOf('Kind') - 1);

    await project.columnMenu('Kind', 'Duplicate field');
    await settings.getByRole('button', { name: 'Add field' }).click();
    await settings.getByText('Kind copy', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await project.head('Kind copy').waitFor();
    const { body } = await api.call('GET', '/v1/projects/{project}', { path: { project: id } });
    const copy = body.attributes?.find(({ name }) => name === 'Kind copy');
    expect(copy?.options?.map(({ value }) => value)).toEqual(['beam', 'bolt', 'plate']);

    await project.columnMenu('Note', 'Delete field');
    await settings.getByRole('alert').getByRole('button', { name: 'Delete field' }).click();
    await settings.getByText('Deleted “Note”.').waitFor();
    await page.keyboard.press('Escape');
    await project.head('Note').waitFor({ state: 'hidden' });

    await project.scrollSideways(9_999);
    await project.grid.getByRole('button', { name: 'New field' }).click();
    await settings.waitFor();
    await page.keyboard.press('Escape');

    const other = await ProjectPage.open(await visit({ ...ADMIN, user: 'ellen', role: 'editor' }), id);
    await other.openColumnMenu('Kind');
    expect((await entriesOf(other.menu('Kind menu'))).filter((entry) => entry.includes('field'))).toEqual([]);
    await other.page.keyboard.press('Escape');
    expect(await other.grid.getByRole('button', { name: 'New field' }).count()).toBe(0);
  });

  test('moves or is hidden, and keys still act on the selected fields', async ({ visit, api }) => {
    const id = await parts(api, 5);
    const visited = await visit();
    const { page } = visited;
    const keys = page.keyboard;
    const project = await ProjectPage.open(visited, id, 'columns=num:72,name:200,due:120,weight:120,kind:120,note:120');
    const focused = () => page.evaluate(() => document.activeElement?.matches('[role="gridcell"]') && [document.activeElement.closest('[role="row"]')?.getAttribute('row-index'), document.activeElement.getAttribute('col-id')].join(' '));
    const choose = async (column: string, entry: string) => {
      await keys.press('Alt+ArrowDown');
      await project.menu(`${column} menu`).getByRole('menuitem', { name: entry, exact: true }).press('Enter');
    };
    await (await project.cell(1, 'Weight')).click();
    await choose('Weight', 'Move right');
    await expect.poll(() => project.view.get('columns')).toMatch(/kind.*weight.*note/);
    await expect.poll(focused).toBe('1 weight');
    await keys.press('Delete');
    await expect.poll(() => valuesOf(api, id, 2)).not.toHaveProperty('weight');
    expect(await valuesOf(api, id, 2)).toMatchObject({ kind: 'bolt', note: 'note 1' });

    // To the column that is now where the field was.
    await keys.press('ArrowLeft');
    await expect.poll(focused).toBe('1 kind');
    await keys.press('Control+c');
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('bolt');

    // Another column is hidden, before a range of two.
    await (await project.cell(2, 'Kind')).click();
    await keys.press('Shift+ArrowRight');
    await project.columnMenu('Due', 'Hide');
    await project.head('Due').waitFor({ state: 'hidden' });
    await (await project.cell(2, 'Kind')).focus();
    await keys.press('Delete');
    await expect.poll(() => valuesOf(api, id, 3)).not.toHaveProperty('weight');
    expect(await valuesOf(api, id, 3)).not.toHaveProperty('kind');
    expect(await valuesOf(api, id, 3)).toMatchObject({ note: 'note 2' });

    // The last column is hidden while it has the focus, which goes to the one before.
    await (await project.cell(3, 'Note')).click();
    await choose('Note', 'Hide');
    await project.head('Note').waitFor({ state: 'hidden' });
    await expect.poll(focused).toBe('3 weight');
    await keys.press('Delete');
    await expect.poll(() => valuesOf(api, id, 4)).not.toHaveProperty('weight');
    expect(await valuesOf(api, id, 4)).toMatchObject({ kind: 'bolt', note: 'note 3' });
  });

  test('is resized and fitted at its edge, and says where it cannot be frozen', async ({ visit, api }) => {
    const id = await parts(api, 5);
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id, 'columns=num:72!,name:320!,weight:300,note:300');
    const edge = project.head('Weight').locator('.ag-header-cell-resize');
    expect((await edge.boundingBox())?.width).toBeGreaterThanOrEqual(8);
    const widthOf = async (column: string) => (await project.head(column).boundingBox())?.width ?? 0;
    const box = await boxOf(edge);
    const [x, y] = [box.x + 2, box.y + box.height / 2];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 60, y, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => widthOf('Weight')).toBeCloseTo(360, -1);
    await edge.dblclick();
    await expect.poll(() => widthOf('Weight')).toBeLessThan(160);
    const cut = await project.grid.locator('.ag-cell[col-id="weight"] .cell').evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length);
    expect(cut).toBe(0);

    expect(await project.head('Name').getByRole('img', { name: 'Frozen' }).count()).toBe(1);
    await project.columnMenu('Note', 'Freeze');
    await page.getByText('The window is too narrow to freeze Note.').waitFor();
    await project.head('Note').getByRole('img', { name: 'Not frozen now' }).waitFor();
    await project.columnMenu('Note', 'Fit to content');
    await expect.poll(() => widthOf('Note')).toBeLessThan(160);
    await project.head('Note').getByRole('img', { name: 'Frozen', exact: true }).waitFor();
  });
});

describe('the head of a group', () => {
  test('has a menu that opens and closes, filters, and adds an issue with the values of the group', async ({ visit, api }) => {
    const id = await parts(api, 10);
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id, 'group=kind,state');
    const bolts = project.group('Kind: bolt, 5 issues');
    await bolts.click({ button: 'right' });
    const menu = project.menu('Actions for the group bolt');
    await menu.waitFor();
    await menu.getByRole('menuitem', { name: 'Collapse all' }).click();
    await expect.poll(() => bolts.getAttribute('aria-expanded')).toBe('false');
    await bolts.click({ button: 'right' });
    await menu.getByRole('menuitem', { name: 'Expand all' }).click();

    const closed = project.grid.getByRole('button', { name: 'State: open, 5 issues' }).nth(1);
    await closed.click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'New row in this group' }).click();
    await page.locator('.editor:focus').fill('Added');
    await page.keyboard.press('Enter');
    await expect.poll(() => countOf(api, id, { field: 'kind', op: 'eq', value: 'bolt' })).toBe(6);
    expect(await valuesOf(api, id, 11)).toMatchObject({ name: 'Added', kind: 'bolt', state: 'open' });

    await project.grid.getByRole('button', { name: /^Kind: beam/ }).click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Filter by this group' }).click();
    await project.counts('5 of 11 issues');
  });
});

describe('the gutter', () => {
  test('checks issues, which stay checked in another order, and are changed, copied, duplicated and deleted', async ({ visit, api }) => {
    const id = await parts(api);
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id);
    const box = (row: number) => project.gutter(row).getByRole('checkbox');
    const bar = page.getByRole('group', { name: 'Checked issues' });
    await project.gutter(1).hover();
    await box(1).click();
    await box(4).click({ modifiers: ['Shift'] });
    await bar.getByText('4 issues checked').waitFor();
    expect(await findings(page)).toEqual([]);

    await project.sort('Weight');
    await project.sort('Weight');
    await expect.poll(() => project.column('Weight')).toContain('59');
    await bar.getByText('4 issues checked').waitFor();
    await bar.getByRole('button', { name: 'Copy' }).click();
    await page.getByText('Copied 4 rows.').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^5\tPart 4\t.*\r\n4\tPart 3/);

    await bar.getByRole('button', { name: 'Duplicate 4 issues' }).click();
    await page.getByText('Added 4 issues.').waitFor();
    expect(await valuesOf(api, id, 61)).toMatchObject({ name: 'Part 1', kind: 'bolt', weight: expect.anything() as unknown });
    await page.keyboard.press('Control+z');
    await expect.poll(() => countOf(api, id)).toBe(60);

    await bar.getByRole('button', { name: 'Change 4 issues…' }).click();
    const drawer = page.getByRole('complementary');
    await drawer.getByLabel('Field').selectOption('Kind');
    await drawer.getByRole('button', { name: /Choose …/ }).click();
    await page.getByRole('option', { name: 'plate' }).click();
    await drawer.getByRole('button', { name: 'Change 4 issues' }).click();
    await expect.poll(() => countOf(api, id, { field: 'kind', op: 'eq', value: 'plate' })).toBe(4);
    await page.getByRole('dialog', { name: 'Background jobs' }).waitFor();
    await page.keyboard.press('Escape');

    await bar.getByRole('button', { name: 'Delete 4 issues…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await expect.poll(() => countOf(api, id)).toBe(56);
    await bar.waitFor({ state: 'hidden' });
  });

  test('works by keys: Space checks, Enter opens, and the menu key opens the menu of the row', async ({ visit, api }) => {
    const id = await parts(api, 10);
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id);
    const keys = page.keyboard;
    await (await project.cell(2, 'No.')).click();
    await keys.press('ArrowLeft');
    await keys.press('Space');
    await page.getByText('1 issue checked').first().waitFor();
    await keys.press('ArrowDown');
    await keys.press('Shift+Space');
    await page.getByText('2 issues checked').first().waitFor();
    await keys.press('Shift+F10');
    const menu = project.menu('Actions for issue 4');
    await menu.waitFor();
    expect(await entriesOf(menu)).toContain('Change 2 issues…');
    await keys.press('Escape');
    await (await project.cell(7, 'Name')).click();
    await keys.press('Control+Shift+Space');
    await page.getByText('3 issues checked').first().waitFor();
    await project.gutter(7).focus();
    await keys.press('Enter');
    await page.getByRole('complementary', { name: '8 Part 7' }).waitFor();
    await project.grid.getByRole('checkbox', { name: 'Check all loaded issues' }).click();
    await page.getByText('10 issues checked').first().waitFor();
  });

  test('has more issues changed than one list of the API takes', async ({ visit, api }) => {
    const id = await parts(api, 210);
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id);
    await project.counts('210 issues');
    await project.gutter(0).getByRole('checkbox').click();
    await project.dragScrollBar(1);
    await project.rows();
    await project.gutter(209).getByRole('checkbox').click({ modifiers: ['Shift'] });
    const bar = page.getByRole('group', { name: 'Checked issues' });
    await bar.getByText('210 issues checked').waitFor();
    await bar.getByRole('button', { name: 'Change 210 issues…' }).click();
    const drawer = page.getByRole('complementary');
    await drawer.getByLabel('Field').selectOption('Safe');
    await drawer.getByRole('combobox').nth(1).selectOption('Yes');
    await drawer.getByRole('button', { name: 'Change 210 issues' }).click();
    await expect.poll(() => countOf(api, id, { field: 'safe', op: 'eq', value: true })).toBe(210);
    // The API takes as many as can be checked.
    const most = Array.from({ length: MAX_NAMED }, (_, at) => at + 1);
    const { body } = await api.call('POST', '/v1/projects/{project}/issues/update-matching', {
      path: { project: id },
      body: { filter: filterOfNums(most), set: { fields: { safe: false } } },
    });
    expect(body.state).toBe('waiting');
    expect(await countOf(api, id, filterOfNums(most))).toBe(210);
  });
});
