import { describe, expect } from 'vitest';
import type { Filter } from '../src/api/types';
import { findings } from './accessibility';
import { ProjectPage } from './project-page';
import { countOf, makeProject, PARTS, valuesOf } from './projects';
import { test } from './test';
import { saved } from './transfer';

const is = (field: string, value: string): Filter => ({ field, op: 'eq', value });

describe('jobs', () => {
  test('change all matching issues and are undone; jobs of selected rows continue without the page', async ({ visit, api }) => {
    const issues = Array.from({ length: 6 }, (_, at) => ({ name: `Part ${at}`, fields: { kind: at < 2 ? 'bolt' : 'beam', note: 'old' } }));
    const id = await makeProject(api, { name: 'Bolts', fields: PARTS, issues });
    const project = await ProjectPage.open(await visit(), id, `filter=${JSON.stringify(is('kind', 'bolt'))}&columns=num:64!,name:200,state:120,note:160`);
    const { page } = project;
    const jobs = project.panel('Background jobs');
    const drawer = page.getByRole('complementary');

    await project.counts('2 of 6 issues');
    await project.more('Change all 2 matching');
    await drawer.getByLabel('Field').selectOption('State');
    const begin = drawer.getByRole('button', { name: 'Change 2 issues' });
    await expect.poll(() => begin.isDisabled()).toBe(true);
    await drawer.getByRole('button', { name: 'New value' }).click();
    await page.getByRole('option', { name: 'closed' }).click();
    expect(await findings(page)).toEqual([]);
    await begin.click();
    await jobs.getByText('Done: 2 of 2 issues.').waitFor();
    await expect.poll(() => countOf(api, id, is('state', 'closed'))).toBe(2);
    expect(await findings(page)).toEqual([]);
    await jobs.getByRole('button', { name: 'Undo: Change of many issues' }).click();
    await jobs.getByText('Undone in 2 issues.').waitFor();
    await expect.poll(() => countOf(api, id, is('state', 'closed'))).toBe(0);

    await page.goto(`/projects/${id}?sort=-num&columns=num:64!,name:200,state:120,note:160`);
    await project.counts('6 issues');
    await (await project.cell(0, 'Note')).click();
    await page.keyboard.press('Shift+ArrowDown');
    await project.more('Change the 2 selected issues');
    await drawer.getByRole('button', { name: 'New value' }).click();
    await page.keyboard.type('new');
    await page.keyboard.press('Enter');
    await expect.poll(() => drawer.getByRole('button', { name: 'New value' }).evaluate((one) => one === document.activeElement)).toBe(true);
    await drawer.getByRole('button', { name: 'Change 2 issues' }).click();
    await jobs.getByText(/^(Waiting|Running|Done):/).first().waitFor();
    await page.reload();
    await project.more('Background jobs');
    await expect.poll(() => jobs.getByText('Done: 2 of 2 issues.').count()).toBe(2);
    const notes = await Promise.all([6, 5, 4].map((num) => valuesOf(api, id, num)));
    expect(notes.map(({ note }) => note)).toEqual(['new', 'new', 'old']);
  });

  test('keep a form that the user has filled in, until the user agrees to discard it', async ({ visit, api }) => {
    const other = await makeProject(api, { name: 'Other' });
    const id = await makeProject(api, { name: 'Kept', fields: PARTS, issues: [{ name: 'Girder' }, { name: 'Rivet' }] });
    const project = await ProjectPage.open(await visit(), id);
    const { page } = project;
    let agrees = false;
    const asked: string[] = [];
    page.on('dialog', (question) => {
      asked.push(question.message());
      void (agrees ? question.accept() : question.dismiss());
    });
    await project.columnMenu('Note', 'Change in all rows');
    const drawer = page.getByRole('complementary');
    await drawer.getByRole('button', { name: 'New value' }).click();
    await page.keyboard.type('typed');
    await page.keyboard.press('Enter');
    const value = drawer.getByRole('button', { name: 'New value typed' });
    await value.waitFor();

    const name = await project.cell(0, 'Name');
    const others: readonly (() => Promise<void>)[] = [
      async () => {
        await name.click();
        await page.keyboard.press('Space');
      },
      () => project.columnMenu('Kind', 'Change in all rows'),
      () => project.more('Query plan'),
    ];
    for (const [place, open] of others.entries()) {
      await open();
      await expect.poll(() => asked.length).toBe(place + 1);
      await value.waitFor();
    }
    // The back button leads to the other project within the page.
    await page.evaluate((to) => {
      history.pushState(null, '', to);
      history.pushState(null, '', to);
      history.back();
    }, `/projects/${other}`);
    await expect.poll(() => asked.length).toBe(others.length + 1);
    await value.waitFor();
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/projects/${id}`);

    agrees = true;
    await name.click();
    await page.keyboard.press('Space');
    await page.getByRole('complementary', { name: '1 Girder' }).waitFor();
    expect(await value.count()).toBe(0);
    expect(new Set(asked)).toEqual(new Set(['Your entries here are not saved. Discard them?']));
  });

  test('delete after confirmation, and list the refused issues with reasons', async ({ visit, api }) => {
    const id = await makeProject(api, { name: 'Few', issues: [{ name: 'Girder' }, { name: 'Rivet' }, { name: 'Plate' }] });
    await api.call('POST', '/v1/projects/{project}/attributes', { path: { project: id }, body: { id: 'due', name: 'Due', type: 'date', required: true } });
    await api.call('PATCH', '/v1/projects/{project}/issues/{num}', { path: { project: id, num: 1 }, body: { fields: { due: '2024-05-31' } } });
    const project = await ProjectPage.open(await visit(), id);
    const jobs = project.panel('Background jobs');
    await project.columnMenu('State', 'Change in all rows');
    const drawer = project.page.getByRole('complementary');
    await drawer.getByRole('button', { name: 'New value' }).click();
    await project.page.getByRole('option', { name: 'closed' }).click();
    await drawer.getByRole('button', { name: 'Change 3 issues' }).click();
    await jobs.getByText('Done: 1 of 3 issues, 2 refused.').waitFor();
    await jobs.getByText('2 issues were refused').click();
    await expect.poll(() => jobs.getByRole('listitem').filter({ hasText: /^[23] / }).count()).toBe(2);
    await project.page.keyboard.press('Escape');
    // A refused issue opens, wherever the focus of the grid is.
    await (await project.cell(0, 'Name')).click();
    await project.more('Background jobs');
    await jobs.getByText('2 issues were refused').click();
    await jobs.getByRole('button', { name: 'Show all fields of issue 3' }).click();
    await project.page.getByRole('complementary', { name: '3 Plate' }).waitFor();
    await drawer.getByRole('button', { name: 'Close' }).click();

    await project.more('Delete all 3 issues');
    await project.page.getByRole('dialog', { name: 'Delete 3 issues?' }).getByRole('button', { name: 'Delete', exact: true }).click();
    await jobs.getByText('Done: 3 of 3 issues.').waitFor();
    await expect.poll(() => countOf(api, id)).toBe(0);
    await project.page.keyboard.press('Escape');
    await project.tool('Undo').click();
    await jobs.getByText('Undone in 3 issues.').waitFor();
    await expect.poll(() => countOf(api, id)).toBe(3);
  });

  test('write a file that is too large for the page, with neutralized formulas', async ({ visit, api }) => {
    const id = await makeProject(api, { name: 'Large', issues: ['=SUM(A1)', '@here', 'plain, with a comma'].map((name) => ({ name })) });
    const visited = await visit();
    const { page, faults } = visited;
    // The page receives a higher number of rows than there are.
    await page.route('**/grid', async (route) => {
      const answer = await route.fetch();
      const { count } = route.request().postDataJSON() as { count?: boolean };
      if (count) await route.fulfill({ response: answer, json: { ...((await answer.json()) as object), matched: 10_001, total: 10_001 } });
      else await route.fulfill({ response: answer });
    });
    await page.goto(`/projects/${id}?sort=-num&columns=name:200,num:64`);
    const project = new ProjectPage(page, id);
    await project.counts('10,001 issues');
    await project.more('Export as CSV');
    const window = page.getByRole('dialog', { name: 'Export as CSV' });
    await window.getByText('10,001 rows with the current filter and order, in 2 columns.').waitFor();
    await window.getByText('A job writes the file, even if you close this page.').waitFor();
    await window.getByRole('button', { name: 'Export', exact: true }).click();
    await window.getByText('Done: 3 of 3 rows.').waitFor();
    expect(await findings(page)).toEqual([]);
    const file = await saved(page, () => window.getByRole('button', { name: 'Download' }).click());
    expect(file.text.trimEnd().split(/\r?\n/).map((line) => line.replace('\uFEFF', ''))).toEqual(['name,num', '"plain, with a comma",3', "'@here,2", "'=SUM(A1),1"]);
    // The file is in the bucket, which has another origin.
    expect(faults.splice(0)).toEqual([expect.stringMatching(/^a request to http:.*\.csv/)]);
  });
});

test('a column menu groups dates by month; a bulk change of too many groups is refused before it starts', async ({ visit, api }) => {
  const kinds = Array.from({ length: 11 }, (_, at) => `kind ${at}`);
  const fields = [...PARTS.filter(({ id }) => id === 'due'), { id: 'sort', name: 'Sort', type: 'enum' as const, options: kinds }];
  const issues = kinds.map((kind, at) => ({ name: `Part ${at}`, fields: { sort: kind, due: `2024-05-${10 + at}` } }));
  const id = await makeProject(api, { name: 'Groups', fields, issues });
  const project = await ProjectPage.open(await visit(), id, 'columns=num:64!,name:200,due:120,sort:120');
  const { page } = project;
  await project.columnMenu('Due', 'Group by this');
  await expect.poll(() => project.view.get('group')).toBe('due.month');
  await project.group('Due: May 2024, 11 issues').waitFor();

  await page.goto(`/projects/${id}?group=sort&columns=num:64!,name:200,sort:120`);
  await project.counts('11 issues');
  await (await project.cell(1, 'Name')).click();
  await page.keyboard.press('Control+a');
  await project.more('Change the 11 selected issues');
  const drawer = page.getByRole('complementary');
  await drawer.getByRole('alert').getByText('The selection has more than 10 groups.').waitFor();
  await drawer.getByLabel('Field').selectOption('Name');
  await drawer.getByRole('button', { name: 'New value' }).click();
  await page.keyboard.type('same');
  await page.keyboard.press('Enter');
  await expect.poll(() => drawer.getByRole('button', { name: 'Change 11 issues' }).isDisabled()).toBe(true);
});
