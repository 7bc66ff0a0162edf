import type { Route } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Api } from '../src/api/client';
import { findings } from './accessibility';
import type { Visit } from './browser';
import { ProjectPage } from './project-page';
import { makeProject, PARTS, valuesOf } from './projects';
import { ADMIN } from './stack';
import { test } from './test';

const bridge = (api: Api): Promise<string> =>
  makeProject(api, {
    name: 'Edits',
    fields: PARTS,
    issues: ['Girder', 'Rivet', 'Cable'].map((name, at) => ({ name, fields: { weight: 10 * (at + 1), kind: 'beam', note: 'as found' } })),
  });

/** A page that receives no changes by polling or a socket, as on a bad network. */
async function deaf(visiting: Promise<Visit>): Promise<Visit> {
  const visit = await visiting;
  await visit.page.route(/\/(changes|tickets)\b/, (route) => route.abort());
  return visit;
}

/** Type a value into a cell, and take it. */
async function type(page: ProjectPage, row: number, column: string, text: string): Promise<void> {
  await (await page.cell(row, column)).click();
  await page.page.keyboard.type(text);
  await page.page.keyboard.press('Enter');
}

describe('an edit', () => {
  test('is shown at once and written, for all types', async ({ visit, api }) => {
    const id = await bridge(api);
    const page = await ProjectPage.open(await visit(), id);
    await type(page, 0, 'Name', 'Girder of the north span');
    await type(page, 0, 'Weight', '12345678901234567890.5');
    await type(page, 0, 'Kind', 'pl');
    await type(page, 1, 'Note', '=1+1, "quoted"');
    await (await page.cell(1, 'Safe')).click({ position: { x: 4, y: 4 } });
    await page.page.keyboard.press('Space');
    await type(page, 2, 'Due', '2024-11-29');
    const shown = (await page.rows()).map(({ cells }) => [cells['Name'], cells['Weight'], cells['Kind'], cells['Note'], cells['Safe'], cells['Due']]);
    expect(shown).toEqual([
      ['Girder of the north span', '12,345,678,901,234,567,890.5', 'plate', 'as found', '', ''],
      ['Rivet', '20', 'beam', '=1+1, "quoted"', 'Yes', ''],
      ['Cable', '30', 'beam', 'as found', '', 'Nov 29, 2024'],
    ]);
    await expect.poll(async () => String((await valuesOf(api, id, 1))['weight'])).toBe('12345678901234567890.5');
    await expect.poll(() => valuesOf(api, id, 1)).toMatchObject({ name: 'Girder of the north span', kind: 'plate' });
    await expect.poll(() => valuesOf(api, id, 2)).toMatchObject({ note: '=1+1, "quoted"', safe: true });
    await expect.poll(() => valuesOf(api, id, 3)).toMatchObject({ due: '2024-11-29' });
  });

  test('goes to the issue for which its editor opened, though an own delete is answered meanwhile', async ({ visit, api }) => {
    const id = await bridge(api);
    const visited = await deaf(visit());
    const { page } = visited;
    const project = await ProjectPage.open(visited, id);
    const held: Route[] = [];
    await page.route('**/issues/1', (route) => (route.request().method() === 'DELETE' ? void held.push(route) : route.continue()));
    await page.route('**/issues/batch', (route) => (route.request().postData()?.includes('delete') ? void held.push(route) : route.continue()));
    await project.gutter(0).click({ button: 'right' });
    await project.menu(/^Actions for issue/).getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await expect.poll(() => held.length).toBe(1);
    const note = await project.cell(1, 'Note');
    await note.click();
    await page.keyboard.type('of the rivet');
    await held[0]?.continue();
    const isDeleted = () => api.call('GET', '/v1/projects/{project}/trash', { path: { project: id } }).then(({ body }) => body.items.length);
    await expect.poll(isDeleted).toBe(1);
    // Rows that move would do so within a second.
    await page.waitForTimeout(1_000);
    await page.keyboard.press('Enter');
    await expect.poll(() => valuesOf(api, id, 2)).toMatchObject({ note: 'of the rivet' });
    expect(await valuesOf(api, id, 3)).toMatchObject({ note: 'as found' });
    await expect.poll(async () => (await project.rows()).map(({ cells }) => cells['Name'])).toEqual(['Rivet', 'Cable']);
  });

  test('is rolled back with the reason if the value is invalid or the API refuses it', async ({ visit, api }) => {
    const id = await bridge(api);
    const page = await ProjectPage.open(await deaf(visit()), id);
    await type(page, 0, 'Weight', 'heavy');
    const weight = await page.cell(0, 'Weight');
    await (await page.cell(1, 'Note')).click();
    await weight.click();
    await page.page.getByRole('alert').getByText('heavy: Not a number.').waitFor();
    await expect.poll(() => weight.getAttribute('aria-invalid')).toBe('true');
    expect(await weight.innerText()).toBe('10');

    // The page does not know yet that this option is gone.
    const path = { project: id, attribute: 'kind' };
    await api.call('PATCH', '/v1/projects/{project}/attributes/{attribute}', { path, body: { options: ['beam', 'plate'] } });
    await type(page, 1, 'Kind', 'bolt');
    const kind = await page.cell(1, 'Kind');
    await expect.poll(() => kind.getAttribute('aria-invalid')).toBe('true');
    await expect.poll(() => kind.innerText()).toBe('beam');
    await page.page.getByText('2 cells were refused').waitFor();
    expect(await valuesOf(api, id, 1)).toMatchObject({ weight: 10 });
    expect(await valuesOf(api, id, 2)).toMatchObject({ kind: 'beam' });
  });

  test('by a paste that creates rows marks invalid values in them', async ({ visit, api }) => {
    const id = await bridge(api);
    const page = await ProjectPage.open(await visit(), id);
    await page.page.evaluate(() => navigator.clipboard.writeText('Cable 2\topen\t31\nBolt\tOpen\tn/a\nPlate\tclosed\t40'));
    await (await page.cell(2, 'Name')).click();
    await page.page.keyboard.press('Control+v');
    await page.page.getByRole('dialog', { name: 'Add 2 new rows?' }).getByRole('button', { name: 'Add' }).click();
    await page.page.getByText('1 cell was refused').waitFor();
    const weight = await page.cell(3, 'Weight');
    await expect.poll(() => weight.getAttribute('aria-invalid')).toBe('true');

    // The list leads to the cell. Corrected there, it leaves the list.
    await page.page.getByRole('button', { name: '1 cell was refused' }).click();
    const list = page.page.getByRole('complementary', { name: 'Refused cells' });
    await list.getByRole('listitem').getByText('n/a: Not a number.').waitFor();
    expect(await findings(page.page)).toEqual([]);
    await list.getByRole('button', { name: 'Issue 4, Weight' }).click();
    await expect.poll(() => weight.evaluate((cell) => cell === document.activeElement)).toBe(true);
    await page.page.getByRole('alert').getByText('n/a: Not a number.').waitFor();
    expect(await valuesOf(api, id, 4)).toEqual({ name: 'Bolt', state: 'open' });
    expect(await valuesOf(api, id, 5)).toEqual({ name: 'Plate', state: 'closed', weight: 40 });
    await page.page.keyboard.type('39');
    await page.page.keyboard.press('Enter');
    await list.getByText('No refused cells are left.').waitFor();
    // The list follows the screen, which is ahead of the written state.
    await expect.poll(() => valuesOf(api, id, 4)).toEqual({ name: 'Bolt', state: 'open', weight: 39 });
  });

  test('that was refused is listed even if its column is hidden: the panel has it', async ({ visit, api }) => {
    const id = await bridge(api);
    const page = await ProjectPage.open(await visit(), id);
    await type(page, 1, 'Weight', 'heavy');
    await (await page.cell(0, 'Name')).click();
    await page.page.getByRole('button', { name: '1 cell was refused' }).waitFor();
    await page.columnMenu('Weight', 'Hide');
    await page.head('Weight').waitFor({ state: 'hidden' });
    await page.page.getByRole('button', { name: '1 cell was refused' }).click();
    await page.page.getByRole('button', { name: 'Issue 2, Weight' }).click();
    const panel = page.page.getByRole('complementary', { name: '2 Rivet' });
    await panel.getByRole('alert').getByText('heavy: Not a number.').waitFor();
    // The panel follows the focus again.
    await (await page.cell(2, 'Name')).click();
    await page.page.getByRole('complementary', { name: '3 Cable' }).waitFor();
  });

  test('of a field that another user changed asks which value to keep; other fields merge', async ({ visit, api }) => {
    const id = await bridge(api);
    const ours = await ProjectPage.open(await deaf(visit()), id);
    const theirs = await ProjectPage.open(await deaf(visit({ ...ADMIN, user: 'grace' })), id);
    for (const [keep, kept] of [
      ['Theirs', 'from grace'],
      ['Yours', 'from ada'],
    ] as const) {
      await type(theirs, 0, 'Note', 'from grace');
      await expect.poll(() => valuesOf(api, id, 1)).toMatchObject({ note: 'from grace' });
      await type(ours, 0, 'Note', 'from ada');
      const question = ours.page.getByRole('dialog', { name: 'Someone else changed this' });
      await question.getByText('grace changed “Note” after you opened it.').waitFor();
      await expect.poll(() => question.getByRole('definition').allInnerTexts()).toEqual(['from ada', 'from grace']);
      await question.getByRole('button', { name: `Keep ${keep}` }).click();
      await question.waitFor({ state: 'hidden' });
      await expect.poll(() => valuesOf(api, id, 1)).toMatchObject({ note: kept });
      await expect.poll(async () => (await ours.cell(0, 'Note')).innerText()).toBe(kept);
      await theirs.page.reload();
      await theirs.rows();
      await type(theirs, 0, 'Note', 'as it was');
      await expect.poll(() => valuesOf(api, id, 1)).toMatchObject({ note: 'as it was' });
      await ours.page.reload();
      await ours.rows();
    }
    await type(theirs, 0, 'Kind', 'plate');
    await expect.poll(() => valuesOf(api, id, 1)).toMatchObject({ kind: 'plate' });
    await type(ours, 0, 'Note', 'on top');
    await expect.poll(() => valuesOf(api, id, 1)).toMatchObject({ kind: 'plate', note: 'on top' });
    await expect.poll(async () => (await ours.cell(0, 'Kind')).innerText()).toBe('plate');
  });
});
