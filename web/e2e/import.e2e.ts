import { describe, expect } from 'vitest';
import { ProjectPage } from './project-page';
import { makeProject, valuesOf, type NewField, type NewIssue } from './projects';
import { test } from './test';
import { dropCsv, saved } from './transfer';

/** The states are spelled differently from those of the project. */
const FILE = [
  'Title,Weight,Found on,Kind,Safe,State',
  '"Girder, north",12.5,2024-02-28,beam,yes,Closed',
  '=SUM(A1),-3,2024-03-01,bolt,no',
  ',4,2024-03-02,beam,no',
  '"A ""quoted"" name",5,2024-03-03,bolt,yes',
  ...Array.from({ length: 6 }, (_, at) => `Part ${at},${at},2024-04-0${at + 1},${at % 2 ? 'beam' : 'bolt'},no`),
].join('\r\n');

describe('a dropped CSV file', () => {
  test('is previewed, written with inferred types, and its refused rows can be downloaded', async ({ visit, api }) => {
    const id = await makeProject(api, { name: 'Import' });
    const { page } = await visit();
    await page.goto(`/projects/${id}`);
    await page.getByText('This project has no issues yet').waitFor();
    await dropCsv(page, 'parts.csv', FILE);
    const window = page.getByRole('dialog', { name: 'Import into Import' });
    await window.getByText('parts.csv has 10 rows and 6 columns. Nothing is imported yet.').waitFor();
    await window.getByLabel('Field for Title').selectOption('Name');
    const chosen = async (column: string) => window.getByLabel(`Field for ${column}`).evaluate((select: HTMLSelectElement) => select.selectedOptions[0]?.text);
    await expect.poll(() => Promise.all(['Weight', 'Found on', 'Kind', 'Safe'].map(chosen))).toEqual(['New: Number', 'New: Date', 'New: One option', 'New: Check box']);
    await window.getByRole('button', { name: 'Import 10 rows' }).click();
    await window.getByText('Done: 9 issues created, 1 row refused.').waitFor();
    await window.getByText('All of them are indexed.').waitFor();
    const reasons = window.getByRole('list', { name: 'Why rows were refused' });
    expect(await reasons.getByRole('listitem').allInnerTexts()).toEqual(['1 row: Name is required']);
    const refused = await saved(page, () => window.getByRole('button', { name: 'Download 1 refused row' }).click());
    expect(refused.text).toMatch(/^Title,Weight,Found on,Kind,Safe,State,Why it was refused\r?\n,4,2024-03-02,beam,no,.*Name is required/);
    await window.getByRole('button', { name: 'Close' }).click();
    const project = new ProjectPage(page, id);
    await expect.poll(() => project.column('Name')).toEqual(['Girder, north', '=SUM(A1)', 'A "quoted" name', ...Array.from({ length: 6 }, (_, at) => `Part ${at}`)]);
    // Rows may appear before the new columns do.
    await expect.poll(async () => (await project.column('Found on')).slice(0, 3)).toEqual(['Feb 28, 2024', 'Mar 1, 2024', 'Mar 3, 2024']);
    const { body } = await api.call('GET', '/v1/projects/{project}', { path: { project: id } });
    const ids = Object.fromEntries((body.attributes ?? []).map(({ id, name }) => [name, id]));
    const first = await valuesOf(api, id, 1);
    expect([first[ids['Weight'] ?? ''], first[ids['Kind'] ?? ''], first[ids['Safe'] ?? ''], first['state']]).toEqual([12.5, 'beam', true, 'closed']);
  });
});

describe('an export', () => {
  test('neutralizes formulas, unless raw values are chosen', async ({ visit, api }) => {
    const names = ['=SUM(A1)', '@here', 'plain, with a comma'];
    const id = await makeProject(api, { name: 'Export', issues: names.map((name) => ({ name })) });
    const page = await ProjectPage.open(await visit(), id, 'columns=name:200');
    for (const [raw, lines] of [
      [false, ['Name', "'=SUM(A1)", "'@here", '"plain, with a comma"']],
      [true, ['Name', '=SUM(A1)', '@here', '"plain, with a comma"']],
    ] as const) {
      await page.more('Export as CSV');
      const window = page.page.getByRole('dialog', { name: 'Export as CSV' });
      await window.getByText('3 rows with the current filter and order, in 1 column.').waitFor();
      await window.getByLabel('Raw values').setChecked(raw);
      const file = await saved(page.page, () => window.getByRole('button', { name: 'Export', exact: true }).click());
      expect(file.text.trimEnd().split(/\r?\n/).map((line) => line.replace('\uFEFF', ''))).toEqual(lines);
      await window.getByText('Done: 3 rows.').waitFor();
      await window.getByRole('button', { name: 'Close' }).click();
    }
  });

  test('of raw values, imported again, creates equal issues', async ({ visit, api }) => {
    const options = ['oak, red', 'beech'];
    const fields: NewField[] = [
      { id: 'text', name: 'Text', type: 'text' },
      { id: 'number', name: 'Number', type: 'number' },
      { id: 'date', name: 'Date', type: 'date' },
      { id: 'time', name: 'Time', type: 'datetime' },
      { id: 'check', name: 'Check', type: 'bool' },
      { id: 'one', name: 'One', type: 'enum', options },
      { id: 'some', name: 'Some', type: 'multi_enum', options },
      { id: 'user', name: 'Who', type: 'user' },
    ];
    const values: readonly Required<NewIssue>['fields'][] = [
      { text: '=1+1', number: 12.5, date: '2024-02-29', time: '2024-02-29T23:59:59.000Z', check: true, one: 'oak, red', some: ['beech', 'oak, red'], user: 'ada' },
      { text: 'two\nlines, "quoted"', number: -0.1, check: false, some: ['beech'] },
      { text: "'apostrophe" },
      { text: ' spaces ', number: 1e21, one: 'beech' },
      {},
    ];
    const issues = values.map((fields, at) => ({ name: ['+plus', '-minus', '@at', 'Käse 🧀', "'quoted"][at] ?? '', fields }));
    const [from, into] = await Promise.all([
      makeProject(api, { name: 'Sent', fields, issues }),
      makeProject(api, { name: 'Received', fields }),
    ]);
    const sent = await ProjectPage.open(await visit(), from);
    await sent.more('Export as CSV');
    const window = sent.page.getByRole('dialog', { name: 'Export as CSV' });
    await window.getByLabel('Raw values').check();
    const file = await saved(sent.page, () => window.getByRole('button', { name: 'Export', exact: true }).click());
    const { page } = await visit();
    await page.goto(`/projects/${into}`);
    await page.getByText('This project has no issues yet').waitFor();
    await dropCsv(page, file.name, file.text);
    const received = page.getByRole('dialog', { name: 'Import into Received' });
    await received.getByRole('button', { name: 'Import 5 rows' }).click();
    await received.getByText('Done: 5 issues created.').waitFor();
    for (const [at] of issues.entries()) expect(await valuesOf(api, into, at + 1)).toEqual(await valuesOf(api, from, at + 1));
  });
});
