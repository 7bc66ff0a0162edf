import { describe, expect } from 'vitest';
import { findings } from './accessibility';
import { ProjectPage } from './project-page';
import { makeProject, valuesOf } from './projects';
import { test } from './test';
import { saved } from './transfer';

const FIELDS = [
  { id: 'cost', name: 'Cost', type: 'number', format: { as: 'currency', currency: 'USD', decimals: 2 } },
  { id: 'part', name: 'Share', type: 'number', format: { as: 'percent' } },
  { id: 'notes', name: 'Notes', type: 'text', format: { as: 'markdown' } },
] as const;

describe('the commands', () => {
  test('open fields, issues, views and windows, and act, by keys and by mouse', async ({ visit, api }) => {
    const id = await makeProject(api, { name: 'Commands', fields: [...FIELDS], issues: [{ name: 'Beam' }, { name: 'Bolt' }] });
    const other = await makeProject(api, { name: `Elsewhere ${id}`, issues: [{ name: 'Far' }] });
    await api.call('POST', '/v1/projects/{project}/views', { path: { project: id }, body: { name: 'Without cost', visibility: 'shared', query: { filter: { field: 'cost', op: 'is_empty' } } } });
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id);
    const window = page.getByRole('dialog', { name: 'Commands' });
    const box = window.getByRole('combobox');
    const type = async (text: string) => {
      await page.keyboard.press('Control+k');
      await box.fill(text);
    };

    await (await project.cell(0, 'Name')).click();
    await type('shar');
    await expect.poll(() => window.getByRole('option').allInnerTexts()).toEqual([expect.stringContaining('Share')]);
    expect(await findings(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await window.waitFor({ state: 'hidden' });
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-colindex'))).toBe(await project.head('Share').getAttribute('aria-colindex'));

    await type('2');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary').or(page.getByRole('region')).getByRole('heading', { name: '2 Bolt' }).waitFor();

    await type('without');
    await window.getByRole('option', { name: 'Without cost' }).click();
    await expect.poll(() => project.view.get('view')).toBe('v1');

    // The arrow goes to the next entry, and Escape leaves everything as it was.
    await type('trash');
    await page.keyboard.press('Escape');
    await window.waitFor({ state: 'hidden' });
    await type('background');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    const jobs = page.getByRole('dialog', { name: 'Background jobs' });
    await jobs.waitFor();
    await jobs.getByRole('button', { name: 'Close' }).click();

    // The stack of a developer begins with the figures for developers; this browser keeps the choice.
    const cost = page.getByRole('button', { name: /read units/ });
    await cost.waitFor();
    await type('hide developer');
    await page.keyboard.press('Enter');
    await cost.waitFor({ state: 'hidden' });
    await page.reload();
    await project.rows();
    expect(await cost.count()).toBe(0);

    await type('nothing like it');
    await window.getByText('Nothing found.').waitFor();
    await box.fill(`Elsewhere ${id}`);
    await page.keyboard.press('Enter');
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/projects/${other}`);
    await expect.poll(() => new ProjectPage(page, other).column('Name')).toEqual(['Far']);

    // By mouse or touch, they are in the menu.
    await new ProjectPage(page, other).more('Commands');
    await window.waitFor();
  });
});

describe('selected cells', () => {
  test('have figures of their numbers, and are copied as shown, as JSON and as Markdown', async ({ visit, api }) => {
    const issues = [
      { name: 'A|B', fields: { cost: '1234.5', part: 0.25 } },
      { name: 'Bolt', fields: { cost: '0.1' } },
      { name: 'Cable', fields: { cost: -3 } },
    ];
    const id = await makeProject(api, { name: 'Selected', fields: [...FIELDS], issues });
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id, 'columns=name:200,cost:100,part:100');
    const copied = async (command: string) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog', { name: 'Commands' }).getByRole('combobox').fill(command);
      await page.keyboard.press('Enter');
      await page.getByText('Copied 3 rows.').waitFor();
      return page.evaluate(() => navigator.clipboard.readText());
    };
    await (await project.cell(0, 'Cost')).click();
    await (await project.cell(2, 'Cost')).click({ modifiers: ['Shift'] });
    await page.getByText('Sum $1,231.60 · Average $410.53 · Min -$3.00 · Max $1,234.50').waitFor();

    await (await project.cell(0, 'Name')).click();
    await (await project.cell(2, 'Share')).click({ modifiers: ['Shift'] });
    // Of several fields, without a format.
    await page.getByText('Sum 1,231.85 · Average 307.9625 · Min -3 · Max 1,234.5').waitFor();
    await expect.poll(() => copied('Copy as shown')).toBe('A|B\t$1,234.50\t25%\r\nBolt\t$0.10\t\r\nCable\t-$3.00\t');
    const json = '[\n  {\n    "Name": "A|B",\n    "Cost": 1234.5,\n    "Share": 0.25\n  }';
    await expect.poll(() => copied('Copy as JSON')).toContain(json);
    await expect.poll(() => copied('Copy as Markdown')).toBe('| Name | Cost | Share |\n| --- | --- | --- |\n| A\\|B | $1,234.50 | 25% |\n| Bolt | $0.10 |  |\n| Cable | -$3.00 |  |');

    // What is shown is read back.
    await page.evaluate(() => navigator.clipboard.writeText('$99.95\t12.5%'));
    await (await project.cell(1, 'Cost')).click();
    await page.keyboard.press('Control+v');
    await expect.poll(() => valuesOf(api, id, 2)).toMatchObject({ cost: 99.95, part: 0.125 });

    // A file is named after the project and its view, and may have the values as they are shown.
    await project.more('Export as CSV');
    const window = page.getByRole('dialog', { name: 'Export as CSV' });
    await window.getByLabel('Values as the grid shows them').check();
    const file = await saved(page, () => window.getByRole('button', { name: 'Export', exact: true }).click());
    expect(file.name).toBe('Selected.csv');
    expect(file.text.replace('\uFEFF', '').trimEnd().split('\r\n')).toEqual(['Name,Cost,Share', 'A|B,"$1,234.50",25%', 'Bolt,$99.95,12.5%', "Cable,'-$3.00,"]);
  });
});

describe('Markdown in the panel', () => {
  test('is rendered without HTML, scripts and images, and is edited as text', async ({ visit, api }) => {
    const notes = [
      '# Head',
      '**bold** and `code`, [a page](https://example.org/a) and https://example.org/b',
      '- [x] done',
      '- open',
      '',
      '[bad](javascript:alert(1)) [here](/projects) <img src=x onerror=alert(1)> <script>alert(1)</script>',
      '![picture](https://example.org/p.png)',
      '',
      '| a | b |',
      '| - | - |',
      '| 1 | 2 |',
    ].join('\n');
    const id = await makeProject(api, { name: 'Markdown', fields: [...FIELDS], issues: [{ name: 'Beam', fields: { notes } }] });
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id);
    await (await project.cell(0, 'Name')).click();
    await page.keyboard.press('Space');
    const text = page.locator('.markdown');
    await text.getByText('bold', { exact: true }).waitFor();
    expect(await text.locator('strong').allInnerTexts()).toEqual(['Head', 'bold']);
    const links = text.getByRole('link');
    expect(await links.evaluateAll((all) => all.map((one) => [one.textContent, (one as HTMLAnchorElement).href, one.getAttribute('rel'), one.getAttribute('target')]))).toEqual([
      ['a page', 'https://example.org/a', 'noopener noreferrer', '_blank'],
      ['https://example.org/b', 'https://example.org/b', 'noopener noreferrer', '_blank'],
    ]);
    expect(await text.locator('img, script, [onerror], input').count()).toBe(0);
    expect(await text.innerText()).toContain('<img src=x onerror=alert(1)>');
    expect(await text.innerText()).toContain('☑ done');
    expect(await text.getByRole('cell').allInnerTexts()).toEqual(['1', '2']);
    expect(await findings(page)).toEqual([]);

    await page.getByRole('button', { name: 'Edit Notes' }).click();
    const box = page.locator('textarea:focus');
    expect(await box.inputValue()).toBe(notes);
    await box.fill('*new*');
    await page.keyboard.press('Enter');
    await expect.poll(() => valuesOf(api, id, 1)).toMatchObject({ notes: '*new*' });
    await text.locator('em', { hasText: 'new' }).waitFor();
  });
});
