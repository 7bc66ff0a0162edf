import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { findings } from './accessibility';
import { ProjectPage } from './project-page';
import { countOf, makeProject, PARTS, valuesOf, type NewField } from './projects';
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
    await bar(page).getByText('Looks in No., Name, State, Note. Parts of No. only in loaded rows.').waitFor();
    expect((await marked(page)).sort()).toEqual(['Girder', 'next to the girder']);
    expect(await findings(page)).toEqual([]);

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
    await bar(page).getByRole('textbox').fill('nothing like it');
    await bar(page).getByText('No matches').waitFor();
    await bar(page).getByRole('button', { name: 'Close find' }).click();
    await bar(page).waitFor({ state: 'hidden' });
    expect(await marked(page)).toEqual([]);
  });

  test('finds options, numbers, dates and users, in all rows as far as the API finds them', async ({ visit, api }) => {
    const fields: readonly NewField[] = [
      { id: 'price', name: 'Price', type: 'number', format: { as: 'currency', currency: 'USD' } },
      { id: 'kind', name: 'Kind', type: 'enum', options: ['beam', 'steel beam', 'plate'] },
      { id: 'tags', name: 'Tags', type: 'multi_enum', options: ['old', 'oldest', 'new'] },
      { id: 'due', name: 'Due', type: 'date' },
      { id: 'owner', name: 'Owner', type: 'user' },
    ];
    const filled = { price: '1234.5', kind: 'steel beam', tags: ['oldest', 'new'], due: '2026-11-27', owner: 'grace' };
    const issues = Array.from({ length: ISSUES }, (_, at) => ({ name: `Part ${at + 1}`, fields: [2, 450, 590].includes(at + 1) ? filled : {} }));
    const id = await makeProject(api, { name: 'Values', fields, issues });
    const project = await ProjectPage.open(await visit(), id, 'columns=name:200,price:120,kind:120,tags:160,due:140,owner:120');
    const { page } = project;
    await project.counts('600 issues');
    await (await project.cell(0, 'Name')).click();
    await page.keyboard.press('Control+f');
    const text = bar(page).getByRole('textbox');
    for (const [typed, found] of [
      ['STEEL', 'steel beam'],
      ['oldes', 'oldest\nnew'],
      ['1234.50', '$1,234.50'],
      ['$1,234.5', '$1,234.50'],
      ['2026-11-27', 'Nov 27, 2026'],
      ['nov 27, 2026', 'Nov 27, 2026'],
      ['grace', 'grace'],
    ] as const) {
      await text.fill(typed);
      await bar(page).getByText('3 issues', { exact: true }).waitFor();
      expect(await marked(page)).toEqual([found]);
    }
    await text.fill('steel');
    await bar(page).getByText('3 issues', { exact: true }).waitFor();
    for (const place of ['1 of 3', '2 of 3', '3 of 3', '1 of 3']) {
      await page.keyboard.press('Enter');
      await bar(page).getByText(`${place} issues`).waitFor();
      await expect.poll(() => selected(page)).toBe('steel beam');
    }
    // A part of a number or a date is found only where the page has the row, and the bar says so.
    await bar(page).getByText('Parts of Price, Due, Owner only in loaded rows.').waitFor();
    await text.fill('$1,23');
    await bar(page).getByText(/^\d loaded issues?$/).waitFor();
    expect(await marked(page)).toEqual(['$1,234.50']);
    await page.keyboard.press('Enter');
    await expect.poll(() => selected(page)).toBe('$1,234.50');
    await text.fill('$9');
    await bar(page).getByText('No matches').waitFor();
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

  test('finds whole words in a large project, where words are indexed', async ({ visit, api }) => {
    const fields = [{ id: 'plain', name: 'Plain', type: 'text' }, { id: 'long', name: 'Long', type: 'text', search: true }] as const;
    const issues = [{ name: 'Pier' }, { name: 'Piers' }, { name: 'Arch', fields: { plain: 'a pier' } }, { name: 'Arch', fields: { long: 'the North pier' } }];
    const id = await makeProject(api, { name: 'Piers', fields, issues });
    const visited = await visit();
    // The page receives a higher number of issues than there are.
    await visited.page.route(`**/v1/projects/${id}`, async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...((await answer.json()) as object), issues: 10_001 } });
    });
    const project = await ProjectPage.open(visited, id, 'columns=num:64!,name:200,plain:160,long:160');
    const { page } = project;
    await (await project.cell(0, 'No.')).click();
    await page.keyboard.press('Control+f');
    await page.keyboard.type('PIER');
    await bar(page).getByText('2 issues').waitFor();
    // Loaded rows show the text in more cells.
    await bar(page).getByText('and 2 more loaded issues.').waitFor();
    await bar(page).getByText('Above 10,000 issues: in all rows only whole words of columns that are searchable by words (Name, Long), in loaded rows all cells.').waitFor();
    expect((await marked(page)).sort()).toEqual(['Pier', 'Piers', 'a pier', 'the North pier']);
    // The search box looks in the same fields.
    await project.toolbar.getByRole('searchbox').fill('pier');
    await page.keyboard.press('Enter');
    await project.counts('2 of 4 issues');
    expect(await project.column('No.')).toEqual(['1', '4']);
  });
});

