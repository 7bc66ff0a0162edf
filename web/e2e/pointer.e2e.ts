import type { Locator } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Api } from '../src/api/client';
import { findings } from './accessibility';
import { middleOf } from './dragging';
import { Finger, handleOf } from './finger';
import { ProjectPage } from './project-page';
import { makeProject, PARTS, valuesOf } from './projects';
import { test } from './test';

/** The modifier in the browser's protocol. */
const SHIFT = 8;

const parts = (api: Api): Promise<string> =>
  makeProject(api, {
    name: 'Pointers',
    fields: PARTS,
    issues: Array.from({ length: 60 }, (_, at) => ({ name: `Part ${at}`, fields: { weight: at, kind: 'beam', note: `note ${at}` } })),
  });

/** The texts of the selected cells, row by row. */
function selected({ grid }: ProjectPage): Promise<readonly string[]> {
  return grid.locator('.is-selected').evaluateAll((cells) =>
    cells
      .map((cell) => ({ box: cell.getBoundingClientRect(), text: cell.textContent }))
      .sort((one, other) => one.box.top - other.box.top || one.box.left - other.box.left)
      .map(({ text }) => text),
  );
}

/** The weights of the first issues, as the API has them. */
async function weights(api: Api, id: string, count: number): Promise<readonly string[]> {
  const values = await Promise.all(Array.from({ length: count }, (_, at) => valuesOf(api, id, at + 1)));
  return values.map(({ weight }) => String(weight));
}

