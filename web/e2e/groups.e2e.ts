/** The heads of groups: their figures, the heads that stay at the top, and new rows in a group. */
import type { Locator, Page, Route } from 'playwright-core';
import { expect } from 'vitest';
import type { Api } from '../src/api/client';
import { middleOf } from './dragging';
import { Finger } from './finger';
import { ProjectPage } from './project-page';
import { countOf, makeProject, PARTS, valuesOf } from './projects';
import { ADMIN } from './stack';
import { test } from './test';

const COLUMNS = 'columns=num:64!,name:220!,kind:120,note:260,weight:140,due:130,safe:300';

/** 20 beams, bolts and plates each, every other one open. Row n of the screen is in the order of the numbers. */
const parts = (api: Api): Promise<string> =>
  makeProject(api, {
    name: 'Heads',
    fields: PARTS,
    issues: Array.from({ length: 60 }, (_, at) => ({
      name: `Part ${at}`,
      state: at % 2 ? 'closed' : 'open',
      fields: { kind: ['beam', 'bolt', 'plate'][Math.floor(at / 20)] ?? null, weight: at, due: '2024-05-01' },
    })),
  });

const rightOf = (within: Locator, text: string) => within.getByText(text, { exact: true }).evaluate((element) => element.getBoundingClientRect().right);

/** The labels of the heads that stay at the top, from the upper one on. */
const staying = (project: ProjectPage) => project.stickyHeads.locator('.group-toggle').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));

/** The focus: the row of the screen, the column, and whether its cell is seen. */
function focus(page: Page) {
  return page.evaluate(() => {
    const cell = document.activeElement?.closest('[role="gridcell"]');
    const { left = 0, top = 0, width = 0, height = 0 } = cell?.getBoundingClientRect() ?? {};
    const isSeen = [2, height - 2].every((y) => cell?.contains(document.elementFromPoint(left + width / 2, top + y)));
    return { row: Number(cell?.closest('[role="row"]')?.getAttribute('aria-rowindex')) - 2, column: cell?.getAttribute('col-id'), isSeen };
  });
}

test('heads have figures below the heads of their columns, and a label that stays at the left', async ({ visit, api }) => {
  const visited = await visit();
  const { page } = visited;
  const project = await ProjectPage.open(visited, await parts(api), `group=kind&closed=bolt&footers=weight:sum,num:max&${COLUMNS}`);
  const [beams, bolts] = ['Kind: beam, 20 issues', 'Kind: bolt, 20 issues'];
  const sum = await project.figures(beams, 'Weight');
  await expect.poll(() => sum.innerText()).toMatch(/Sum\s+190/);
  await expect.poll(async () => (await project.figures(bolts, 'Weight')).innerText()).toMatch(/Sum\s+590/);
  expect(await rightOf(sum, '190')).toBe(await rightOf(await project.footer('Weight'), '1,770'));
  // The label covers the first column, and has its figure.
  await project.groupRow(bolts).getByText('Max of No. 40').waitFor();

  await page.setViewportSize({ width: 800, height: 800 });
  const placeOf = async (one: Locator) => (await one.boundingBox())?.x ?? 0;
  const [label, figure] = [await placeOf(project.group(beams)), await placeOf(sum)];
  await project.scrollSideways(200);
  await expect.poll(() => placeOf(sum)).toBe(figure - 200);
  expect(await placeOf(project.group(beams))).toBe(label);
  await project.scrollSideways(-200);
  await page.setViewportSize({ width: 1366, height: 800 });

  // Keys. Row 0 is the head of the beams, row 1 the first beam.
  const isOpen = (name: string) => project.group(name).getAttribute('aria-expanded');
  await (await project.cell(1, 'Weight')).click();
  await page.keyboard.press('ArrowUp');
  expect(await focus(page)).toMatchObject({ row: 0, column: 'weight' });
  for (const [key, open, column] of [
    ['Enter', 'false', 'weight'],
    ['Space', 'true', 'weight'],
    ['ArrowLeft', 'false', 'weight'],
    ['ArrowRight', 'true', 'weight'],
    ['ArrowRight', 'true', 'due'],
  ] as const) {
    await page.keyboard.press(key);
    await expect.poll(() => isOpen(beams)).toBe(open);
    expect(await focus(page), key).toMatchObject({ row: 0, column });
  }
  await page.keyboard.press('ArrowDown');
  expect(await focus(page)).toMatchObject({ row: 1, column: 'due' });
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowDown');
  expect(await focus(page)).toMatchObject({ row: 1, column: 'due' });
  await page.keyboard.press('Shift+F10');
  await project.menu('Actions for the group bolt').getByRole('menuitem', { name: 'Expand', exact: true }).waitFor();
  await page.keyboard.press('Escape');
  expect(await focus(page)).toMatchObject({ row: 1, column: 'due' });
  // Tab stops once at each head: at its label.
  await page.keyboard.press('Tab');
  expect(await focus(page)).toMatchObject({ row: 2, column: '#gutter' });
  await page.keyboard.press('Shift+F10');
  await project.menu('Actions for the group plate').waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Tab');
  expect(await focus(page)).toMatchObject({ row: 3, column: 'num' });
  for (const row of [2, 1, 0]) {
    await page.keyboard.press('Shift+Tab');
    expect(await focus(page)).toMatchObject({ row, column: '#gutter' });
  }
  // A range may include heads; the head itself has nothing to copy or clear.
  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.press('Delete');
  await page.keyboard.press('Control+c');
  expect(await isOpen(beams)).toBe('false');
});

