import type { Locator, Page, Route } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Api } from '../src/api/client';
import { findings } from './accessibility';
import { InputMethod } from './input-method';
import { ProjectPage } from './project-page';
import { makeProject, valuesOf, type NewField } from './projects';
import { ADMIN } from './stack';
import { test } from './test';

/** A field of each type, with a value that an editor may not be able to show in full. */
const FIELDS: readonly NewField[] = [
  { id: 'note', name: 'Note', type: 'text' },
  { id: 'weight', name: 'Weight', type: 'number' },
  { id: 'due', name: 'Due', type: 'date' },
  { id: 'at', name: 'At', type: 'datetime' },
  { id: 'kind', name: 'Kind', type: 'enum', options: ['beam', 'bolt', 'plate'] },
  { id: 'trades', name: 'Trades', type: 'multi_enum', options: ['paint', 'steel, welded', 'wood'] },
  { id: 'owner', name: 'Owner', type: 'user' },
  { id: 'safe', name: 'Safe', type: 'bool' },
];
const VALUES = {
  note: '  two\nlines\r\n\tand a tab ',
  weight: '12345678901234567890.12345678901234567',
  due: '0999-12-31',
  at: '2024-05-01T13:30:15.123456Z',
  kind: 'bolt',
  trades: ['steel, welded', 'wood'],
  owner: 'grace',
  safe: false,
};
const COLUMNS = ['Name', ...FIELDS.map(({ name }) => name)];
const VIEW = `columns=num:60,name:110,state:80,${FIELDS.map(({ id }) => `${id}:110`).join()}`;

const parts = (api: Api, name: string) => makeProject(api, { name, fields: FIELDS, issues: [{ name: 'Girder', fields: VALUES }, { name: 'Rivet' }] });

/** The writes of issues that the page sends. */
function writesOf(page: Page): string[] {
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'PATCH' || /\/(batch|undo)$/.test(request.url())) sent.push(`${request.method()} ${request.postData() ?? ''}`);
  });
  return sent;
}

const editorIn = (page: Page): Locator => page.locator('.editor:focus');

/** Open the editor of a cell, by a double click. */
async function open(project: ProjectPage, row: number, column: string): Promise<Locator> {
  await (await project.cell(row, column)).dblclick({ position: { x: 6, y: 6 } });
  await editorIn(project.page).waitFor();
  return editorIn(project.page);
}

