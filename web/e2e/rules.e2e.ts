import type { Locator } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Api } from '../src/api/client';
import type { Filter } from '../src/api/types';
import { findings } from './accessibility';
import { illegible } from './legible';
import { ProjectPage } from './project-page';
import { makeProject, PARTS } from './projects';
import { ADMIN } from './stack';
import { test } from './test';

const GRACE = { ...ADMIN, user: 'grace' } as const;

/** Issues 1 to 4: two beams, a bolt and a plate, of 10 to 40 kilograms. */
const bridge = (api: Api): Promise<string> =>
  makeProject(api, {
    name: 'Ruled',
    fields: PARTS,
    issues: ['beam', 'beam', 'bolt', 'plate'].map((kind, at) => ({ name: `Part ${at + 1}`, fields: { kind, weight: 10 * (at + 1), due: `2024-0${at + 1}-01`, note: 'as found' } })),
  });

const HEAVY: Filter = { field: 'weight', op: 'gte', value: 30 };
const BEAM: Filter = { field: 'kind', op: 'eq', value: 'beam' };

const address = (...rules: readonly (readonly [string, Filter])[]) => rules.map(([look, filter]) => `rule=${look}:${encodeURIComponent(JSON.stringify(filter))}`).join('&');

/** The colors of the rows in view, by the classes that give them their look. */
const rowColors = (project: ProjectPage): Promise<readonly string[]> =>
  project.grid.locator('.ag-row:not(.footer)').evaluateAll((rows) =>
    [...rows]
      .sort((a, b) => Number(a.getAttribute('row-index')) - Number(b.getAttribute('row-index')))
      .map((row) => (row.classList.contains('is-colored') ? ([...row.classList].find((name) => /^is-(gray|red|orange|yellow|green|teal|blue|purple|pink)$/.test(name)) ?? '?') : '-').replace('is-', '')),
  );

const cellColor = async (cell: Locator) => /is-tinted is-(\w+)/.exec((await cell.getAttribute('class')) ?? '')?.[1] ?? null;

const groundOf = (element: Locator) => element.evaluate((one) => getComputedStyle(one).backgroundColor);

async function type(project: ProjectPage, row: number, column: string, text: string): Promise<void> {
  await (await project.cell(row, column)).click();
  await project.page.keyboard.type(text);
  await project.page.keyboard.press('Enter');
}

/** The rules of the panel, as it names them. */
const listed = (panel: Locator) => panel.locator('.rule-text').allInnerTexts();

