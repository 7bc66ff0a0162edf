import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { findings } from './accessibility';
import { ProjectPage } from './project-page';
import { makeProject, PARTS } from './projects';
import { test } from './test';

/** Rows that are far from each other: the page holds few of the ones between. */
const ISSUES = 600;
const GIRDERS = new Map([
  [4, { name: 'Girder', fields: { note: 'next to the girder' } }],
  [300, { name: 'Part 300', fields: { note: 'a GIRDER again' } }],
  [590, { name: 'Long girders', fields: {} }],
]);

const bar = (page: Page) => page.getByRole('search', { name: 'Find in the rows' });
const marked = (page: Page) => page.locator('.ag-cell.is-found').allInnerTexts();

/** The text of the cell that has the focus of the grid, while the bar has that of the page. */
const selected = (page: Page) => page.locator('.ag-cell.is-selected').first().innerText();

describe('find', () => {
  test('goes through the matches in all rows by keys, also in rows that are not loaded', async ({ visit, api }) => {
    const issues = Array.from({ length: ISSUES }, (_, at) => GIRDERS.get(at + 1) ?? { name: `Part ${at + 1}`, fields: {} });
    const id = await makeProject(api, { name: 'Girders', fields: PARTS, issues });
    const project = await ProjectPage.open(await visit(), id, 'columns=num:64!,name:200,state:120,note:240');
    const { page } = project;
    await project.counts('600 issues');
    await (await project.cell(1, 'State')).click();
    await page.keyboard.press('Control+f');
    await page.keyboard.type('girder');
    await bar(page).getByText('3 issues').waitFor();
    await bar(page).getByText('Looks in Name, Note.').waitFor();
    expect((await marked(page)).sort()).toEqual(['Girder', 'next to the girder']);
    expect(await findings(page)).toEqual([]);
    await page.screenshot({ path: '/tmp/find-bar.png' });

    await page.keyboard.press('Enter');
    expect(await selected(page)).toBe('Girder');
    await bar(page).getByText('1 of 3 issues').waitFor();
    await page.keyboard.press('Enter');
    expect(await selected(page)).toBe('next to the girder');
    await page.keyboard.press('Enter');
    await expect.poll(() => selected(page)).toBe('a GIRDER again');
    await bar(page).getByText('2 of 3 issues').waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => selected(page)).toBe('Long girders');
    await bar(page).getByText('3 of 3 issues').waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => selected(page)).toBe('Girder');
    await bar(page).getByText('Continued from the first row.').waitFor();
    await page.keyboard.press('Shift+Enter');
    await expect.poll(() => selected(page)).toBe('Long girders');
    await bar(page).getByText('Continued from the last row.').waitFor();

    // An edit, here and elsewhere, changes what is found.
    await page.keyboard.press('Escape');
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Long girders');
    await page.keyboard.press('Control+f');
    await bar(page).getByText('3 of 3 issues').waitFor();
    await api.call('PATCH', '/v1/projects/{project}/issues/{num}', { path: { project: id, num: 595 }, body: { name: 'A girder too' } });
    await bar(page).getByText('3 of 4 issues').waitFor();
    await bar(page).getByRole('button', { name: 'Next match' }).click();
    await expect.poll(() => selected(page)).toBe('A girder too');
    await (await project.cell(594, 'Name')).click();
    await page.keyboard.type('Beam');
    await page.keyboard.press('Enter');
    await bar(page).getByText('3 issues').waitFor();
    expect(await marked(page)).toEqual(['Long girders']);
    await bar(page).getByLabel('Find').fill('nothing like it');
    await bar(page).getByText('No matches').waitFor();
    await bar(page).getByRole('button', { name: 'Close find' }).click();
    await bar(page).waitFor({ state: 'hidden' });
    expect(await marked(page)).toEqual([]);
  });

  test('goes from group to group, and counts what is in closed ones', async ({ visit, api }) => {
    const kinds = ['beam', 'bolt', 'plate'];
    const issues = Array.from({ length: 450 }, (_, at) => ({ name: at % 149 === 2 ? `Girder ${at}` : `Part ${at}`, fields: { kind: kinds[Math.floor(at / 150)] ?? '' } }));
    const id = await makeProject(api, { name: 'Kinds', fields: PARTS, issues });
    const project = await ProjectPage.open(await visit(), id, 'group=kind&columns=num:64!,name:200,kind:120');
    const { page } = project;
    await project.counts('450 issues');
    await project.more('Find in the rows');
    await page.keyboard.type('girder');
    // 2 is a beam, 151 is a bolt, 300 is a plate.
    await bar(page).getByText('4 issues').waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => selected(page)).toBe('Girder 2');
    await page.keyboard.press('Enter');
    await expect.poll(() => selected(page)).toBe('Girder 151');
    await bar(page).getByText('2 of 4 issues').waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => selected(page)).toBe('Girder 300');
    await bar(page).getByText('3 of 4 issues').waitFor();
    await page.goto(`/projects/${id}?group=kind&columns=num:64!,name:200,kind:120&closed=bolt`);
    await project.counts('450 issues');
    await project.more('Find in the rows');
    await page.keyboard.type('girder');
    await bar(page).getByText('1 more issue in groups that are not open.').waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await expect.poll(() => selected(page)).toBe('Girder 300');
  });
});