describe('an editor', () => {
  test('writes nothing if it is opened and closed, for all types and ways to close it', async ({ visit, api }) => {
    const id = await parts(api, 'Opened and left');
    const visited = await visit(undefined, { width: 1400 });
    const { page } = visited;
    const project = await ProjectPage.open(visited, id, VIEW);
    const before = await valuesOf(api, id, 1);
    const sent = writesOf(page);
    const gone = (column: string) => expect.poll(() => page.locator('.editor').count(), { message: `${column} is left` }).toBe(0);
    // Each way out, and the keys that lead back to the cell.
    const ways: readonly (readonly [leave: () => Promise<void>, back: string | null])[] = [
      [() => page.keyboard.press('Enter'), 'ArrowUp'],
      [() => page.keyboard.press('Tab'), 'ArrowLeft'],
      [() => page.keyboard.press('Escape'), 'Escape'],
      [async () => (await project.cell(1, 'No.')).click(), null],
      [() => page.getByRole('button', { name: 'Keyboard shortcuts' }).focus(), null],
    ];
    const columns = ['State', ...COLUMNS].filter((one) => one !== 'Safe');
    for (const column of columns) {
      const cell = await project.cell(0, column);
      await cell.click({ position: { x: 6, y: 6 } });
      for (const [leave, back] of ways) {
        if ((await page.evaluate(() => document.activeElement?.getAttribute('role'))) !== 'gridcell') await cell.click({ position: { x: 6, y: 6 } });
        await page.keyboard.press('F2');
        await editorIn(page).waitFor();
        await leave();
        await gone(column);
        if (back === null) await cell.click({ position: { x: 6, y: 6 } });
        else await page.keyboard.press(back);
      }
    }
    // Without values.
    for (const column of ['Kind', 'Trades', 'Note', 'Due']) {
      await open(project, 1, column);
      await page.keyboard.press('Enter');
      await gone(column);
    }
    // The same editors, in the panel.
    await (await project.cell(0, 'No.')).click();
    await page.keyboard.press('Space');
    const panel = page.getByRole('complementary');
    for (const [at, column] of columns.entries()) {
      await panel.getByRole('button', { name: new RegExp(`^${column} `) }).click();
      await editorIn(page).waitFor();
      if (at % 2) await page.keyboard.press('Enter');
      else await panel.getByRole('heading', { level: 2 }).click();
      await gone(column);
    }
    expect(sent).toEqual([]);
    expect(await valuesOf(api, id, 1)).toEqual(before);
    expect(await page.locator('.is-refused').count()).toBe(0);
  });

  test('keeps the focus when its cell gets it, by a late timer of the grid or a press at the edge', async ({ visit, api }) => {
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, await parts(api, 'Edges'), VIEW);
    for (const column of ['State', ...COLUMNS].filter((one) => one !== 'Safe')) {
      const cell = await project.cell(0, column);
      await cell.click({ position: { x: 6, y: 6 } });
      await page.keyboard.press('F2');
      await editorIn(page).waitFor();
      await cell.evaluate((one) => one.focus());
      await editorIn(page).waitFor();
      await page.keyboard.press('Escape');
      await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('role')), { message: column }).toBe('gridcell');
    }
  });

  test('of a text keeps its lines, and starts new ones by Alt+Enter and Shift+Enter', async ({ visit, api }) => {
    const id = await parts(api, 'Lines');
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id, VIEW);
    await (await project.cell(1, 'Note')).click();
    await page.keyboard.type('? first');
    await page.keyboard.press('Alt+Enter');
    await page.keyboard.type('second');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('third');
    const area = editorIn(page);
    expect((await area.boundingBox())?.height).toBeGreaterThan(50);
    await page.keyboard.press('Enter');
    await expect.poll(() => valuesOf(api, id, 2)).toMatchObject({ note: '? first\nsecond\nthird' });
    // A word more, in the panel.
    await (await project.cell(1, 'No.')).click();
    await page.keyboard.press('Space');
    await page.getByRole('complementary').getByRole('button', { name: /^Note / }).click();
    await editorIn(page).press('End');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('fourth');
    await page.keyboard.press('Enter');
    await expect.poll(() => valuesOf(api, id, 2)).toMatchObject({ note: '? first\nsecond\nthird\nfourth' });
    // A copied value is pasted unchanged.
    await (await project.cell(1, 'Note')).click();
    await page.keyboard.press('Control+c');
    await page.getByText('Copied 1 row.').waitFor();
    await (await project.cell(0, 'Note')).click();
    await page.keyboard.press('Control+v');
    await expect.poll(() => valuesOf(api, id, 1)).toMatchObject({ note: '? first\nsecond\nthird\nfourth' });
  });

  test('stays open with an invalid value and the reason, and has it again when reopened', async ({ visit, api }) => {
    const id = await parts(api, 'Refused');
    // Administrators would create options.
    const visited = await visit({ ...ADMIN, user: 'ellen', role: 'editor' });
    const { page } = visited;
    const project = await ProjectPage.open(visited, id, VIEW);
    for (const [column, field, wrong, message, right, stored] of [
      ['Due', 'due', '2024-02-31', 'Not a date', '2024-02-29', '2024-02-29'],
      ['At', 'at', 'noon', 'Not a time', '2024-02-29 12:00', '2024-02-29T12:00:00Z'],
      ['Weight', 'weight', 'heavy', 'Not a number', '12.5', '12.5'],
      ['Kind', 'kind', 'rope', 'is not an option', 'plate', 'plate'],
      ['Trades', 'trades', 'rope', 'is not an option', 'wood', 'wood'],
    ] as const) {
      await (await project.cell(1, column)).click();
      await page.keyboard.type(wrong);
      for (const key of ['Enter', 'Tab']) {
        await page.keyboard.press(key);
        await page.getByRole('alert').getByText(message).waitFor();
        expect(await editorIn(page).inputValue()).toBe(wrong);
      }
      // After a click elsewhere it is marked, and is there again when the editor opens.
      await (await project.cell(0, 'No.')).click();
      await page.getByText('1 cell was refused').waitFor();
      const editor = await open(project, 1, column);
      expect(await editor.inputValue()).toBe(wrong);
      await page.getByRole('alert').getByText(message).waitFor();
      await editor.fill(right);
      await page.keyboard.press('Enter');
      if (column === 'Trades') await page.keyboard.press('Control+Enter');
      await expect.poll(async () => String((await valuesOf(api, id, 2))[field])).toBe(stored);
      await page.getByText('1 cell was refused').waitFor({ state: 'hidden' });
    }
    // In the panel too.
    await (await project.cell(1, 'No.')).click();
    await page.keyboard.press('Space');
    await page.getByRole('complementary').getByRole('button', { name: /^Due / }).click();
    await editorIn(page).fill('soon');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('Not a date').waitFor();
    expect(await editorIn(page).inputValue()).toBe('soon');
    await page.keyboard.press('Escape');
    await expect.poll(() => editorIn(page).count()).toBe(0);
    expect(await valuesOf(api, id, 2)).toMatchObject({ due: '2024-02-29' });
  });
});