describe('many texts', () => {
  test('are replaced after a preview, and undone', async ({ visit, api }) => {
    const long = `colour ${'x'.repeat(1015)}`;
    const issues = [
      { name: 'Colours and colour', fields: { note: 'No colour' } },
      { name: 'Plain', fields: { note: 'none' } },
      { name: 'Long', fields: { note: long } },
    ];
    const id = await makeProject(api, { name: 'Colours', fields: PARTS, issues });
    const project = await ProjectPage.open(await visit(), id, 'columns=num:64!,name:200,note:160');
    const { page } = project;
    const drawer = page.getByRole('complementary');
    await (await project.cell(0, 'Name')).click();
    await page.keyboard.press('Control+f');
    await page.keyboard.type('colour');
    await bar(page).getByText('1 of 2 issues').waitFor();
    await bar(page).getByRole('button', { name: 'Replace …' }).click();
    await expect.poll(() => page.evaluate(() => document.activeElement?.parentElement?.textContent)).toBe('Replace with');
    expect(await drawer.getByLabel('Find').inputValue()).toBe('colour');
    await page.keyboard.type('painted color');
    const begin = drawer.getByRole('button', { name: /^Replace/ });
    expect(await begin.isDisabled()).toBe(true);
    await drawer.getByRole('button', { name: 'Preview' }).click();
    await drawer.getByText('1 issue would change. 1 issue would be refused.').waitFor();
    expect(await drawer.locator('ol del').allInnerTexts()).toEqual(expect.arrayContaining(['Colour', 'colour']));
    expect(await drawer.locator('ol').innerText()).toContain('painted colors and painted color');
    await drawer.locator('summary').click();
    await drawer.getByText(/^Issue 3: Note .*1,?024/).waitFor();
    expect(await findings(page)).toEqual([]);
    // Another request needs another preview.
    await drawer.getByLabel('Match case').check();
    await drawer.getByText('1 issue would change.').waitFor({ state: 'hidden' });
    expect(await begin.isDisabled()).toBe(true);
    await drawer.getByLabel('Replace with').fill('color');
    await drawer.getByRole('button', { name: 'Preview' }).click();
    await drawer.getByText('2 issues would change.').waitFor();
    await drawer.getByRole('button', { name: 'Replace in 2 issues' }).click();
    const jobs = project.panel('Background jobs');
    await jobs.getByRole('listitem').filter({ hasText: 'Change of many issues' }).getByText('Done: 3 of 3 issues.').waitFor();
    expect(await valuesOf(api, id, 1)).toMatchObject({ name: 'Colours and color', note: 'No color' });
    await jobs.getByRole('listitem').filter({ hasText: 'Preview of a change' }).first().getByText('2 issues would change.').waitFor();
    await jobs.getByRole('button', { name: 'Undo: Change of many issues' }).click();
    await jobs.getByText('Undone in 2 issues.').waitFor();
    expect(await valuesOf(api, id, 1)).toMatchObject({ name: 'Colours and colour', note: 'No colour' });
  });

  test('are copied into a field of another type, which lists what it refuses', async ({ visit, api }) => {
    const sizes = ['12', ' 7.5 ', 'large', null];
    const fields = [...PARTS, { id: 'size', name: 'Size', type: 'text' } as const];
    const id = await makeProject(api, { name: 'Sizes', fields, issues: sizes.map((size, at) => ({ name: `Part ${at}`, fields: { size, weight: at } })) });
    const visited = await visit();
    const project = await ProjectPage.open(visited, id, 'columns=num:64!,name:200,size:120,weight:120');
    const { page } = project;
    const drawer = page.getByRole('complementary');
    await project.more('Project settings');
    const settings = page.getByRole('dialog', { name: 'Settings of Sizes' });
    await settings.locator('summary', { hasText: 'Size' }).click();
    await settings.getByText('choose “Copy values to …” in the menu of the column “Size”').waitFor();
    await settings.getByRole('button', { name: 'Close' }).click();
    await project.columnMenu('Size', 'Copy values to …');
    await drawer.getByLabel('Copy to').selectOption('Weight (Number)');
    await drawer.getByRole('button', { name: 'Preview' }).click();
    await drawer.getByText('3 issues would change. 1 issue would be refused.').waitFor();
    expect(await drawer.locator('ol del').allInnerTexts()).toEqual(['0', '1', '3']);
    expect(await drawer.locator('ol ins').allInnerTexts()).toEqual(['12', '7.5']);
    await drawer.locator('summary').click();
    await drawer.getByText(/^Issue 3: Weight /).waitFor();
    expect(await findings(page)).toEqual([]);
    await drawer.getByRole('button', { name: 'Copy in 3 issues' }).click();
    await project.panel('Background jobs').getByText('Done: 3 of 4 issues, 1 refused.').first().waitFor();
    await expect.poll(() => countOf(api, id, { field: 'weight', op: 'is_empty' })).toBe(1);
    expect(await Promise.all([1, 2, 3, 4].map(async (num) => Number((await valuesOf(api, id, num))['weight'] ?? -1)))).toEqual([12, 7.5, 2, -1]);
  });

  test('are found on a telephone', async ({ visit, api }) => {
    const id = await makeProject(api, { name: 'Small', fields: PARTS, issues: [{ name: 'Girder' }, { name: 'Bolt' }] });
    const project = await ProjectPage.open(await visit(undefined, { width: 360, height: 740, scheme: 'dark' }), id, 'columns=name:200,note:160');
    const { page } = project;
    await project.more('Find in the rows');
    await page.keyboard.type('bolt');
    await bar(page).getByRole('button', { name: 'Next match' }).click();
    await bar(page).getByText('1 of 1 issue').waitFor();
    expect(await findings(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    await bar(page).getByRole('button', { name: 'Replace …' }).click();
    await page.getByRole('complementary').getByLabel('Replace with').fill('Nut');
    await page.getByRole('complementary').getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('complementary').getByText('1 issue would change.').waitFor();
    expect(await findings(page)).toEqual([]);
  });
});
