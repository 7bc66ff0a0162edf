import type { Locator } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Api } from '../src/api/client';
import { findings } from './accessibility';
import { ProjectPage } from './project-page';
import { makeProject, valuesOf, type NewField } from './projects';
import { ADMIN } from './stack';
import { test } from './test';

const FIELDS: readonly NewField[] = [
  { id: 'cost', name: 'Cost', type: 'number' },
  { id: 'qty', name: 'Unit count', type: 'number' },
];
const TOTAL: NewField = { id: 'total', name: 'Total', type: 'number', formula: 'ROUND({cost} * {qty}, 2)' };
const EACH: NewField = { id: 'each', name: 'Each', type: 'number', formula: '{cost} / {qty}' };
const LARGE: NewField = { id: 'large', name: 'Large', type: 'bool', formula: '{total} >= 20' };

/** Issues 1 to 3 that cost 10 each; 1, 2 and 3 of them. */
const parts = (api: Api, ...formulas: readonly NewField[]): Promise<string> =>
  makeProject(api, {
    name: 'Formulas',
    fields: [...FIELDS, ...formulas],
    issues: ['Girder', 'Rivet', 'Cable'].map((name, at) => ({ name, fields: { cost: 10, qty: at + 1 } })),
  });

async function type(project: ProjectPage, row: number, column: string, text: string): Promise<void> {
  await (await project.cell(row, column)).click();
  await project.page.keyboard.type(text);
  await project.page.keyboard.press('Enter');
}

/** Wait until no field of the project is being built. */
async function built(api: Api, project: string): Promise<void> {
  const { body } = await api.call('GET', '/v1/projects/{project}', { path: { project } });
  expect((body.attributes ?? []).filter(({ build }) => build !== null)).toEqual([]);
}

const formula = (window: Locator) => window.getByRole('textbox', { name: 'Formula' }).filter({ visible: true });

