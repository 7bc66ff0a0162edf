import { describe, expect } from 'vitest';
import type { Filter, SortKey } from '../src/api/types';
import { ProjectPage } from './project-page';
import { countOf } from './projects';
import { test } from './test';
import { showsWhatTheApiHas } from './truth';

const by = (field: string, direction: SortKey['direction'] = 'asc', nulls: SortKey['nulls'] = 'last'): SortKey => ({ field, direction, nulls });

describe('the rows', () => {
  test('jump anywhere with the scroll bar, and equal the API’s rows there', async ({ visit, api }) => {
    const demo = await ProjectPage.open(await visit(), 'demo', 'sort=-due');
    await demo.counts('2,000 issues');
    for (const [part, first, last] of [
      [0, 0, 0],
      [0.5, 800, 1200],
      [1, 1970, 1999],
    ] as const) {
      if (part) await demo.dragScrollBar(part);
      const [top] = await showsWhatTheApiHas(demo, api, { sort: [by('due', 'desc')] });
      expect(top?.at).toBeGreaterThanOrEqual(first);
      expect(top?.at).toBeLessThanOrEqual(last);
      // The columns at the right are drawn when they come into view.
      await demo.scrollSideways(9_999);
      await demo.head('Updated').waitFor();
      await showsWhatTheApiHas(demo, api, { sort: [by('due', 'desc')] });
      await demo.scrollSideways(-9_999);
      await demo.head('State').waitFor();
    }
    expect((await demo.rows()).at(-1)?.at).toBe(1_999);
  });

  test('are sorted by a click on a header, reversed by a second, and unsorted after a third', async ({ visit, api }) => {
    const demo = await ProjectPage.open(await visit(), 'demo');
    for (const [direction, sort] of [
      ['ascending', [by('priority')]],
      ['descending', [by('priority', 'desc')]],
      ['none', []],
    ] as const) {
      await demo.head('Priority').click();
      await expect.poll(async () => (await demo.head('Priority').getAttribute('aria-sort')) ?? 'none').toBe(direction);
      await showsWhatTheApiHas(demo, api, { sort: [...sort] });
    }
  });

  test('begin with empty values if the column menu says so', async ({ visit, api }) => {
    const demo = await ProjectPage.open(await visit(), 'demo', 'sort=due');
    await demo.columnMenu('Due', 'Empty values first');
    await showsWhatTheApiHas(demo, api, { sort: [by('due', 'asc', 'first')] });
    expect(new Set(await demo.column('Due'))).toEqual(new Set(['']));
  });

  test('match the searched words by name', async ({ visit }) => {
    const demo = await ProjectPage.open(await visit(), 'demo');
    await demo.toolbar.getByRole('searchbox').fill('loose');
    await demo.page.keyboard.press('Enter');
    await expect.poll(() => demo.column('Name')).toSatisfy((names: readonly string[]) => names.length > 3 && names.every((name) => /loose/i.test(name)));
  });
});

describe('the filter', () => {
  const HIGH: Filter = { field: 'priority', op: 'eq', value: 'High' };
  const DEAR: Filter = { field: 'cost', op: 'gt', value: 4000 };

  test('is built of conditions, and shows matching issues and their number', async ({ visit, api }) => {
    const demo = await ProjectPage.open(await visit(), 'demo');
    const panel = await demo.open('Filter');
    const fill = async (at: number, field: string, operator: string) => {
      await panel.getByLabel('Field', { exact: true }).nth(at).selectOption(field);
      await panel.getByLabel('Operator').nth(at).selectOption(operator);
    };
    await fill(0, 'Priority', 'is');
    await panel.getByLabel('Value', { exact: true }).selectOption('High');
    await panel.getByRole('button', { name: 'Condition', exact: true }).click();
    await fill(1, 'Cost', 'comes after');
    await panel.getByLabel('Value', { exact: true }).nth(1).fill('4000');
    const ways: readonly (readonly [string, Filter])[] = [
      ['All of these', { and: [HIGH, DEAR] }],
      ['Any of these', { or: [HIGH, DEAR] }],
      ['None of these', { not: { or: [HIGH, DEAR] } }],
    ];
    for (const [join, filter] of ways) {
      if (!(await panel.isVisible())) await demo.open('Filter');
      await panel.getByLabel('Combine conditions').selectOption(join);
      await panel.getByRole('button', { name: 'Apply' }).click();
      await showsWhatTheApiHas(demo, api, { filter });
      const matched = await countOf(api, 'demo', filter);
      expect(matched).toBeGreaterThan(0);
      await demo.counts(`${matched.toLocaleString('en-US')} of 2,000 issues`);
      await expect.poll(() => demo.tool('Filter').textContent()).toMatch(/2$/);
    }
  });

  test('that matches nothing says so, and leads back to all issues', async ({ visit }) => {
    const demo = await ProjectPage.open(await visit(), 'demo');
    await demo.columnMenu('Asset', 'Filter by this');
    const panel = demo.panel('Filter');
    await panel.getByLabel('Value', { exact: true }).fill('no such place');
    await panel.getByRole('button', { name: 'Apply' }).click();
    await demo.page.getByText('No issues match the filter').waitFor();
    await demo.page.getByRole('button', { name: 'Show all issues' }).click();
    await demo.counts('2,000 issues');
    expect((await demo.rows()).length).toBeGreaterThan(15);
  });
});