describe('an option', () => {
  const optionsOf = async (api: Api, project: string, attribute: string) => {
    const { body } = await api.call('GET', '/v1/projects/{project}/attributes/{attribute}', { path: { project, attribute } });
    return body.options?.map(({ value }) => value);
  };

  test('is created from a cell by an administrator, by keys and by the mouse', async ({ visit, api }) => {
    const id = await parts(api, 'New options');
    const visited = await visit(undefined, { width: 1400 });
    const { page } = visited;
    const project = await ProjectPage.open(visited, id, VIEW);
    const entry = (text: string) => page.getByRole('option', { name: text, exact: true });
    const kind = await project.cell(1, 'Kind');
    await kind.click();
    // It is the last entry: options that have the text come first.
    await page.keyboard.type('bol');
    expect(await page.getByRole('option').allInnerTexts()).toEqual(['bolt', 'Create “bol”']);
    await editorIn(page).fill('Bolt');
    expect(await page.getByRole('option').allInnerTexts()).toEqual(['bolt']);
    await editorIn(page).fill('cable');
    expect(await findings(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByText('New in Kind for everyone: cable.').waitFor();
    await expect.poll(() => valuesOf(api, id, 2)).toMatchObject({ kind: 'cable' });
    expect(await optionsOf(api, id, 'kind')).toEqual(['beam', 'bolt', 'plate', 'cable']);
    expect(await kind.innerText()).toBe('cable');
    // By its place, the fourth option is purple.
    await kind.locator('.pill-purple').waitFor();
    // The page goes on with it: undo takes the value back, and the option stays.
    await kind.click();
    await page.keyboard.press('Control+z');
    await expect.poll(() => valuesOf(api, id, 2)).not.toHaveProperty('kind');
    await page.keyboard.type('cab');
    await page.keyboard.press('Enter');
    await expect.poll(() => valuesOf(api, id, 2)).toMatchObject({ kind: 'cable' });

    // Several options at once, while someone else changes the field: the page reads it again, and adds to that.
    const path = { project: id, attribute: 'trades' };
    await (await project.cell(0, 'Trades')).click();
    await page.keyboard.type('glass');
    await entry('Create “glass”').click();
    await page.keyboard.type('zinc');
    await api.call('PATCH', '/v1/projects/{project}/attributes/{attribute}', { path, body: { options: ['paint', 'steel, welded', 'wood', 'stone'] } });
    await page.keyboard.press('Enter');
    expect(await optionsOf(api, id, 'trades')).toEqual(['paint', 'steel, welded', 'wood', 'stone']);
    await page.keyboard.press('Control+Enter');
    await expect.poll(() => optionsOf(api, id, 'trades')).toEqual(['paint', 'steel, welded', 'wood', 'stone', 'glass', 'zinc']);
    await expect.poll(() => valuesOf(api, id, 1)).toMatchObject({ trades: ['steel, welded', 'wood', 'glass', 'zinc'] });
    // Escape creates nothing.
    await (await project.cell(1, 'Trades')).click();
    await page.keyboard.type('rope');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');

    // States, and in the panel of an issue.
    await (await project.cell(1, 'No.')).click();
    await page.keyboard.press('Space');
    await page.getByRole('complementary').getByRole('button', { name: /^State / }).click();
    await page.keyboard.type('planned');
    await entry('Create “planned”').click();
    await expect.poll(() => valuesOf(api, id, 2)).toMatchObject({ state: 'planned' });
    expect(await optionsOf(api, id, 'trades')).not.toContain('rope');
    await expect.poll(() => page.getByText('have changed').count()).toBe(0);
  });

  test('that the API refuses marks the cell with the reason; editors cannot create one', async ({ visit, api }) => {
    const options = Array.from({ length: 200 }, (_, at) => `part ${at}`);
    const fields: NewField[] = [{ id: 'part', name: 'Part', type: 'enum', options }];
    const id = await makeProject(api, { name: 'Many options', fields, issues: [{ name: 'Girder', fields: {} }] });
    const visited = await visit();
    const project = await ProjectPage.open(visited, id);
    const part = await project.cell(0, 'Part');
    await part.click();
    await visited.page.keyboard.type('one more');
    await visited.page.keyboard.press('Enter');
    await expect.poll(() => part.getAttribute('aria-invalid')).toBe('true');
    await visited.page.getByText('1 cell was refused').waitFor();
    await part.click();
    await visited.page.getByRole('alert').getByText('one more: A field can have at most 200 options.').waitFor();

    const other = await ProjectPage.open(await visit({ ...ADMIN, user: 'ellen', role: 'editor' }), id);
    await (await other.cell(0, 'Part')).click();
    await other.page.keyboard.type('one more');
    expect(await other.page.getByRole('option').count()).toBe(0);
  });
});

describe('a cell', () => {
  test('with a check box is toggled by a click on the box; an empty cell has another box', async ({ visit, api }) => {
    const id = await parts(api, 'Boxes');
    const visited = await visit();
    const project = await ProjectPage.open(visited, id, VIEW);
    const looks = async (row: number) => (await project.cell(row, 'Safe')).locator('.tick').evaluate((box) => getComputedStyle(box).borderTopStyle);
    expect([await looks(0), await looks(1)]).toEqual(['solid', 'dashed']);
    const box = async (row: number) => (await project.cell(row, 'Safe')).locator('.tick').click();
    await box(0);
    await expect.poll(() => valuesOf(api, id, 1)).toMatchObject({ safe: true });
    await box(0);
    await expect.poll(() => valuesOf(api, id, 1)).toMatchObject({ safe: false });
    await box(1);
    await expect.poll(() => valuesOf(api, id, 2)).toMatchObject({ safe: true });
    // A click beside the box only takes the focus.
    await (await project.cell(0, 'Safe')).click({ position: { x: 4, y: 4 } });
    await visited.page.keyboard.press('Delete');
    await expect.poll(async () => (await valuesOf(api, id, 1))['safe']).toBeUndefined();
    await expect.poll(() => looks(0)).toBe('dashed');
  });

  test('is cut, left by Home and End, and undone from anywhere; a new row continues with Tab, and is counted', async ({ visit, api }) => {
    const id = await parts(api, 'Keys of cells');
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id, VIEW);
    await project.counts('2 issues');
    const focused = () => page.evaluate(() => [document.activeElement?.closest('[role="row"]')?.getAttribute('aria-rowindex'), document.activeElement?.getAttribute('col-id')].join(' '));

    // Cut, and one step of undo, with the focus on a button.
    await (await project.cell(0, 'Weight')).click();
    await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.press('Control+x');
    await expect.poll(() => valuesOf(api, id, 1)).not.toHaveProperty('weight');
    await expect.poll(() => valuesOf(api, id, 1)).not.toHaveProperty('due');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`${VALUES.weight}\t${VALUES.due}`);
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).focus();
    await page.keyboard.press('Control+z');
    await expect.poll(() => valuesOf(api, id, 1)).toMatchObject({ due: VALUES.due });
    await expect.poll(async () => String((await valuesOf(api, id, 1))['weight'])).toBe(VALUES.weight);
    await page.keyboard.press('Control+y');
    await expect.poll(() => valuesOf(api, id, 1)).not.toHaveProperty('due');

    // Within the row, and to the corners.
    await (await project.cell(1, 'Note')).click();
    for (const [key, place] of [
      ['Home', '3 num'],
      ['End', '3 safe'],
      ['Control+Home', '2 num'],
      ['Control+End', '3 safe'],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(focused).toBe(place);
    }

    // A new row that is cancelled was never an issue: nothing is counted, numbered or in the trash.
    await (await project.cell(0, 'Weight')).click();
    await page.getByRole('button', { name: 'New row' }).click();
    await editorIn(page).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => project.column('Name')).toEqual(['Girder', 'Rivet']);
    await expect.poll(focused).toMatch(/^3 /);

    // A new row: its name, the next cell, and the count.
    await page.getByRole('button', { name: 'New row' }).click();
    await editorIn(page).waitFor();
    await page.keyboard.type('Cable');
    await page.keyboard.press('Tab');
    await expect.poll(focused).toBe('4 state');
    await page.keyboard.type('open');
    await page.keyboard.press('Enter');
    await expect.poll(() => valuesOf(api, id, 3)).toMatchObject({ name: 'Cable', state: 'open' });
    await project.counts('3 issues');
    expect((await project.rows()).map(({ cells }) => cells['Name'])).toEqual(['Girder', 'Rivet', 'Cable']);

    // The next row begins while the API still creates the one before.
    const held: Route[] = [];
    await page.route('**/issues/batch', (route) => void held.push(route), { times: 2 });
    for (const [at, name] of ['Plate', 'Beam'].entries()) {
      await page.getByRole('button', { name: 'New row' }).click();
      await editorIn(page).waitFor();
      await page.keyboard.type(name);
      await page.keyboard.press('Enter');
      // Requests go out one after another.
      await expect.poll(() => held.length).toBe(1);
      await expect.poll(async () => (await project.cell(3 + at, 'Name')).innerText()).toBe(name);
    }
    await held[0]?.continue();
    await expect.poll(() => held.length).toBe(2);
    await held[1]?.continue();
    await expect.poll(() => valuesOf(api, id, 4)).toMatchObject({ name: 'Plate' });
    await expect.poll(() => valuesOf(api, id, 5)).toMatchObject({ name: 'Beam' });
    await project.counts('5 issues');
    expect((await project.rows()).map(({ cells }) => cells['Name'])).toEqual(['Girder', 'Rivet', 'Cable', 'Plate', 'Beam']);
  });
});

