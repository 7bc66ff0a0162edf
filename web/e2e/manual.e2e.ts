/** The manual order of a view: rows and cards are placed by the mouse, by keys and by a finger. */
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Api } from '../src/api/client';
import { findings } from './accessibility';
import { BoardPage } from './board-page';
import { boxOf, middleOf, type Point } from './dragging';
import { Finger } from './finger';
import { ProjectPage } from './project-page';
import { makeProject, PARTS, valuesOf } from './projects';
import { ADMIN } from './stack';
import { test } from './test';

const EDITOR = { ...ADMIN, user: 'ivo', role: 'editor' } as const;
const VIEWER = { ...ADMIN, user: 'vic', role: 'viewer' } as const;
const NAMES = ['Anchor', 'Beam', 'Cable', 'Deck', 'Eye', 'Flange', 'Girder', 'Hinge'];
const COLUMNS = [{ field: 'name', width: 240, frozen: false }, { field: 'kind', width: 120, frozen: false }, { field: 'weight', width: 120, frozen: false }];

/** Eight issues, the first four beams, the others bolts, and a shared view. */
async function bridge(api: Api, view: object = {}): Promise<string> {
  const id = await makeProject(api, {
    name: 'By hand',
    states: ['open', 'doing', 'done'],
    fields: PARTS,
    issues: NAMES.map((name, at) => ({ name, state: at < 5 ? 'open' : 'doing', fields: { kind: at < 4 ? 'beam' : 'bolt', weight: at } })),
  });
  await api.call('POST', '/v1/projects/{project}/views', { path: { project: id }, body: { name: 'Plan', visibility: 'shared', columns: COLUMNS, ...view } });
  return id;
}

/** Begin the manual order by the API, and wait until it is built. */
async function order(api: Api, id: string): Promise<void> {
  const path = { project: id, view: 'v1' };
  await api.call('PATCH', '/v1/projects/{project}/views/{view}', { path, body: { query: { sort: [{ manual: 'v1' }], filter: null } } });
  await expect.poll(async () => (await api.call('GET', '/v1/projects/{project}/views/{view}', { path })).body.manual_order).toBe('ready');
}

/** The names in the order of the API. */
async function stored(api: Api, id: string): Promise<readonly string[]> {
  const { body } = await api.call('POST', '/v1/projects/{project}/grid', { path: { project: id }, body: { sort: [{ manual: 'v1' }] } });
  return body.rows.map(({ name }) => name ?? '');
}

/** A point in the number of a row, away from its box and its button, and an edge of another row. */
async function gutterOf(project: ProjectPage, row: number): Promise<Point> {
  const { x, y, height } = await boxOf(project.gutter(row));
  return { x: x + 4, y: y + height / 2 };
}

async function dragRow(project: ProjectPage, from: number, to: number, half: 'upper' | 'lower', { drops = true } = {}): Promise<void> {
  const { mouse } = project.page;
  const start = await gutterOf(project, from);
  const { x, y, height } = await boxOf(project.gutter(to));
  await mouse.move(start.x, start.y);
  await mouse.down();
  await mouse.move(x + 20, y + height * (half === 'upper' ? 0.2 : 0.8), { steps: 5 });
  if (drops) await mouse.up();
}

const GROUPED = { groups: [{ field: 'kind', unit: null }] };
/** The rows of the view in these groups, with an empty name for each head. */
const BEAMS_AND_BOLTS = ['', ...NAMES.slice(0, 4), '', ...NAMES.slice(4)];

const namesAndHeads = async (project: ProjectPage) => (await project.rows()).map(({ cells }) => cells['Name'] ?? '');
const names = (project: ProjectPage) => expect.poll(() => project.column('Name'));
const outcome = (page: Page, text: string) => page.locator('.outcome').getByText(text, { exact: true }).waitFor();
const line = (page: Page) => page.locator('.drop-line');