describe('a mouse or a pen', () => {
  test('selects by click, Shift, Ctrl and dragging, and fills by the handle', async ({ visit, api }) => {
    const id = await parts(api);
    const visited = await visit();
    const page = await ProjectPage.open(visited, id);
    const { mouse, keyboard } = page.page;

    await (await page.cell(1, 'Weight')).click();
    await expect.poll(() => selected(page)).toEqual(['1']);
    await (await page.cell(3, 'Weight')).click({ modifiers: ['Shift'] });
    await expect.poll(() => selected(page)).toEqual(['1', '2', '3']);
    // The range still begins at the first cell, also for the keys that follow.
    await (await page.cell(2, 'Weight')).click({ modifiers: ['Shift'] });
    await expect.poll(() => selected(page)).toEqual(['1', '2']);
    await keyboard.press('Shift+ArrowDown');
    await expect.poll(() => selected(page)).toEqual(['1', '2', '3']);
    await (await page.cell(5, 'Weight')).click({ modifiers: ['ControlOrMeta'] });
    await expect.poll(() => selected(page)).toEqual(['1', '2', '3', '5']);

    await (await page.cell(1, 'Weight')).click();
    await keyboard.type('5');
    await keyboard.press('Enter');
    const [from, to] = [await middleOf(await page.cell(0, 'Weight')), await middleOf(await page.cell(1, 'Weight'))];
    await mouse.move(from.x, from.y);
    await mouse.down();
    await mouse.move(to.x, to.y, { steps: 3 });
    await mouse.up();
    await expect.poll(() => selected(page)).toEqual(['0', '5']);

    // The step from the first to the second goes on.
    const [handle, target] = [await handleOf(await page.cell(1, 'Weight')), await middleOf(await page.cell(5, 'Weight'))];
    await mouse.move(handle.x, handle.y);
    await mouse.down();
    await mouse.move(target.x, target.y, { steps: 3 });
    await expect.poll(() => page.grid.locator('.is-filling').count()).toBe(4);
    await mouse.up();
    await expect.poll(() => selected(page)).toEqual(['0', '5', '10', '15', '20', '25']);
    await expect.poll(() => weights(api, id, 7)).toEqual(['0', '5', '10', '15', '20', '25', '6']);

    // Shift takes the value of an open editor, and extends from its cell.
    await (await page.cell(6, 'Weight')).click();
    await keyboard.type('77');
    await (await page.cell(7, 'Weight')).click({ modifiers: ['Shift'] });
    await expect.poll(() => selected(page)).toEqual(['77', '7']);
    await expect.poll(() => weights(api, id, 7)).toEqual(['0', '5', '10', '15', '20', '25', '77']);

    // A pen works like a mouse.
    const session = await visited.context.newCDPSession(page.page);
    const press = async (cell: Locator, modifiers = 0) => {
      const pen = { ...(await middleOf(cell)), modifiers, button: 'left', clickCount: 1, pointerType: 'pen' } as const;
      await session.send('Input.dispatchMouseEvent', { ...pen, type: 'mousePressed' });
      await session.send('Input.dispatchMouseEvent', { ...pen, type: 'mouseReleased' });
    };
    await press(await page.cell(8, 'Weight'));
    await press(await page.cell(10, 'Weight'), SHIFT);
    await expect.poll(() => selected(page)).toEqual(['8', '9', '10']);
  });

  test('fills the rows that it is dragged over, though others move rows meanwhile', async ({ visit, api }) => {
    const id = await parts(api);
    await api.call('PATCH', '/v1/projects/{project}/issues/{num}', { path: { project: id, num: 60 }, body: { fields: { kind: 'bolt' } } });
    const visited = await visit();
    const { mouse } = visited.page;
    const page = await ProjectPage.open(visited, id, 'sort=-weight');
    const second = await ProjectPage.open(await visit(), id, 'sort=-weight');
    await (await page.cell(0, 'Kind')).click();
    const [from, to] = [await handleOf(await page.cell(0, 'Kind')), await middleOf(await page.cell(2, 'Kind'))];
    await mouse.move(from.x, from.y);
    await mouse.down();
    await mouse.move(to.x, to.y, { steps: 4 });
    await expect.poll(() => page.grid.locator('.is-filling').count()).toBe(2);
    await api.call('POST', '/v1/projects/{project}/issues', { path: { project: id }, body: { name: 'Heavy', fields: { weight: 100 } } });
    await expect.poll(async () => (await second.column('Weight'))[0]).toBe('100');
    expect((await page.column('Weight'))[0]).toBe('59');
    await mouse.up();
    const kinds = () => Promise.all([60, 59, 58, 57].map(async (num) => (await valuesOf(api, id, num))['kind']));
    await expect.poll(kinds).toEqual(['bolt', 'bolt', 'bolt', 'beam']);
    await expect.poll(async () => (await page.rows()).find(({ cells }) => cells['Weight'] === '59')?.at).toBe(1);
  });
});

describe('a finger', () => {
  test('selects by a tap, scrolls without selecting, and fills by the handle', async ({ visit, api }) => {
    const id = await parts(api);
    const { page: opened } = await visit();
    const page = await ProjectPage.open({ page: opened }, id);
    const finger = await Finger.on(opened);
    const tapped = await middleOf(await page.cell(2, 'Weight'));
    await finger.drag(tapped, tapped);
    await expect.poll(() => selected(page)).toEqual(['2']);

    const [handle, target] = [await handleOf(await page.cell(2, 'Weight')), await middleOf(await page.cell(4, 'Weight'))];
    await finger.drag(handle, target);
    await expect.poll(() => weights(api, id, 6)).toEqual(['0', '1', '2', '2', '2', '5']);
    await expect.poll(() => selected(page)).toEqual(['2', '2', '2']);

    const low = await middleOf(await page.cell(12, 'Kind'));
    await finger.drag(low, { x: low.x, y: low.y - 300 });
    const top = () => opened.locator('.ag-grid-viewport').evaluate(({ scrollTop }) => scrollTop);
    await expect.poll(top).toBeGreaterThan(100);
    // The distance after a swipe depends on how fast the browser saw it, so a second one may be needed.
    const back = async () => {
      await finger.drag({ x: low.x, y: low.y - 300 }, { x: low.x, y: low.y + 200 });
      return top();
    };
    await expect.poll(back).toBe(0);
    await expect.poll(() => selected(page)).toEqual(['2', '2', '2']);
  });
});