describe('a new row without a value', () => {
  test('leaves the focus to the input that is clicked, and returns it by Escape and Enter', async ({ visit, api }) => {
    const id = await parts(api, 'Left for the search');
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id, VIEW);
    const search = project.toolbar.getByRole('searchbox');
    const begin = async () => {
      await project.toolbar.getByRole('button', { name: 'New row' }).click();
      await editorIn(page).waitFor();
    };
    for (const key of ['Escape', 'Enter']) {
      await begin();
      await page.keyboard.press(key);
      await expect.poll(() => project.column('Name')).toEqual(['Girder', 'Rivet']);
      await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('role'))).toBe('gridcell');
    }
    await begin();
    await search.click();
    await page.keyboard.type('Gir');
    await page.keyboard.press('Enter');
    await expect.poll(() => project.column('Name')).toEqual(['Girder']);
    expect(await search.inputValue()).toBe('Gir');
    expect(await valuesOf(api, id, 2)).toMatchObject({ name: 'Rivet' });
  });
});

describe('a new row of a project with required fields', () => {
  test('keeps all that is typed until the API takes it', async ({ visit, api }) => {
    const id = await makeProject(api, {
      name: 'Required',
      fields: [
        { id: 'cost', name: 'Cost', type: 'number', required: true },
        { id: 'note', name: 'Note', type: 'text', required: true },
      ],
      issues: [{ name: 'Rivet', fields: { cost: 1, note: 'short' } }],
    });
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id);
    await project.toolbar.getByRole('button', { name: 'New row' }).click();
    await editorIn(page).waitFor();
    await page.keyboard.type('Girder');
    await page.keyboard.press('Enter');
    for (const [column, text] of [['Cost', '5'], ['Note', 'long']] as const) {
      await (await project.cell(1, column)).click();
      await page.keyboard.type(text);
      await page.keyboard.press('Enter');
    }
    await expect.poll(() => valuesOf(api, id, 2).catch(() => null)).toMatchObject({ name: 'Girder', cost: 5, note: 'long' });
    await project.counts('2 issues');
  });

  test('is not covered by the notice of an empty project', async ({ visit, api }) => {
    const id = await makeProject(api, { name: 'Empty', fields: [{ id: 'cost', name: 'Cost', type: 'number', required: true }], issues: [] });
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id);
    const notice = page.getByText('This project has no issues yet');
    await notice.waitFor();
    await project.toolbar.getByRole('button', { name: 'New row' }).click();
    await editorIn(page).waitFor();
    await page.keyboard.type('Girder');
    await page.keyboard.press('Enter');
    await notice.waitFor({ state: 'hidden' });
    await (await project.cell(0, 'Cost')).click();
    await page.keyboard.type('5');
    await page.keyboard.press('Enter');
    await expect.poll(() => valuesOf(api, id, 1).catch(() => null)).toMatchObject({ name: 'Girder', cost: 5 });
    await project.counts('1 issue');
  });
});