describe('rows in a manual order', () => {
  test('are sorted by hand from the panel, dragged, moved by keys, and brought back by undo; another window follows', async ({ visit, api }) => {
    const id = await bridge(api);
    const [visited, other] = [await visit(), await visit(EDITOR)];
    const { page } = visited;
    const project = await ProjectPage.open(visited, id, 'view=v1');
    const panel = await project.open('Sort');
    await panel.getByText('the same for everyone').waitFor();
    await panel.getByRole('button', { name: 'Manual order' }).click();
    await panel.getByText('Drag rows by their numbers').waitFor();
    await page.keyboard.press('Escape');
    await names(project).toEqual(NAMES);
    expect(project.view.get('view')).toBe('v1');
    expect(project.view.has('edited')).toBe(false);
    await expect.poll(async () => (await project.tool('Sort').innerText()).replaceAll(/\s/g, '')).toContain('1');

    const second = await ProjectPage.open(other, id, 'view=v1');
    await names(second).toEqual(NAMES);

    // One row: the line shows where it goes.
    await dragRow(project, 6, 1, 'upper', { drops: false });
    await expect.poll(() => line(page).isVisible()).toBe(true);
    expect(await page.locator('.drag-ghost').innerText()).toBe('Girder');
    const above = await boxOf(project.gutter(1));
    expect(Math.abs((await boxOf(line(page))).y - above.y)).toBeLessThan(3);
    await page.mouse.up();
    const first = ['Anchor', 'Girder', 'Beam', 'Cable', 'Deck', 'Eye', 'Flange', 'Hinge'];
    expect(await project.column('Name')).toEqual(first);
    await outcome(page, 'Moved “Girder” to row 2.');
    await expect.poll(() => stored(api, id)).toEqual(first);
    await names(second).toEqual(first);

    // Escape leaves all as it is.
    await dragRow(project, 0, 4, 'lower', { drops: false });
    await page.keyboard.press('Escape');
    await page.mouse.up();
    await outcome(page, 'Cancelled. “Anchor” stays in place.');
    expect(await project.column('Name')).toEqual(first);
    expect(await line(page).isVisible()).toBe(false);

    // Three selected rows, to the end.
    await (await project.cell(2, 'Name')).click();
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await dragRow(project, 3, 7, 'lower');
    const second3 = ['Anchor', 'Girder', 'Eye', 'Flange', 'Hinge', 'Beam', 'Cable', 'Deck'];
    expect(await project.column('Name')).toEqual(second3);
    await outcome(page, 'Moved 3 rows to row 6.');
    await names(second).toEqual(second3);

    // By keys, with the focus on the rows. They stay selected, and go on.
    await page.keyboard.press('Alt+ArrowUp');
    await names(project).toEqual(['Anchor', 'Girder', 'Eye', 'Flange', 'Beam', 'Cable', 'Deck', 'Hinge']);
    await outcome(page, 'Moved 3 rows to row 5.');
    await page.keyboard.press('Alt+ArrowUp');
    await names(project).toEqual(['Anchor', 'Girder', 'Eye', 'Beam', 'Cable', 'Deck', 'Flange', 'Hinge']);
    await page.keyboard.press('Alt+ArrowDown');
    const third = ['Anchor', 'Girder', 'Eye', 'Flange', 'Beam', 'Cable', 'Deck', 'Hinge'];
    await names(project).toEqual(third);
    await names(second).toEqual(third);
    await (await project.cell(0, 'Name')).click();
    await page.keyboard.press('Alt+ArrowUp');
    await outcome(page, 'The rows are at the beginning already.');

    // Each step is undone, and done again.
    for (let step = 0; step < 5; step += 1) await page.keyboard.press('Control+z');
    await names(project).toEqual(NAMES);
    await names(second).toEqual(NAMES);
    await page.keyboard.press('Control+y');
    await names(project).toEqual(first);
    await expect.poll(() => stored(api, id)).toEqual(first);

    // Another user moves rows the other way, in the same rows.
    await names(second).toEqual(first);
    await dragRow(second, 1, 6, 'lower');
    await names(project).toEqual(NAMES);
    expect(await findings(page)).toEqual([]);
  });

  test('go into another group with its value, as one step of undo', async ({ visit, api }) => {
    const id = await bridge(api, GROUPED);
    await order(api, id);
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id, 'view=v1');
    await expect.poll(() => namesAndHeads(project)).toEqual(BEAMS_AND_BOLTS);
    // Row 0 is the head of the beams, and row 5 that of the bolts.
    await dragRow(project, 2, 7, 'lower');
    const moved = ['', 'Anchor', 'Cable', 'Deck', '', 'Eye', 'Flange', 'Beam', 'Girder', 'Hinge'];
    await expect.poll(() => namesAndHeads(project)).toEqual(moved);
    await project.group('Kind: bolt, 5 issues').waitFor();
    await outcome(page, 'Moved “Beam” to row 8 in bolt.');
    await expect.poll(async () => (await valuesOf(api, id, 2))['kind']).toBe('bolt');
    await page.keyboard.press('Control+z');
    await expect.poll(() => namesAndHeads(project)).toEqual(BEAMS_AND_BOLTS);
    await expect.poll(async () => (await valuesOf(api, id, 2))['kind']).toBe('beam');
    await expect.poll(() => stored(api, id)).toEqual(NAMES);

    // By keys, over the head.
    await (await project.cell(4, 'Name')).click();
    await page.keyboard.press('Alt+ArrowDown');
    await expect.poll(() => namesAndHeads(project)).toEqual(['', 'Anchor', 'Beam', 'Cable', '', 'Deck', 'Eye', 'Flange', 'Girder', 'Hinge']);
    await expect.poll(async () => (await valuesOf(api, id, 4))['kind']).toBe('bolt');
    await page.keyboard.press('Alt+ArrowUp');
    await expect.poll(() => namesAndHeads(project)).toEqual(BEAMS_AND_BOLTS);
    await expect.poll(async () => (await valuesOf(api, id, 4))['kind']).toBe('beam');
  });

  test('stay where an undo puts them while a read from before it comes late', async ({ visit, api }) => {
    const id = await bridge(api, GROUPED);
    await order(api, id);
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id, 'view=v1');
    await expect.poll(() => namesAndHeads(project)).toEqual(BEAMS_AND_BOLTS);
    // Each answer with groups waits until the test sends it.
    const send: (() => void)[] = [];
    let isHeld = true;
    await page.route('**/groups', async (route) => {
      const response = await route.fetch();
      if (isHeld) await new Promise<void>((resolve) => send.push(resolve));
      await route.fulfill({ response });
    });
    await dragRow(project, 2, 7, 'lower');
    await expect.poll(() => send.length).toBe(1);
    await expect.poll(() => namesAndHeads(project)).toEqual(['', 'Anchor', 'Cable', 'Deck', '', 'Eye', 'Flange', 'Beam', 'Girder', 'Hinge']);
    await page.keyboard.press('Control+z');
    await expect.poll(() => stored(api, id)).toEqual(NAMES);
    await expect.poll(async () => (await valuesOf(api, id, 2))['kind']).toBe('beam');
    send[0]?.();
    // The page reads again.
    await expect.poll(() => send.length).toBe(2);
    expect(await namesAndHeads(project)).toEqual(BEAMS_AND_BOLTS);
    isHeld = false;
    for (const answer of send) answer();
    await expect.poll(() => namesAndHeads(project)).toEqual(BEAMS_AND_BOLTS);
  });

  test('are the ones that were picked up, though others move rows meanwhile', async ({ visit, api }) => {
    const id = await bridge(api);
    await order(api, id);
    const visited = await visit();
    const project = await ProjectPage.open(visited, id, 'view=v1');
    const second = await ProjectPage.open(await visit(EDITOR), id, 'view=v1');
    await names(project).toEqual(NAMES);
    await names(second).toEqual(NAMES);
    await dragRow(project, 4, 6, 'lower', { drops: false });
    await api.call('POST', '/v1/projects/{project}/views/{view}/order', { path: { project: id, view: 'v1' }, body: { nums: [8], before: 1 } });
    await names(second).toEqual(['Hinge', ...NAMES.slice(0, 7)]);
    expect(await project.column('Name')).toEqual(NAMES);
    await visited.page.mouse.up();
    const after = ['Hinge', 'Anchor', 'Beam', 'Cable', 'Deck', 'Flange', 'Girder', 'Eye'];
    await names(project).toEqual(after);
    await expect.poll(() => stored(api, id)).toEqual(after);
  });

  test('are back in their places if the row beside them is gone', async ({ visit, api }) => {
    const id = await bridge(api);
    await order(api, id);
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id, 'view=v1');
    await names(project).toEqual(NAMES);
    // The row is deleted right before the request.
    await dragRow(project, 7, 1, 'lower', { drops: false });
    await page.route('**/order', async (route) => {
      await api.call('DELETE', '/v1/projects/{project}/issues/{num}', { path: { project: id, num: 2 } });
      await route.continue();
    });
    await page.mouse.up();
    await outcome(page, 'The row beside it was deleted meanwhile. All rows are back in their places.');
    await names(project).toEqual(NAMES.filter((name) => name !== 'Beam'));
  });

  test('are offered only where an order by hand is possible, and viewers see it', async ({ visit, api }) => {
    const id = await bridge(api);
    const project = await ProjectPage.open(await visit(EDITOR), id);
    const panel = await project.open('Sort');
    expect(await panel.getByRole('button', { name: 'Manual order' }).isDisabled()).toBe(true);
    await panel.getByText('Save this view as a shared one first.').waitFor();
    await order(api, id);
    const visited = await visit(VIEWER);
    const seen = await ProjectPage.open(visited, id, 'view=v1');
    await (await seen.open('Sort')).getByText('Only editors can change the order by hand.').waitFor();
    await visited.page.keyboard.press('Escape');
    await dragRow(seen, 0, 4, 'lower');
    expect(await seen.column('Name')).toEqual(NAMES);
    // A sort by a field replaces the order, until it is discarded.
    await seen.sort('Weight');
    await seen.sort('Weight');
    await names(seen).toEqual([...NAMES].reverse());
    expect(seen.view.get('sort')).toBe('-weight');
    await visited.page.getByRole('button', { name: 'Discard' }).click();
    await names(seen).toEqual(NAMES);
  });

  test('scroll at the edge while they are dragged, and a finger drags their handle', async ({ visit, api }) => {
    const id = await makeProject(api, { name: 'Long', issues: Array.from({ length: 120 }, (_, at) => ({ name: `Row ${at + 1}` })) });
    await api.call('POST', '/v1/projects/{project}/views', { path: { project: id }, body: { name: 'Plan', visibility: 'shared' } });
    await order(api, id);
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id, 'view=v1');
    const start = await gutterOf(project, 0);
    const frame = await boxOf(project.grid);
    await page.mouse.move(start.x, start.y);
    await page.mouse.down();
    await page.mouse.move(start.x, frame.y + frame.height - 50, { steps: 4 });
    await expect.poll(() => page.locator('.ag-grid-viewport').evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(1500);
    await page.mouse.up();
    await expect.poll(async () => (await stored(api, id)).indexOf('Row 1')).toBeGreaterThan(40);

    const touched = await visit(ADMIN, { touch: true, width: 800 });
    const tablet = await ProjectPage.open(touched, id, 'view=v1');
    const finger = await Finger.on(touched.page);
    const before = await tablet.column('Name');
    const [from, to] = [await middleOf(tablet.gutter(1).locator('.grip')), await boxOf(tablet.gutter(4))];
    await finger.drag(from, { x: from.x, y: to.y + to.height * 0.8 });
    await names(tablet).toEqual([before[0], before[2], before[3], before[4], before[1], ...before.slice(5)]);
  });
});

