import { describe, expect } from 'vitest';
import type { Page } from 'playwright-core';
import { ProjectPage } from './project-page';
import { makeProject, PARTS, valuesOf } from './projects';
import { test } from './test';

/** Press Tab until the focus is on what a selector names. */
async function tabTo(page: Page, selector: string): Promise<void> {
  await expect
    .poll(async () => {
      await page.keyboard.press('Tab');
      return page.evaluate((wanted) => document.activeElement?.matches(wanted), selector);
    })
    .toBe(true);
}

describe('only the keyboard', () => {
  test('opens a project, moves in the grid, edits, selects, copies, fills, sorts and undoes', async ({ visit, api }) => {
    const names = Array.from({ length: 100 }, (_, at) => `Part ${String(at).padStart(2, '0')}`);
    const fields = [{ id: 'note', name: 'Note', type: 'text' }] as const;
    const id = await makeProject(api, { name: 'By keys', fields: [...fields], issues: names.map((name) => ({ name })) });
    const { page } = await visit();
    const keys = page.keyboard;
    await page.goto('/');
    await page.getByRole('link', { name: id }).waitFor();
    await tabTo(page, `[href="/projects/${id}"]`);
    await keys.press('Enter');
    const project = new ProjectPage(page, id);
    await project.rows();
    await tabTo(page, '[role="gridcell"], [role="columnheader"]');

    // Down from the head, and through the gutter to the right.
    await keys.press('ArrowDown');
    await keys.press('ArrowRight');
    await keys.press('ArrowRight');
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await expect.poll(focused).toBe('Part 00');
    await keys.press('Control+End');
    await expect.poll(() => project.column('Name')).toContain('Part 99');
    await keys.press('Control+Home');
    await keys.press('ArrowRight');
    await expect.poll(focused).toBe('Part 00');

    // Edit with F2 and leave, then edit by typing and take.
    await keys.press('F2');
    await page.locator('textarea:focus').waitFor();
    await keys.type('nonsense');
    await keys.press('Escape');
    await keys.type('First part'); // at once, as people do
    await keys.press('Enter');
    await expect.poll(() => valuesOf(api, id, 1)).toMatchObject({ name: 'First part' });
    await expect.poll(focused).toBe('Part 01');

    // A range, filled down with its first row, and taken back.
    const note = (await project.head('Note').getAttribute('aria-colindex')) ?? '';
    while ((await page.evaluate(() => document.activeElement?.getAttribute('aria-colindex'))) !== note) await keys.press('ArrowRight');
    await keys.type('same');
    await keys.press('Enter');
    await keys.press('ArrowUp');
    for (let step = 0; step < 3; step += 1) await keys.press('Shift+ArrowDown');
    await page.getByText('4 cells selected').waitFor();
    await keys.press('Control+d');
    await expect.poll(() => valuesOf(api, id, 5)).toMatchObject({ note: 'same' });
    await keys.press('Control+c');
    await page.getByText('Copied 4 rows.').waitFor();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('same\r\nsame\r\nsame\r\nsame');
    await keys.press('Control+z');
    await expect.poll(() => valuesOf(api, id, 5)).not.toHaveProperty('note');

    // The menu of the column, and the help.
    await keys.press('Alt+ArrowDown');
    await page.getByRole('menu', { name: 'Note menu' }).waitFor();
    await keys.press('ArrowDown');
    await keys.press('Enter');
    await expect.poll(() => project.view.get('sort')).toBe('-note');
    await project.rows();
    await tabTo(page, '[role="gridcell"]');
    await keys.press('Control+/');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await keys.press('Escape');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor({ state: 'hidden' });
  });

  test('keeps the focus in the grid while the sorted rows come late', async ({ visit, api }) => {
    const names = Array.from({ length: 100 }, (_, at) => `Part ${String(at).padStart(2, '0')}`);
    const id = await makeProject(api, { name: 'Late rows', issues: names.map((name) => ({ name })) });
    const visited = await visit();
    const { page } = visited;
    const keys = page.keyboard;
    const project = await ProjectPage.open(visited, id);
    await (await project.cell(0, 'Name')).click();
    let answer: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/grid', async (route) => {
      await held;
      await route.continue();
    });
    await keys.press('Alt+ArrowDown');
    await page.getByRole('menu', { name: 'Name menu' }).waitFor();
    await keys.press('ArrowDown');
    await keys.press('Enter');
    await expect.poll(() => project.view.get('sort')).toBe('-name');
    const place = () => page.evaluate(() => document.activeElement?.closest('[role="grid"]') && document.activeElement.getAttribute('aria-colindex'));
    const before = await place();
    answer();
    await expect.poll(() => project.column('Name')).toContain('Part 99');
    expect(before).toBeTruthy();
    expect(await place()).toBe(before);
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await keys.press('Control+/');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  });

  test('keeps its focus while keys of the sort and of the groups are changed, moved, removed and added', async ({ visit, api }) => {
    const fields = [...PARTS, { id: 'cost', name: 'Cost', type: 'number' as const }];
    const id = await makeProject(api, { name: 'Keys of the sort', fields, issues: [{ name: 'Girder', fields: { weight: 5 } }] });
    const project = await ProjectPage.open(await visit(), id, 'sort=-weight.first,due');
    const { page } = project;
    const sort = await project.open('Sort');
    const focused = () =>
      page.evaluate(() => {
        const { activeElement: one } = document;
        const item = one?.closest('li');
        return [item ? [...(item.parentElement?.children ?? [])].indexOf(item) : null, one?.getAttribute('aria-label') ?? one?.textContent];
      });
    const field = sort.getByLabel('Field', { exact: true }).first();
    await field.focus();
    for (let steps = 0; steps < 2; steps += 1) {
      const before = await field.inputValue();
      await page.keyboard.press('ArrowUp');
      await expect.poll(() => field.inputValue()).not.toBe(before);
      expect(await focused()).toEqual([0, 'Field']);
    }
    const first = await field.inputValue();
    // The direction and the place of empty values are not those of a field.
    await expect.poll(() => project.view.get('sort')).toBe(`-${first}.first,due`);

    await sort.getByRole('button', { name: 'Move up' }).nth(1).press('Enter');
    await expect.poll(() => project.view.get('sort')).toBe(`due,-${first}.first`);
    expect(await focused()).toEqual([0, 'Move up']);
    await page.keyboard.press('Enter');
    await sort.getByRole('button', { name: 'Remove' }).nth(1).press('Enter');
    await expect.poll(() => project.view.get('sort')).toBe('due');
    expect(await focused()).toEqual([0, 'Remove']);
    await page.keyboard.press('Enter');
    await sort.getByText('Sorted by issue number.').waitFor();
    expect(await focused()).toEqual([null, 'Add a field']);
    await page.keyboard.press('Enter');
    await expect.poll(focused).toEqual([0, 'Field']);
    await page.keyboard.press('Escape');

    // An unusable width of ranges does not stay for another field.
    const group = await project.open('Group');
    await group.getByRole('button', { name: 'Add a field' }).click();
    await group.getByLabel('Field', { exact: true }).selectOption('Weight');
    await group.locator('.width').fill('wide');
    await page.keyboard.press('Tab');
    await group.getByRole('alert').waitFor();
    await group.getByLabel('Field', { exact: true }).selectOption('Cost');
    await group.getByRole('alert').waitFor({ state: 'hidden' });
    expect(await group.locator('.width').inputValue()).toBe('');
  });

  test('edits the issue of the panel after the panel has gone to other rows and is closed', async ({ visit, api }) => {
    const names = Array.from({ length: 100 }, (_, at) => `Part ${String(at).padStart(2, '0')}`);
    const id = await makeProject(api, { name: 'Rows of the panel', issues: names.map((name) => ({ name })) });
    const visited = await visit();
    const { page } = visited;
    const keys = page.keyboard;
    const project = await ProjectPage.open(visited, id);
    const panel = page.getByRole('complementary');
    const shows = (name: string) => panel.getByRole('heading', { name }).first().waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.matches('[role="gridcell"]') && document.activeElement.textContent);

    // A range from the focus stays. The cell is drawn again when its column is no longer frozen beside the panel.
    await (await project.cell(3, 'Name')).click();
    await keys.press('Shift+ArrowDown');
    await keys.press('Space');
    await shows('Part 03');
    await keys.press('Escape');
    await panel.waitFor({ state: 'hidden' });
    await expect.poll(focused).toBe('Part 03');
    await page.getByText('2 cells selected').waitFor();

    // The panel has room beside the frozen columns, so the cell is the same.
    await page.setViewportSize({ width: 2000, height: 900 });
    await keys.press('Space');
    await shows('Part 03');
    await keys.press('j');
    await shows('Part 04');
    await keys.press('j');
    await shows('Part 05');
    await keys.press('Escape');
    await panel.waitFor({ state: 'hidden' });
    await expect.poll(focused).toBe('Part 05');
    await keys.type('By keys');
    await keys.press('Enter');
    await expect.poll(() => valuesOf(api, id, 6)).toMatchObject({ name: 'By keys' });
    await expect.poll(focused).toBe('Part 06');

    // Also out of view of the row that had the focus.
    await keys.press('Space');
    const last = 60;
    for (let at = 7; at <= last; at += 1) {
      await panel.getByRole('button', { name: 'Next' }).click();
      await shows(`Part ${String(at).padStart(2, '0')}`);
    }
    await panel.getByRole('button', { name: 'Close' }).click();
    await panel.waitFor({ state: 'hidden' });
    await expect.poll(focused).toBe(`Part ${last}`);
    await keys.press('ArrowDown');
    await expect.poll(focused).toBe(`Part ${last + 1}`);
    expect(await valuesOf(api, id, 4)).toMatchObject({ name: 'Part 03' });
    expect(await valuesOf(api, id, 7)).toMatchObject({ name: 'Part 06' });
  });

  test('works on a layout without Latin letters, as on a Russian keyboard', async ({ visit, api }) => {
    const id = await makeProject(api, { name: 'Other letters', issues: ['Anchor', 'Beam', 'Cable'].map((name) => ({ name })) });
    const visited = await visit();
    const { page } = visited;
    const session = await page.context().newCDPSession(page);
    const press = async (key: string, code: string, control = true) => {
      for (const type of ['rawKeyDown', 'keyUp'] as const) await session.send('Input.dispatchKeyEvent', { type, key, code, modifiers: control ? 2 : 0 });
    };
    const project = await ProjectPage.open(visited, id);
    await (await project.cell(0, 'Name')).click();
    await page.keyboard.press('Shift+ArrowDown');
    await press('с', 'KeyC');
    await page.getByText('Copied 2 rows.').waitFor();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('Anchor\r\nBeam');
    await press('в', 'KeyD');
    await expect.poll(() => valuesOf(api, id, 2)).toMatchObject({ name: 'Anchor' });
    await press('я', 'KeyZ');
    await expect.poll(() => valuesOf(api, id, 2)).toMatchObject({ name: 'Beam' });
    await page.keyboard.press('Space');
    const panel = page.getByRole('complementary');
    await panel.getByRole('heading', { name: 'Anchor' }).first().waitFor();
    await press('о', 'KeyJ', false);
    await panel.getByRole('heading', { name: 'Beam' }).first().waitFor();
    await press('л', 'KeyK');
    await page.getByRole('dialog', { name: 'Commands' }).waitFor();
  });
});