describe('groups', () => {
  test('have heads with counts, collapse, and keep that in the address', async ({ visit, api }) => {
    const demo = await ProjectPage.open(await visit(), 'demo');
    await demo.columnMenu('State', 'Group by this');
    const { body } = await api.call('POST', '/v1/projects/{project}/groups', { path: { project: 'demo' }, body: { by: ['state'] } });
    const [first, second] = body.groups.map(({ values: [state], count }) => `State: ${state as string}, ${count} issues`);
    await demo.group(first ?? '').waitFor();
    await showsWhatTheApiHas(demo, api, { filter: { field: 'state', op: 'eq', value: 'reported' } }, { from: 1 });
    await demo.group(first ?? '').click();
    await demo.group(second ?? '').waitFor();
    await demo.page.reload();
    await demo.group(second ?? '').waitFor();
    await expect.poll(() => demo.group(first ?? '').getAttribute('aria-expanded')).toBe('false');
    await showsWhatTheApiHas(demo, api, { filter: { field: 'state', op: 'eq', value: 'planned' } }, { from: 2 });
  });
});

describe('summaries', () => {
  test('appear below their columns, and follow the filter', async ({ visit, api }) => {
    const demo = await ProjectPage.open(await visit(), 'demo', 'columns=num:72!,name:320!,cost:160,due:160');
    for (const [column, name] of [
      ['Cost', 'Sum'],
      ['Due', 'Empty'],
    ] as const) {
      await (await demo.footer(column)).click();
      await demo.page.getByRole('menu', { name: `Summary of ${column}` }).getByRole('menuitemcheckbox', { name }).click();
    }
    const said = async () => [await (await demo.footer('Cost')).innerText(), await (await demo.footer('Due')).innerText()].map((text) => text.replace(/\s+/, ' '));
    const truth = async (filter: Filter | null) => {
      const fields = [
        { field: 'cost', functions: ['sum' as const] },
        { field: 'due', functions: ['empty' as const] },
      ];
      const { body } = await api.call('POST', '/v1/projects/{project}/summary', { path: { project: 'demo' }, body: { fields, filter } });
      const [cost, due] = body.summaries;
      const shown = (value: unknown) => Number(value).toLocaleString('en-US', { maximumFractionDigits: 20 });
      return [`Sum ${shown(cost?.sum)}`, `Empty ${shown(due?.empty)}`];
    };
    await expect.poll(said).toEqual(await truth(null));
    await demo.columnMenu('Name', 'Filter by this');
    const panel = demo.panel('Filter');
    await panel.getByLabel('Field', { exact: true }).selectOption('State');
    await panel.getByLabel('Operator').selectOption('is');
    await panel.getByLabel('Value', { exact: true }).selectOption('done');
    await panel.getByRole('button', { name: 'Apply' }).click();
    await expect.poll(said).toEqual(await truth({ field: 'state', op: 'eq', value: 'done' }));
  });
});

describe('the status line', () => {
  test('shows the lag of the index, and no changes that the rows already show', async ({ visit }) => {
    const visited = await visit();
    const { page } = visited;
    await page.route('**/grid', async (route) => {
      const response = await route.fetch();
      const { index, ...body } = (await response.json()) as { readonly index: object };
      await route.fulfill({ response, json: { ...body, index: { ...index, lag_ms: 59_000, pending: 4 } } });
    });
    await ProjectPage.open(visited, 'demo');
    await page.getByText('Index lag: 59 sec', { exact: true }).waitFor();
  });
});

describe('the address', () => {
  test('lets the back button return to each view', async ({ visit, api }) => {
    const demo = await ProjectPage.open(await visit(), 'demo');
    await demo.head('Priority').click();
    await showsWhatTheApiHas(demo, api, { sort: [by('priority')] });
    await demo.head('Due').click({ modifiers: ['Shift'] });
    await showsWhatTheApiHas(demo, api, { sort: [by('priority'), by('due')] });
    await demo.columnMenu('State', 'Group by this');
    await demo.group('State: reported, 467 issues').waitFor();
    await demo.page.goBack();
    await showsWhatTheApiHas(demo, api, { sort: [by('priority'), by('due')] });
    await demo.page.goBack();
    await showsWhatTheApiHas(demo, api, { sort: [by('priority')] });
    await demo.page.goBack();
    await showsWhatTheApiHas(demo, api, {});
    await demo.page.goForward();
    await showsWhatTheApiHas(demo, api, { sort: [by('priority')] });
  });
});