describe('the menus of rows in a manual order', () => {
  const entries = (project: ProjectPage) => project.menu(/^Actions for /).getByRole('menuitem', { name: /^Move / });

  test('move a row by the mouse and by keys, and checked rows together', async ({ visit, api }) => {
    const id = await bridge(api);
    await order(api, id);
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id, 'view=v1');
    await names(project).toEqual(NAMES);
    await project.gutter(2).click({ button: 'right' });
    expect(await entries(project).evaluateAll((all) => all.map((one) => [one.querySelector('.menu-text')?.textContent, one.getAttribute('aria-keyshortcuts')]))).toEqual([
      ['Move up', 'Alt+ArrowUp'],
      ['Move down', 'Alt+ArrowDown'],
    ]);
    await entries(project).getByText('Alt+↑').waitFor();
    expect(await findings(page)).toEqual([]);
    await project.menu('Actions for issue 3').getByRole('menuitem', { name: 'Move up' }).click();
    await names(project).toEqual(['Anchor', 'Cable', 'Beam', 'Deck', 'Eye', 'Flange', 'Girder', 'Hinge']);
    await outcome(page, 'Moved “Cable” to row 2.');

    // The row has the focus: the keys go on, and the menu of its cell opens by keys.
    await page.keyboard.press('Alt+ArrowUp');
    const first = ['Cable', 'Anchor', 'Beam', 'Deck', 'Eye', 'Flange', 'Girder', 'Hinge'];
    await names(project).toEqual(first);
    await page.keyboard.press('Shift+F10');
    await entries(project).first().waitFor();
    expect(await Promise.all((await entries(project).all()).map((one) => one.isDisabled()))).toEqual([true, false]);
    await page.keyboard.press('Escape');
    await expect.poll(() => stored(api, id)).toEqual(first);

    await project.gutter(5).getByRole('checkbox').check();
    await project.gutter(3).getByRole('checkbox').check();
    await project.gutter(3).click({ button: 'right' });
    await entries(project).filter({ hasText: 'Move 2 rows up' }).click();
    const together = ['Cable', 'Anchor', 'Deck', 'Flange', 'Beam', 'Eye', 'Girder', 'Hinge'];
    await names(project).toEqual(together);
    await page.keyboard.press('Alt+ArrowDown');
    await names(project).toEqual(['Cable', 'Anchor', 'Beam', 'Deck', 'Flange', 'Eye', 'Girder', 'Hinge']);
    for (let step = 0; step < 4; step += 1) await page.keyboard.press('Control+z');
    await names(project).toEqual(NAMES);
    await expect.poll(() => stored(api, id)).toEqual(NAMES);

    // Another sort has no places.
    await project.sort('Weight');
    await project.sort('Weight');
    await names(project).toEqual([...NAMES].reverse());
    await project.gutter(5).click({ button: 'right' });
    await project.menu('Actions for issue 3').getByRole('menuitem', { name: 'Copy row' }).waitFor();
    expect(await entries(project).count()).toBe(0);
  });

  test('do not move rows for viewers', async ({ visit, api }) => {
    const id = await bridge(api);
    await order(api, id);
    const project = await ProjectPage.open(await visit(VIEWER), id, 'view=v1');
    await names(project).toEqual(NAMES);
    await project.gutter(2).click({ button: 'right' });
    await project.menu('Actions for issue 3').getByRole('menuitem', { name: 'Copy row' }).waitFor();
    expect(await entries(project).count()).toBe(0);
  });

  test('open under a resting finger, and a finger that rests at the handle still drags', async ({ visit, api }) => {
    const id = await bridge(api);
    await order(api, id);
    const touched = await visit(ADMIN, { touch: true, width: 390, height: 780 });
    const { page } = touched;
    const project = await ProjectPage.open(touched, id, 'view=v1');
    const finger = await Finger.on(page);
    await names(project).toEqual(NAMES);
    await finger.rest(await project.cell(4, 'Name'));
    await project.menu('Actions for the cell Name').getByRole('menuitem', { name: 'Move down' }).tap();
    await names(project).toEqual(['Anchor', 'Beam', 'Cable', 'Deck', 'Flange', 'Eye', 'Girder', 'Hinge']);
    await finger.rest(project.gutter(1).locator('.grip'));
    await project.menu('Actions for issue 2').getByRole('menuitem', { name: 'Move up' }).tap();
    const menus = ['Beam', 'Anchor', 'Cable', 'Deck', 'Flange', 'Eye', 'Girder', 'Hinge'];
    await names(project).toEqual(menus);

    const [from, to] = [await middleOf(project.gutter(0).locator('.grip')), await boxOf(project.gutter(3))];
    await finger.drag(from, { x: from.x, y: to.y + to.height * 0.8 }, { rests: true });
    await names(project).toEqual(['Anchor', 'Cable', 'Deck', 'Beam', 'Flange', 'Eye', 'Girder', 'Hinge']);
    expect(await page.getByRole('menu').count()).toBe(0);
    // Taps right after the drag.
    for (let step = 0; step < 3; step += 1) await project.tool('Undo').tap();
    await names(project).toEqual(NAMES);
    await expect.poll(() => stored(api, id)).toEqual(NAMES);
  });
});

