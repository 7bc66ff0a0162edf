import { expect } from 'vitest';
import { findings } from './accessibility';
import { ProjectPage } from './project-page';
import { countOf, makeProject, PARTS } from './projects';
import { test } from './test';

/** Milliseconds after which a toast closes by itself. */
const SHOWN = 10_000;

test('a toast undoes a deletion, by mouse and by keyboard, and a bulk change', async ({ visit, api }) => {
  const issues = ['Girder', 'Rivet', 'Cable', 'Plate'].map((name) => ({ name, fields: { note: 'as found' } }));
  const id = await makeProject(api, { name: 'Toasts', fields: PARTS, issues });
  const project = await ProjectPage.open(await visit(), id, 'columns=num:64!,name:200,state:120,note:160');
  const { page } = project;
  const toast = page.getByRole('group', { name: /^(Deleted|Changed)/ });
  const remove = async () => {
    await (await project.cell(0, 'Name')).click();
    await page.keyboard.press('Shift+ArrowDown');
    await project.tool('Delete rows').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await toast.waitFor();
  };
  await project.counts('4 issues');

  await remove();
  expect(await toast.getAttribute('aria-label')).toBe('Deleted 2 issues.');
  expect(await findings(page)).toEqual([]);
  // It stays under the pointer.
  await toast.hover();
  await page.waitForTimeout(SHOWN + 1_000);
  await toast.getByRole('button', { name: 'Undo' }).click();
  await toast.waitFor({ state: 'detached' });
  await expect.poll(() => countOf(api, id)).toBe(4);
  await project.counts('4 issues');

  await remove();
  await page.keyboard.press('F6');
  await expect.poll(() => toast.getByRole('button', { name: 'Undo' }).evaluate((button) => button === document.activeElement)).toBe(true);
  await page.keyboard.press('Enter');
  await toast.waitFor({ state: 'detached' });
  await expect.poll(() => countOf(api, id)).toBe(4);
  // The focus returns to where it was.
  await expect.poll(() => project.tool('Delete rows').evaluate((button) => button === document.activeElement)).toBe(true);

  // Undone by other keys, it goes.
  await remove();
  await page.keyboard.press('Control+z');
  await toast.waitFor({ state: 'detached' });
  await expect.poll(() => countOf(api, id)).toBe(4);

  await project.columnMenu('State', 'Change in all rows');
  const drawer = page.getByRole('complementary');
  await drawer.getByRole('button', { name: 'New value' }).click();
  await page.getByRole('option', { name: 'closed' }).click();
  await drawer.getByRole('button', { name: 'Change 4 issues' }).click();
  const jobs = project.panel('Background jobs');
  await jobs.getByText('Done: 4 of 4 issues.').waitFor();
  await page.keyboard.press('Escape');
  expect(await toast.getAttribute('aria-label')).toBe('Changed 4 issues.');
  await toast.getByRole('button', { name: 'Undo' }).click();
  await jobs.getByText('Undone in 4 issues.').waitFor();
  await expect.poll(() => countOf(api, id, { field: 'state', op: 'eq', value: 'open' })).toBe(4);
  await page.keyboard.press('Escape');
  await expect.poll(() => toast.count()).toBe(0);
});