describe('several ranges', () => {
  test('are added by Ctrl and by Shift+F8, and copied, cleared and summed up together', async ({ visit, api }) => {
    const issues = Array.from({ length: 8 }, (_, at) => ({ name: `Part ${at + 1}`, fields: { weight: at + 1, note: `note ${at + 1}` } }));
    const id = await makeProject(api, { name: 'Ranges', fields: PARTS, issues });
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id, 'columns=name:200,weight:120,kind:120,note:200');
    const status = (text: string) => page.getByText(text, { exact: true }).waitFor();
    const copied = async (keys: string) => {
      await page.evaluate(() => navigator.clipboard.writeText(''));
      await page.keyboard.press(keys);
      await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).not.toBe('');
      return page.evaluate(() => navigator.clipboard.readText());
    };
    await (await project.cell(0, 'Weight')).click();
    await (await project.cell(1, 'Weight')).click({ modifiers: ['Shift'] });
    await (await project.cell(4, 'Weight')).click({ modifiers: ['Control'] });
    await status('3 cells selected in 2 ranges');
    await (await project.cell(6, 'Weight')).click({ modifiers: ['Control', 'Shift'] });
    await status('5 cells selected in 2 ranges');
    await page.getByText('Sum 21 · Average 4.2 · Min 1 · Max 7').waitFor();
    expect(await page.locator('.ag-cell.is-selected').allInnerTexts()).toEqual(['1', '2', '5', '6', '7']);
    expect(await findings(page)).toEqual([]);
    expect(await copied('Control+c')).toBe('1\r\n2\r\n5\r\n6\r\n7');

    // The focus is in the last range, which is no block with one of other rows and columns.
    await (await project.cell(2, 'Note')).click({ modifiers: ['Control'] });
    await page.keyboard.press('Control+c');
    await status('Ranges can be copied together if all have the same rows, or all have the same columns.');
    await page.keyboard.press('Delete');
    await expect.poll(() => Promise.all([1, 3, 7].map((num) => valuesOf(api, id, num)))).toEqual([
      { name: 'Part 1', state: 'open', note: 'note 1' },
      { name: 'Part 3', state: 'open', weight: 3 },
      { name: 'Part 7', state: 'open', note: 'note 7' },
    ]);
    // All of it is one step.
    await page.keyboard.press('Control+z');
    await expect.poll(() => valuesOf(api, id, 3)).toMatchObject({ note: 'note 3' });
    await expect.poll(() => valuesOf(api, id, 1)).toMatchObject({ weight: 1 });

    // A click without Ctrl, and Shift without Ctrl, leave one range.
    await (await project.cell(3, 'Weight')).click();
    await (await project.cell(3, 'Note')).click({ modifiers: ['Control'] });
    await (await project.cell(4, 'Note')).click({ modifiers: ['Shift'] });
    await status('2 cells selected');

    // By keys: Shift+F8 keeps the range, and the arrows go to the beginning of the next.
    await (await project.cell(0, 'Name')).click();
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Shift+F8');
    await status('Adding a range: go to its first cell. Escape ends.');
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight', 'Shift+ArrowDown']) await page.keyboard.press(key);
    await status('4 cells selected in 2 ranges');
    expect(await copied('Control+c')).toBe('Part 1\tnote 1\r\nPart 2\tnote 2');
    // One copied value fills all ranges.
    await page.evaluate(() => navigator.clipboard.writeText('same'));
    await page.keyboard.press('Control+v');
    await expect.poll(() => Promise.all([1, 2].map((num) => valuesOf(api, id, num)))).toMatchObject([{ name: 'same', note: 'same' }, { name: 'same', note: 'same' }]);
    await page.keyboard.press('Escape');
    await page.getByText('in 2 ranges').waitFor({ state: 'hidden' });
  });
});