describe('cards in a manual order', () => {
  test('are moved by their menu, by its keys and by a finger, and undo by touch brings them back', async ({ visit, api }) => {
    const id = await bridge(api, { kind: 'board', board: { by: 'state', columns: [], card: [], aggregate: null } });
    await order(api, id);
    const open = ['Anchor', 'Beam', 'Cable', 'Deck', 'Eye'];
    const visited = await visit();
    const { page } = visited;
    await page.goto(`/projects/${id}?view=v1`);
    const shown = new BoardPage(page);
    await shown.hasCards('open', open);
    const menu = page.getByRole('menu');
    await shown.card('Beam').click({ button: 'right' });
    expect(await findings(page)).toEqual([]);
    await menu.getByRole('menuitem', { name: 'Move down' }).click();
    await shown.hasCards('open', ['Anchor', 'Cable', 'Beam', 'Deck', 'Eye']);
    await outcome(page, 'Moved “Beam” to place 3 in open.');
    await page.keyboard.press('Alt+ArrowUp');
    await shown.hasCards('open', open);
    await page.keyboard.press('Alt+ArrowUp');
    await page.keyboard.press('Alt+ArrowUp');
    await outcome(page, 'The cards are at the top of the column already.');
    await shown.hasCards('open', ['Beam', 'Anchor', 'Cable', 'Deck', 'Eye']);
    await page.keyboard.press('Shift+F10');
    expect(await menu.getByRole('menuitem', { name: 'Move up' }).isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    // Checked cards of the column go along; those of other columns stay.
    for (const card of ['Flange', 'Eye', 'Cable']) await shown.card(card).click({ modifiers: ['Control'] });
    await shown.card('Cable').click({ button: 'right' });
    await menu.getByRole('menuitem', { name: 'Move 2 cards up' }).click();
    const together = ['Beam', 'Cable', 'Eye', 'Anchor', 'Deck'];
    await shown.hasCards('open', together);
    await shown.hasCards('doing', ['Flange', 'Girder', 'Hinge']);
    await expect.poll(async () => (await stored(api, id)).filter((name) => open.includes(name))).toEqual(together);

    const touched = await visit(ADMIN, { touch: true, width: 800, height: 780 });
    await touched.page.goto(`/projects/${id}?view=v1`);
    const tablet = new BoardPage(touched.page);
    await tablet.hasCards('open', together);
    const finger = await Finger.on(touched.page);
    const [from, to] = [await middleOf(tablet.card('Deck').locator('.grip')), await boxOf(tablet.card('Girder'))];
    await finger.drag(from, { x: to.x + to.width / 2, y: to.y + 4 });
    const doing = ['Flange', 'Deck', 'Girder', 'Hinge'];
    // A tap right after the drag.
    await touched.page.getByRole('button', { name: /^Undo/ }).first().tap();
    await tablet.hasCards('doing', ['Flange', 'Girder', 'Hinge']);
    await tablet.hasCards('open', together);
    await touched.page.getByRole('button', { name: /^Redo/ }).first().tap();
    await tablet.hasCards('doing', doing);
    await shown.hasCards('doing', doing);
    await finger.rest(tablet.card('Deck').locator('.card-name'));
    await touched.page.getByRole('menuitem', { name: 'Move down' }).tap();
    await tablet.hasCards('doing', ['Flange', 'Girder', 'Deck', 'Hinge']);
    await expect.poll(async () => (await valuesOf(api, id, 4))['state']).toBe('doing');

    const seen = await visit(VIEWER);
    await seen.page.goto(`/projects/${id}?view=v1`);
    const viewed = new BoardPage(seen.page);
    await viewed.card('Deck').click({ button: 'right' });
    await seen.page.getByRole('menuitem', { name: 'Copy row' }).waitFor();
    expect(await seen.page.getByRole('menuitem', { name: /^Move / }).count()).toBe(0);
  });

  test('go between their neighbours by the mouse and by keys, and undo brings them back', async ({ visit, api }) => {
    const board = { by: 'state', columns: [], card: [], aggregate: null };
    const id = await bridge(api, { kind: 'board', board });
    await order(api, id);
    const visited = await visit();
    const { page } = visited;
    await page.goto(`/projects/${id}?view=v1`);
    const shown = new BoardPage(page);
    await shown.hasCards('open', ['Anchor', 'Beam', 'Cable', 'Deck', 'Eye']);
    await shown.hasCards('doing', ['Flange', 'Girder', 'Hinge']);
    const put = async (card: string, beside: string) => {
      const [from, to] = [await middleOf(shown.card(card)), await boxOf(shown.card(beside))];
      await page.mouse.move(from.x, from.y);
      await page.mouse.down();
      await page.mouse.move(to.x + 40, to.y + to.height - 4, { steps: 6 });
      await page.locator('.card-drop-line').waitFor();
      await page.mouse.up();
    };
    await put('Beam', 'Flange');
    await shown.hasCards('doing', ['Flange', 'Beam', 'Girder', 'Hinge']);
    await shown.hasCards('open', ['Anchor', 'Cable', 'Deck', 'Eye']);
    await expect.poll(async () => (await valuesOf(api, id, 2))['state']).toBe('doing');
    await expect.poll(async () => (await stored(api, id)).join()).toBe('Anchor,Cable,Deck,Eye,Flange,Beam,Girder,Hinge');
    // Within a column nothing but the place changes.
    await put('Anchor', 'Deck');
    await shown.hasCards('open', ['Cable', 'Deck', 'Anchor', 'Eye']);
    await expect.poll(async () => (await stored(api, id)).slice(0, 4)).toEqual(['Cable', 'Deck', 'Anchor', 'Eye']);
    await page.keyboard.press('Control+z');
    await shown.hasCards('open', ['Anchor', 'Cable', 'Deck', 'Eye']);
    await page.keyboard.press('Control+z');
    await shown.hasCards('doing', ['Flange', 'Girder', 'Hinge']);
    await shown.hasCards('open', ['Anchor', 'Beam', 'Cable', 'Deck', 'Eye']);
    await expect.poll(() => stored(api, id)).toEqual(NAMES);

    // Space picks up, the arrows choose the place.
    await shown.card('Anchor').click();
    for (const key of ['Space', 'ArrowDown', 'ArrowDown', 'Space']) await page.keyboard.press(key);
    await shown.hasCards('open', ['Beam', 'Cable', 'Anchor', 'Deck', 'Eye']);
    await expect.poll(async () => (await stored(api, id)).slice(0, 3)).toEqual(['Beam', 'Cable', 'Anchor']);
    expect(await findings(page)).toEqual([]);
  });
});