describe('the editor of a formula', () => {
  test('completes fields and functions by keys, and shows the type, the first values, and errors at their place', async ({ visit, api }) => {
    const id = await parts(api);
    const project = await ProjectPage.open(await visit(), id);
    const { page } = project;
    await project.more('Project settings');
    const window = page.getByRole('dialog', { name: /^Settings of/ });
    await window.getByLabel('Name of a new field').fill('Total');
    await page.keyboard.press('Tab');
    await window.getByLabel('Type', { exact: true }).and(page.locator(':focus')).selectOption('Formula');
    await page.keyboard.press('Tab');
    const text = formula(window);
    await window.getByText('Enter a formula.').waitFor();

    await page.keyboard.type('rou');
    const list = page.getByRole('listbox', { name: 'Fields and functions' });
    await expect.poll(() => list.locator('code').allInnerTexts()).toEqual(['ROUND(number, [digits])', 'ROUNDUP(number, [digits])', 'ROUNDDOWN(number, [digits])']);
    await expect.poll(() => text.getAttribute('aria-activedescendant')).toBe(await list.getByRole('option', { selected: true }).getAttribute('id'));
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await expect.poll(() => text.inputValue()).toBe('ROUND(');
    await window.getByText('ROUND(number, [digits]): the nearest, a half away from zero').waitFor();
    await page.keyboard.type('{co');
    await list.getByRole('option', { name: 'Cost Number' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.type(' * unit');
    await list.getByRole('option', { name: 'Unit count Number' }).waitFor();
    expect(await findings(page)).toEqual([]);
    // Escape closes the list only.
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'detached' });
    await page.keyboard.press('Control+Space');
    await page.keyboard.press('Enter');
    await page.keyboard.type(', 2) & ');
    await window.getByText('At the end: The formula ends here').waitFor();
    await expect.poll(() => text.getAttribute('aria-invalid')).toBe('true');
    await page.keyboard.type('{nope}');
    await window.getByText('At {nope}: The project has no field nope.').waitFor();
    expect(await window.locator('.formula-copy mark').innerText()).toBe('{nope}');
    expect(await findings(page)).toEqual([]);
    for (const character of ' & {nope}') if (character) await page.keyboard.press('Backspace');
    await window.getByText('Result: Number').waitFor();
    await expect.poll(() => text.inputValue()).toBe('ROUND({Cost} * {Unit count}, 2)');
    expect(await window.getByRole('table').getByRole('row').allInnerTexts()).toEqual(['1 Girder\t10', '2 Rivet\t20', '3 Cable\t30']);
    expect(await findings(page)).toEqual([]);

    await window.getByRole('button', { name: 'Add field' }).click();
    const item = window.getByRole('listitem').filter({ hasText: 'Total' });
    await item.getByRole('img', { name: 'Formula' }).waitFor();
    await expect.poll(() => built(api, id)).toBeUndefined();
    await page.keyboard.press('Escape');
    await expect.poll(() => project.column('Total')).toEqual(['10', '20', '30']);
    await project.head('Total').getByRole('img', { name: 'Formula' }).waitFor();
  });

  test('edits a formula, whose former values are served until it is built', async ({ visit, api }) => {
    const id = await parts(api, TOTAL);
    await expect.poll(() => built(api, id)).toBeUndefined();
    const project = await ProjectPage.open(await visit(), id);
    const { page } = project;
    await project.columnMenu('Total', 'Edit field…');
    const window = page.getByRole('dialog', { name: /^Settings of/ });
    const text = formula(window);
    await expect.poll(() => text.inputValue()).toBe('ROUND({Cost} * {Unit count}, 2)');
    await window.getByText('Result: Number').waitFor();
    for (const label of ['Every issue needs a value', 'Value of new issues']) expect(await window.getByLabel(label).filter({ visible: true }).count()).toBe(0);
    await text.fill('UPPER({name})');
    await window.getByText('The formula is a text, but the type of the field is number.').waitFor();
    await text.fill('{total} + 1');
    await window.getByText('The formula reads itself: Total → Total.').waitFor();
    await text.fill('{cost} + {qty}');
    await window.getByText('Saved as: {Cost} + {Unit count}').waitFor();
    await window.getByRole('button', { name: 'Save' }).filter({ visible: true }).click();
    await window.getByText('Until this is done, all users see the former values.').waitFor();
    await window.getByText(/^Rebuilding: /).waitFor();
    expect(await findings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await expect.poll(() => project.column('Total')).toEqual(['11', '12', '13']);
  });

  test('lists the formulas that prevent the deletion of a field', async ({ visit, api }) => {
    const id = await parts(api, TOTAL);
    const project = await ProjectPage.open(await visit(), id);
    await project.columnMenu('Cost', 'Delete field…');
    const window = project.page.getByRole('dialog', { name: /^Settings of/ });
    await window.getByRole('alert').getByRole('button', { name: 'Delete field' }).click();
    await window.getByText('Used by: Total.').waitFor();
  });
});

describe('computed cells', () => {
  test('follow edits of what they read, sort, and say why there is no value', async ({ visit, api }) => {
    const id = await parts(api, TOTAL, EACH);
    await expect.poll(() => built(api, id)).toBeUndefined();
    const project = await ProjectPage.open(await visit(), id);
    await type(project, 0, 'Unit count', '5');
    await expect.poll(() => project.column('Total')).toEqual(['50', '20', '30']);
    await type(project, 1, 'Unit count', '0');
    await expect.poll(() => project.column('Each')).toEqual(['2', 'No value: division by zero', '3.3333333333333333333333333333333333333']);
    await (await project.cell(1, 'Each')).click();
    await expect.poll(() => project.page.locator('.note:popover-open').innerText()).toBe('No value: division by zero');
    await project.sort('Total');
    await expect.poll(() => project.column('Name')).toEqual(['Rivet', 'Cable', 'Girder']);
    // An input that is not shown.
    await project.columnMenu('Unit count', 'Hide');
    await api.call('PATCH', '/v1/projects/{project}/issues/{num}', { path: { project: id, num: 2 }, body: { fields: { qty: 100 } } });
    await expect.poll(() => project.column('Total')).toEqual(['30', '50', '1,000']);
    await api.call('PATCH', '/v1/projects/{project}/issues/{num}', { path: { project: id, num: 3 }, body: { fields: { qty: null } } });
    await expect.poll(() => project.column('Total')).toEqual(['50', '1,000', '']);
  });

  test('of many edited rows are read again', async ({ visit, api }) => {
    const id = await parts(api, TOTAL, LARGE);
    await expect.poll(() => built(api, id)).toBeUndefined();
    const project = await ProjectPage.open(await visit(), id);
    await expect.poll(() => project.column('Large')).toEqual(['No', 'Yes', 'Yes']);
    await (await project.cell(0, 'Cost')).click();
    await project.page.evaluate(() => navigator.clipboard.writeText('1\n2\n3'));
    await project.page.keyboard.press('Control+v');
    await expect.poll(() => project.column('Total')).toEqual(['1', '4', '9']);
    await expect.poll(() => project.column('Large')).toEqual(['No', 'No', 'No']);
    await project.page.keyboard.press('Control+z');
    await expect.poll(() => project.column('Total')).toEqual(['10', '20', '30']);
  });

  test('are not edited, with a sentence that says so', async ({ visit, api }) => {
    const id = await parts(api, TOTAL, LARGE);
    await expect.poll(() => built(api, id)).toBeUndefined();
    const project = await ProjectPage.open(await visit(), id);
    const { page } = project;
    const why = 'A formula computes Total. Edit the fields that it reads instead: Cost, Unit count.';
    const note = page.locator('.note:popover-open');
    const cell = await project.cell(0, 'Total');
    const acts: readonly (() => Promise<void>)[] = [
      () => page.keyboard.type('7'),
      () => page.keyboard.press('Enter'),
      () => page.keyboard.press('F2'),
      () => page.keyboard.press('Delete'),
      () => page.keyboard.press('Control+x'),
      () => page.keyboard.press('Control+v'),
      () => cell.dblclick(),
    ];
    for (const act of acts) {
      await (await project.cell(1, 'Name')).click();
      await note.waitFor({ state: 'detached' });
      await cell.click();
      await act();
      await expect.poll(() => note.innerText()).toBe(why);
      expect(await page.locator('.ag-cell-inline-editing').count()).toBe(0);
    }
    expect(await findings(page)).toEqual([]);
    await (await project.cell(0, 'Large')).click();
    await page.keyboard.press('Space');
    await expect.poll(() => note.innerText()).toContain('A formula computes Large.');
    await (await project.cell(0, 'Total')).click();
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Control+d');
    await page.locator('.status-line').getByText(why).waitFor();
    await expect.poll(() => project.column('Total')).toEqual(['10', '20', '30']);
    expect(await valuesOf(api, id, 1)).toMatchObject({ total: expect.anything() as unknown });

    // The panel of the issue, and bulk changes.
    await (await project.cell(0, 'Name')).click();
    await page.keyboard.press('Space');
    const panel = page.getByRole('complementary');
    await panel.getByRole('img', { name: 'Formula' }).first().waitFor();
    expect(await panel.getByRole('button', { name: /^Total/ }).count()).toBe(0);
    await page.keyboard.press('Escape');
    const menu = await project.openColumnMenu('Total');
    expect(await menu.getByRole('menuitem', { name: 'Change in all rows' }).count()).toBe(0);
  });

  test('give a board columns, but cards are not moved between them', async ({ visit, api }) => {
    const id = await parts(api, TOTAL, LARGE);
    await expect.poll(() => built(api, id)).toBeUndefined();
    const { page } = await visit(ADMIN);
    const { body: view } = await api.call('POST', '/v1/projects/{project}/views', { path: { project: id }, body: { name: 'By size', visibility: 'shared', kind: 'board', board: { by: 'large' } } });
    await page.goto(`/projects/${id}?view=${view.id}`);
    await page.getByRole('option', { name: /Girder/ }).click();
    await page.keyboard.press('Space');
    await page.locator('.status-line').getByText('A formula computes Large. Edit the fields that it reads instead: Cost, Unit count.').waitFor();
  });
});