describe('color rules', () => {
  test('are entered, and color rows and cells while they are typed', async ({ visit, api }) => {
    const project = await ProjectPage.open(await visit(), await bridge(api));
    const panel = await project.open('Color');
    await panel.getByText('No rules yet.').waitFor();
    await panel.getByRole('button', { name: 'Add a rule' }).click();
    const rule = panel.getByRole('form', { name: 'Rule 1' });
    await rule.getByRole('combobox', { name: 'Color', exact: true }).selectOption('Red');
    await rule.getByLabel('Field', { exact: true }).selectOption('Weight');
    await rule.getByLabel('Operator').selectOption('comes after or is');
    expect(project.view.has('rule')).toBe(false);
    await rule.getByLabel('Value', { exact: true }).pressSequentially('3', { delay: 20 });
    await expect.poll(() => rowColors(project)).toEqual(['red', 'red', 'red', 'red']);
    await rule.getByLabel('Value', { exact: true }).pressSequentially('0');
    await expect.poll(() => rowColors(project)).toEqual(['-', '-', 'red', 'red']);
    // The half of a number colors nothing, and the rows stay.
    await rule.getByLabel('Value', { exact: true }).fill('-');
    await expect.poll(() => rowColors(project)).toEqual(['-', '-', '-', '-']);
    expect(await project.column('Name')).toHaveLength(4);
    await rule.getByLabel('Value', { exact: true }).fill('30');
    await rule.getByRole('button', { name: 'Done' }).click();
    expect(await listed(panel)).toEqual(['Red: Weight comes after or is 30']);

    await panel.getByRole('button', { name: 'Add a rule' }).click();
    const second = panel.getByRole('form', { name: 'Rule 2' });
    await second.getByRole('combobox', { name: 'Color', exact: true }).selectOption('Teal');
    await second.getByRole('combobox', { name: 'Colored part' }).selectOption('Cell: Due');
    await second.getByLabel('Field', { exact: true }).selectOption('Due');
    await second.getByLabel('Operator').selectOption('comes before');
    await second.getByLabel('Value: exact or relative').selectOption('today');
    await expect.poll(async () => cellColor(await project.cell(0, 'Due'))).toBe('teal');
    expect(await cellColor(await project.cell(0, 'Note'))).toBeNull();
    expect(await listed(panel)).toEqual(['Red: Weight comes after or is 30', 'Teal, Due: Due comes before today']);
    for (const colorScheme of ['light', 'dark'] as const) {
      await project.page.emulateMedia({ colorScheme });
      expect(await findings(project.page)).toEqual([]);
    }
    expect(await illegible(project.page, panel, new Set())).toEqual([]);
    await project.page.keyboard.press('Escape');
    expect(await project.tool('Color').textContent()).toMatch(/2$/);

    // The address has all of it.
    await project.page.reload();
    await project.rows();
    await expect.poll(() => rowColors(project)).toEqual(['-', '-', 'red', 'red']);
    await expect.poll(async () => cellColor(await project.cell(3, 'Due'))).toBe('teal');
    // One step for all that one visit of the panel did.
    await project.page.goBack();
    await expect.poll(() => rowColors(project)).toEqual(['-', '-', '-', '-']);
  });

  test('win in their order, which buttons and the mouse change', async ({ visit, api }) => {
    const project = await ProjectPage.open(await visit(), await bridge(api), address(['red', HEAVY], ['blue', BEAM], ['green', { field: 'weight', op: 'gt', value: 0 }]));
    await expect.poll(() => rowColors(project)).toEqual(['blue', 'blue', 'red', 'red']);
    const panel = await project.open('Color');
    await project.counts('4 issues');
    let requests = 0;
    project.page.on('request', (request) => (requests += request.url().endsWith('/grid') && request.postData()?.includes('"rules"') ? 1 : 0));
    await panel.getByRole('button', { name: 'Move rule 3 up' }).click();
    await expect.poll(() => rowColors(project)).toEqual(['green', 'green', 'red', 'red']);
    const focused = () => project.page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
    await expect.poll(focused).toBe('Move rule 2 up');
    await project.page.keyboard.press('Enter');
    await expect.poll(() => rowColors(project)).toEqual(['green', 'green', 'green', 'green']);
    // The button keeps the focus where it leads no further.
    await expect.poll(focused).toBe('Move rule 1 up');
    await project.page.keyboard.press('Enter');
    await panel.getByText('The rule is now number 1 of 3.').waitFor({ state: 'attached' });
    expect((await listed(panel)).map((text) => text.split(':')[0])).toEqual(['Green', 'Red', 'Blue']);
    await panel.locator('.grip').nth(2).dragTo(panel.locator('.rules > ol > li').nth(0), { targetPosition: { x: 60, y: 8 } });
    await expect.poll(async () => (await listed(panel)).map((text) => text.split(':')[0])).toEqual(['Blue', 'Green', 'Red']);
    await expect.poll(() => rowColors(project)).toEqual(['blue', 'blue', 'green', 'green']);
    await panel.getByRole('button', { name: 'Remove rule 2' }).click();
    await expect.poll(() => rowColors(project)).toEqual(['blue', 'blue', 'red', 'red']);
    await expect.poll(focused).toBe('Remove rule 2');
    // The rows were judged by all of them already.
    expect(requests).toBe(0);
    for (let left = 2; left > 0; left -= 1) await panel.getByRole('button', { name: 'Remove rule 1' }).click();
    await expect.poll(() => rowColors(project)).toEqual(['-', '-', '-', '-']);
    await expect.poll(() => project.view.has('rule')).toBe(false);
  });

  test('are saved in a view, and a cell’s rule comes before its row’s', async ({ visit, api }) => {
    const id = await bridge(api);
    const project = await ProjectPage.open(await visit(), id, `${address(['red', HEAVY], ['yellow.kind', BEAM], ['purple', BEAM])}&color=kind`);
    await expect.poll(() => rowColors(project)).toEqual(['purple', 'purple', 'red', 'red']);
    await expect.poll(async () => cellColor(await project.cell(1, 'Kind'))).toBe('yellow');
    await project.more('Save as view');
    const saving = project.page.getByRole('dialog', { name: 'Save as view', exact: true });
    await saving.getByLabel('View name').fill('Ruled');
    await saving.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => project.view.get('view')).toBe('v1');
    const { body } = await api.call('GET', '/v1/projects/{project}/views/{view}', { path: { project: id, view: 'v1' } });
    expect(body.rules).toEqual([
      { filter: HEAVY, color: 'red', field: null },
      { filter: BEAM, color: 'yellow', field: 'kind' },
      { filter: BEAM, color: 'purple', field: null },
    ]);
    await project.page.goto(`/projects/${id}?view=v1`);
    await project.rows();
    await expect.poll(() => rowColors(project)).toEqual(['purple', 'purple', 'red', 'red']);
    const panel = await project.open('Color');
    await panel.getByRole('button', { name: 'Remove rule 3' }).click();
    // The option gives its color to rows without a rule.
    await expect.poll(() => rowColors(project)).toEqual(['blue', 'blue', 'red', 'red']);
    await project.page.keyboard.press('Escape');
    await expect.poll(() => project.view.get('edited')).toBe('1');
    await project.page.getByRole('button', { name: 'Save changes' }).click();
    await expect.poll(() => project.view.has('edited')).toBe(false);
    const after = await api.call('GET', '/v1/projects/{project}/views/{view}', { path: { project: id, view: 'v1' } });
    expect(after.body.rules).toHaveLength(2);
  });

  test('color an edited row again: after edits, undo, and changes by others', async ({ visit, api }) => {
    const id = await bridge(api);
    const rules = address(['red', HEAVY], ['pink.note', { field: 'note', op: 'contains', value: 'rust' }]);
    const visited = await visit();
    // The field of the rule is no column.
    const project = await ProjectPage.open(visited, id, `${rules}&columns=num:72!,name:200!,note:200,weight:120`);
    const other = await ProjectPage.open(await visit(GRACE), id, `${rules}&columns=num:72!,name:200!`);
    for (const one of [project, other]) await expect.poll(() => rowColors(one)).toEqual(['-', '-', 'red', 'red']);
    await type(project, 0, 'Weight', '99');
    for (const one of [project, other]) await expect.poll(() => rowColors(one)).toEqual(['red', '-', 'red', 'red']);
    await type(project, 1, 'Note', 'some rust');
    await expect.poll(async () => cellColor(await project.cell(1, 'Note'))).toBe('pink');
    await project.page.keyboard.press('Control+z');
    await expect.poll(async () => cellColor(await project.cell(1, 'Note'))).toBeNull();
    await project.page.keyboard.press('Control+z');
    for (const one of [project, other]) await expect.poll(() => rowColors(one)).toEqual(['-', '-', 'red', 'red']);
    await api.call('PATCH', '/v1/projects/{project}/issues/{num}', { path: { project: id, num: 3 }, body: { fields: { weight: 1 } } });
    for (const one of [project, other]) await expect.poll(() => rowColors(one)).toEqual(['-', '-', '-', 'red']);
    await api.call('POST', '/v1/projects/{project}/issues', { path: { project: id }, body: { name: 'Part 5', fields: { weight: 50 } } });
    for (const one of [project, other]) await expect.poll(() => rowColors(one)).toEqual(['-', '-', '-', 'red', 'red']);
  });

  test('leave the selection and rows that no longer fit recognizable, also in forced colors', async ({ visit, api }) => {
    const id = await bridge(api);
    const rules = address(['gray', { field: 'weight', op: 'gt', value: 0 }], ['yellow.kind', { field: 'weight', op: 'gt', value: 0 }]);
    const project = await ProjectPage.open(await visit(), id, `${rules}&filter=${encodeURIComponent(JSON.stringify({ field: 'note', op: 'eq', value: 'as found' }))}`);
    await expect.poll(() => rowColors(project)).toEqual(['gray', 'gray', 'gray', 'gray']);
    const [kind, next] = [await project.cell(1, 'Kind'), await project.cell(2, 'Kind')];
    await expect.poll(() => cellColor(kind)).toBe('yellow');
    const tinted = await groundOf(kind);
    await kind.click();
    expect(await groundOf(kind)).not.toBe(tinted);
    expect(await groundOf(next)).toBe(tinted);
    await (await project.cell(1, 'Note')).click();
    await project.page.keyboard.type('gone');
    await project.page.keyboard.press('Tab');
    await expect.poll(() => project.grid.locator('.is-misfit').count()).toBeGreaterThan(0);
    const rows = project.grid.locator('.ag-row:not(.footer)');
    expect(await groundOf(rows.nth(1))).not.toBe(await groundOf(rows.nth(2)));
    expect(await groundOf(kind)).not.toBe(tinted);
    for (const colorScheme of ['light', 'dark'] as const) {
      await project.page.emulateMedia({ colorScheme });
      expect(await findings(project.page, { runOnly: ['color-contrast'] })).toEqual([]);
    }
    await project.page.emulateMedia({ colorScheme: 'light', forcedColors: 'active' });
    const mark = (cell: Locator) => cell.locator('.cell').evaluate((one) => getComputedStyle(one, '::before').backgroundColor);
    const seen = new Set([await mark(next), await mark(await project.cell(2, 'No.')), await mark(await project.cell(2, 'Note'))]);
    expect(seen.size).toBe(3);
  });

  test('keep text legible in each color, in light and in dark', async ({ visit, api }) => {
    const id = await bridge(api);
    for (const [row, cell] of [['red', 'orange'], ['yellow', 'green'], ['teal', 'blue'], ['purple', 'pink'], ['gray', 'red']] as const) {
      const any: Filter = { field: 'weight', op: 'gt', value: 0 };
      const project = await ProjectPage.open(await visit(), id, address([row, any], [`${cell}.note`, any], [`${cell}.kind`, any]));
      await expect.poll(() => rowColors(project)).toEqual([row, row, row, row]);
      for (const colorScheme of ['light', 'dark'] as const) {
        await project.page.emulateMedia({ colorScheme });
        expect(await findings(project.page, { runOnly: ['color-contrast'] })).toEqual([]);
      }
    }
  });

  test('are at most ten with 50 conditions, and the panel fits a telephone', async ({ visit, api }) => {
    const id = await bridge(api);
    const eight: Filter = { and: Array.from({ length: 8 }, (_, at): Filter => ({ field: 'weight', op: 'gt', value: at })) };
    const visited = await visit(ADMIN, { width: 390, height: 740 });
    const project = await ProjectPage.open(visited, id, address(...Array.from({ length: 6 }, () => ['red', eight] as const)));
    const panel = await project.open('Color');
    await panel.getByRole('button', { name: 'Add a rule' }).click();
    const rule = panel.getByRole('form', { name: 'Rule 7' });
    await rule.getByLabel('Value', { exact: true }).fill('Part');
    for (let more = 0; more < 2; more += 1) {
      await rule.getByRole('button', { name: 'Condition', exact: true }).click();
      await rule.getByLabel('Value', { exact: true }).nth(more + 1).fill('Part');
    }
    await panel.getByRole('alert').getByText('more than 50 conditions').waitFor();
    expect(await findings(visited.page)).toEqual([]);
    const remove = rule.getByRole('button', { name: 'Remove this condition' });
    await remove.nth(2).press('Enter');
    await expect.poll(() => remove.nth(1).evaluate((one) => one === document.activeElement)).toBe(true);
    await expect.poll(() => project.view.getAll('rule')).toHaveLength(7);
    for (let more = 7; more < 10; more += 1) await panel.getByRole('button', { name: 'Add a rule' }).click();
    await panel.getByText('A view has at most 10 rules.').waitFor();
    expect(await panel.getByRole('button', { name: 'Add a rule' }).isDisabled()).toBe(true);
    const { scrollWidth, clientWidth } = await panel.evaluate((one) => ({ scrollWidth: one.scrollWidth, clientWidth: one.clientWidth }));
    expect(scrollWidth).toBeLessThanOrEqual(clientWidth);
  });

  test('that the API refuses say why, and can be fixed in the panel', async ({ visit, api }) => {
    const id = await bridge(api);
    const { page } = await visit();
    await page.goto(`/projects/${id}?${address(['red', { field: 'weight', op: 'gt', value: 'heavy' }])}`);
    const project = new ProjectPage(page, id);
    await page.locator('.over-grid').getByText('The request is not valid').first().waitFor();
    const panel = await project.open('Color');
    await panel.getByRole('button', { name: 'Remove rule 1' }).click();
    await expect.poll(() => project.column('Name')).toEqual(['Part 1', 'Part 2', 'Part 3', 'Part 4']);
  });
});

test('a new group is by a field of which issues share values', async ({ visit, api }) => {
  const project = await ProjectPage.open(await visit(), await bridge(api));
  const panel = await project.open('Group');
  for (const group of ['state', 'state,due.month', 'state,due.month,kind']) {
    await panel.getByRole('button', { name: 'Add a field' }).click();
    await expect.poll(() => project.view.get('group')).toBe(group);
  }
});