describe('entered text', () => {
  test('is not lost by Escape: comments are kept, forms ask; Enter accepts the offered user', async ({ visit, api }) => {
    const id = await parts(api, 'Drafts');
    await api.call('GET', '/v1/me', {});
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id, VIEW);
    const answers: string[] = [];
    let accept = false;
    page.on('dialog', (dialog) => {
      answers.push(dialog.message());
      void (accept ? dialog.accept() : dialog.dismiss());
    });
    await (await project.cell(0, 'No.')).click();
    await page.keyboard.press('Space');
    const comment = page.getByRole('complementary').getByLabel('New comment');
    await comment.fill('Ask ');
    await comment.press('End');
    await page.keyboard.type('@a');
    await page.getByRole('button', { name: /^Mention ada/ }).waitFor();
    // What was looked for before a user is chosen may be found after it: it is not offered any more.
    const search = /\/v1\/users\?.*prefix=ad(&|$)/;
    const held: Route[] = [];
    await page.route(search, (route) => void held.push(route), { times: 1 });
    const found = page.waitForResponse(search);
    await page.keyboard.type('d');
    await expect.poll(() => held.length).toBe(1);
    await page.keyboard.press('Enter');
    await expect.poll(() => comment.inputValue()).toBe('Ask @ada ');
    await held[0]?.continue();
    await (await found).finished();
    await page.waitForTimeout(100);
    await page.keyboard.press('Escape');
    await comment.waitFor({ state: 'hidden' });
    await (await project.cell(1, 'No.')).click();
    await page.keyboard.press('Space');
    await expect.poll(() => comment.inputValue()).toBe('');
    await (await project.cell(0, 'No.')).click();
    await expect.poll(() => comment.inputValue()).toBe('Ask @ada ');
    expect(answers).toEqual([]);
    await comment.press('Control+Enter');
    await page.getByRole('complementary').getByRole('article').getByText('Ask @ada').waitFor();

    await page.goto('/');
    await page.getByRole('button', { name: 'New project' }).click();
    const dialog = page.getByRole('dialog', { name: 'New project' });
    await dialog.getByLabel('Name').fill('Bridges of the north');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await expect.poll(() => answers.length).toBe(2);
    expect(await dialog.getByLabel('Name').inputValue()).toBe('Bridges of the north');
    accept = true;
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'hidden' });
  });
});