test('heads stay at the top while the rows of their groups scroll, and the focus stays below them', async ({ visit, api }) => {
  const visited = await visit(ADMIN, { width: 1366, height: 500 });
  const { page } = visited;
  const project = await ProjectPage.open(visited, await parts(api), `group=kind,state&footers=weight:sum&${COLUMNS}`);
  const [beams, open, closed] = ['Kind: beam, 20 issues', 'State: open, 10 issues', 'State: closed, 10 issues'];
  await expect.poll(async () => (await project.figures(beams, 'Weight')).innerText()).toContain('190');
  // Without the groups within the groups there is nothing to scroll.
  await project.grid.getByRole('button', { name: open }).first().waitFor();
  expect(await staying(project)).toEqual([]);
  const wheel = async (rows: number) => {
    await project.grid.hover();
    await page.mouse.wheel(0, rows * 32);
  };
  await wheel(3);
  await expect.poll(() => staying(project)).toEqual([beams, open]);
  await expect.poll(() => project.stickyHeads.first().innerText()).toContain('190');
  // Rows 0 and 1 are heads, 2 to 11 issues, 12 a head, 13 to 22 issues, and 23 the head of the bolts.
  await wheel(9);
  await expect.poll(() => staying(project)).toEqual([beams, closed]);

  // Its button closes the group. The head and what follows it come up to it.
  const button = project.stickyHeads.last().locator('.group-toggle');
  const before = (await button.boundingBox())?.y;
  await button.click();
  await expect.poll(() => staying(project)).toEqual([beams]);
  const head = project.grid.getByRole('button', { name: closed }).first();
  await expect.poll(async () => (await head.boundingBox())?.y).toBe(before);
  expect(await head.getAttribute('aria-expanded')).toBe('false');
  expect(await focus(page)).toMatchObject({ row: 12, column: '#gutter', isSeen: true });

  // Keys: upward, through all rows to the first one.
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => head.getAttribute('aria-expanded')).toBe('true');
  await wheel(20);
  await (await project.cell(33, 'Note')).click();
  for (let row = 32; row >= 0; row -= 1) {
    await page.keyboard.press('ArrowUp');
    await expect.poll(() => focus(page)).toEqual({ row, column: 'note', isSeen: true });
  }
  expect(await staying(project)).toEqual([]);

  // Fingers scroll on it, and a finger that rests opens the menu of the group.
  await wheel(5);
  await expect.poll(() => staying(project)).toEqual([beams, open]);
  const finger = await Finger.on(page);
  await finger.rest(project.stickyHeads.last());
  await project.menu('Actions for the group open').waitFor();
  await page.keyboard.press('Escape');
  const from = await middleOf(project.stickyHeads.last());
  await finger.drag(from, { ...from, y: from.y + 250 });
  await expect.poll(() => staying(project)).toEqual([]);
});

test('a button in the head of a group starts a row in the group', async ({ visit, api }) => {
  const id = await parts(api);
  const visited = await visit();
  const { page } = visited;
  const project = await ProjectPage.open(visited, id, `group=kind,state&closed=beam,bolt&${COLUMNS}`);
  const add = (within: Locator) => within.getByRole('button', { name: 'New row in this group' });
  await project.group('State: closed, 10 issues').waitFor();
  await add(project.groupRow('Kind: bolt, 20 issues')).click();
  await page.locator('.editor:focus').fill('By mouse');
  // The user goes on before the answer comes: the row goes to its place then.
  let answer: () => void = () => undefined;
  const hold = async (route: Route) => {
    const response = await route.fetch();
    await new Promise<void>((resolve) => (answer = resolve));
    await route.fulfill({ response });
  };
  await page.route('**/issues/batch', hold, { times: 1 });
  await page.keyboard.press('Enter');
  await expect.poll(() => countOf(api, id, { field: 'kind', op: 'eq', value: 'bolt' })).toBe(21);
  expect(await valuesOf(api, id, 61)).toMatchObject({ name: 'By mouse', kind: 'bolt' });
  await (await project.cell(0, 'Kind')).click();
  answer();

  // By keys it is in the menu of the group.
  await project.group('Kind: bolt, 21 issues').waitFor();
  await page.keyboard.press('Shift+F10');
  await page.getByRole('menuitem', { name: 'New row in this group' }).press('Enter');
  await page.locator('.editor:focus').fill('By keys');
  await page.keyboard.press('Enter');
  await expect.poll(() => countOf(api, id, { field: 'kind', op: 'eq', value: 'beam' })).toBe(21);

  // From a head that stays at the top, with the values of both fields.
  await page.goto(`/projects/${id}?group=kind,state&${COLUMNS}`);
  await project.group('State: closed, 10 issues').first().waitFor();
  await project.rows();
  await project.grid.hover();
  await page.mouse.wheel(0, 160);
  await expect.poll(async () => (await staying(project)).length).toBe(2);
  await project.stickyHeads.last().locator('.group-add').click();
  await page.locator('.editor:focus').fill('From the top');
  await page.keyboard.press('Enter');
  await expect.poll(() => countOf(api, id)).toBe(63);
  expect(await valuesOf(api, id, 63)).toMatchObject({ name: 'From the top', kind: 'beam', state: 'open' });

  // A range gives no value, and viewers add nothing.
  await page.goto(`/projects/${id}?group=weight.w50`);
  await project.group('Weight: 0 – 50, 50 issues').waitFor();
  expect(await add(project.grid).count()).toBe(0);
  const viewer = await visit({ ...ADMIN, user: 'vera', role: 'viewer' });
  const seen = await ProjectPage.open(viewer, id, 'group=kind&closed=beam,bolt,plate');
  await seen.group('Kind: plate, 20 issues').waitFor();
  expect(await add(seen.grid).count()).toBe(0);
});