describe('the keys of an input method', () => {
  test('choose its candidates, and neither a suggested user nor the end of an editor', async ({ visit, api }) => {
    const id = await parts(api, 'Composed cells');
    await api.call('GET', '/v1/me', {});
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id, VIEW);
    const method = await InputMethod.on(page);
    const owner = await open(project, 1, 'Owner');
    await method.compose('ad');
    await page.getByRole('option', { name: 'ada' }).waitFor();
    await method.press('ArrowDown');
    expect(await owner.inputValue()).toBe('ad');
    await page.keyboard.press('Escape');

    const note = await open(project, 1, 'Note');
    await method.compose('にほん');
    await method.press('Enter');
    await method.confirm('日本');
    // Safari reports the Enter that confirms a composition after its end.
    await method.press('Enter');
    expect(await note.inputValue()).toBe('日本');
    await page.keyboard.type('!');
    await page.keyboard.press('Enter');
    await expect.poll(() => valuesOf(api, id, 2)).toMatchObject({ note: '日本!' });
  });

  test('neither send nor discard a comment, and open no window', async ({ visit, api }) => {
    const id = await parts(api, 'Composed comments');
    const path = { project: id, num: 1 };
    await api.call('POST', '/v1/projects/{project}/issues/{num}/comments', { path, body: { text: 'Rust?' } });
    const visited = await visit();
    const { page } = visited;
    const asked: string[] = [];
    page.on('dialog', (question) => {
      asked.push(question.message());
      void question.accept();
    });
    const project = await ProjectPage.open(visited, id, VIEW);
    await (await project.cell(0, 'No.')).click();
    await page.keyboard.press('Space');
    const panel = page.getByRole('complementary');
    await panel.getByRole('button', { name: 'Edit the comment by' }).click();
    const text = panel.getByLabel('Comment text');
    await text.fill('No. ');
    const method = await InputMethod.on(page);
    await method.compose('さび');
    await method.press('Escape');
    await method.press('Enter', { control: true });
    await method.press('k', { control: true });
    expect(await text.inputValue()).toBe('No. さび');
    expect(asked).toEqual([]);
    expect(await page.getByRole('dialog', { name: 'Commands' }).count()).toBe(0);
    expect((await api.call('GET', '/v1/projects/{project}/issues/{num}/comments', { path })).body.items).toMatchObject([{ text: 'Rust?' }]);
  });

  test('choose and close nothing in a window, and open no project', async ({ visit, api }) => {
    const id = await parts(api, 'Composed names');
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id, VIEW);
    const method = await InputMethod.on(page);
    await page.keyboard.press('Control+k');
    const window = page.getByRole('dialog', { name: 'Commands' });
    const box = window.getByRole('combobox');
    await box.waitFor();
    await method.compose('no');
    const active = await box.getAttribute('aria-activedescendant');
    for (const key of ['ArrowDown', 'Enter']) await method.press(key);
    expect(await box.getAttribute('aria-activedescendant')).toBe(active);
    await method.press('Escape');
    expect(await box.isVisible()).toBe(true);
    await method.confirm('no');
    await page.keyboard.press('Escape');
    await window.waitFor({ state: 'hidden' });

    await page.getByRole('button', { name: /switch project$/ }).click();
    const panel = project.panel('Projects');
    await panel.waitFor();
    await method.compose('o');
    await panel.getByRole('listitem').first().waitFor();
    for (const key of ['ArrowDown', 'Enter']) await method.press(key);
    expect(await panel.getByRole('searchbox').evaluate((one) => one === document.activeElement)).toBe(true);
    expect(new URL(page.url()).pathname).toBe(`/projects/${id}`);
  });
});
