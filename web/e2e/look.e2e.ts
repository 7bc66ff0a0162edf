import { describe, expect } from 'vitest';
import type { Api } from '../src/api/client';
import type { Filter, SortKey } from '../src/api/types';
import { findings } from './accessibility';
import { ProjectPage } from './project-page';
import { countOf, makeProject, PARTS } from './projects';
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

  test('are sorted by the arrow of a header, reversed by a second click, and unsorted after a third', async ({ visit, api }) => {
    const demo = await ProjectPage.open(await visit(), 'demo');
    for (const [direction, sort] of [
      ['ascending', [by('priority')]],
      ['descending', [by('priority', 'desc')]],
      ['none', []],
    ] as const) {
      await demo.sort('Priority');
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
    await demo.page.getByRole('button', { name: 'Clear filter' }).click();
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

/** Parts of three kinds. Beams are few and heavy. */
const weighed = (api: Api): Promise<string> =>
  makeProject(api, {
    name: 'Weighed',
    fields: [...PARTS, { id: 'seen', name: 'Seen', type: 'datetime' }],
    issues: Array.from({ length: 60 }, (_, at) => ({
      name: `Part ${at}`,
      fields: {
        kind: at < 10 ? 'beam' : at < 35 ? 'bolt' : 'plate',
        weight: at < 10 ? 1000 - at : at < 35 ? -at : at + 0.5,
        due: `2024-0${1 + (at % 9)}-15`,
        seen: `2024-05-0${1 + (at % 3)}T12:00:00Z`,
      },
    })),
  });

describe('groups of numbers', () => {
  const heads = (project: ProjectPage) => project.grid.locator('.group-toggle').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));

  test('are ranges of an entered width, closed one by one', async ({ visit, api }) => {
    const project = await ProjectPage.open(await visit(), await weighed(api), 'columns=name:200,weight:120');
    const panel = await project.open('Group');
    await panel.getByRole('button', { name: 'Add a field' }).click();
    await panel.getByLabel('Field', { exact: true }).selectOption('Weight');
    const width = panel.getByLabel('Width of the ranges');
    for (const wrong of ['0', '-5', 'wide']) {
      await width.fill(wrong);
      await project.page.keyboard.press('Enter');
      await panel.getByText('Not a width. Enter a number above 0, such as 50.').waitFor();
      expect(await width.getAttribute('aria-invalid')).toBe('true');
    }
    expect(await findings(project.page)).toEqual([]);
    expect(project.view.get('group')).toBe('weight');
    await width.fill('500');
    await project.page.keyboard.press('Enter');
    await expect.poll(() => project.view.get('group')).toBe('weight.w500');
    expect(await panel.getByText('Not a width.').count()).toBe(0);
    await project.page.keyboard.press('Escape');
    await expect.poll(() => heads(project)).toEqual(['Weight: -500 – 0, 25 issues', 'Weight: 0 – 500, 25 issues']);
    await project.group('Weight: -500 – 0, 25 issues').click();
    await project.group('Weight: 0 – 500, 25 issues').click();
    const all = ['Weight: -500 – 0, 25 issues', 'Weight: 0 – 500, 25 issues', 'Weight: 500 – 1,000, 9 issues', 'Weight: 1,000 – 1,500, 1 issue'];
    await expect.poll(() => heads(project)).toEqual(all);
    expect(project.view.get('closed')).toBe('-500~0,0~500');
    await project.page.reload();
    await expect.poll(() => heads(project)).toEqual(all);
  });

  test('between the bounds of a saved view keep them when it is edited', async ({ visit, api }) => {
    const id = await weighed(api);
    const groups = [{ field: 'weight', bins: [0, 50, 999] }];
    await api.call('POST', '/v1/projects/{project}/views', { path: { project: id }, body: { name: 'Bounds', visibility: 'shared', groups } });
    const project = await ProjectPage.open(await visit(), id, 'view=v1&closed=~0,0~50,50~999,999~');
    await expect.poll(() => heads(project)).toEqual(['Weight: < 0, 25 issues', 'Weight: 0 – 50, 15 issues', 'Weight: 50 – 999, 18 issues', 'Weight: ≥ 999, 2 issues']);
    await project.columnMenu('Weight', 'Sort ascending');
    await expect.poll(() => project.view.get('group')).toBe('weight.b0_50_999');
    await expect.poll(async () => (await heads(project))[0]).toBe('Weight: < 0, 25 issues');
    const panel = await project.open('Group');
    await panel.getByLabel('Sort groups by').selectOption('Number of issues');
    await project.page.keyboard.press('Escape');
    await project.page.getByRole('button', { name: 'Save changes' }).click();
    await expect.poll(() => project.view.has('edited')).toBe(false);
    const { body } = await api.call('GET', '/v1/projects/{project}/views/{view}', { path: { project: id, view: 'v1' } });
    expect(body).toMatchObject({ groups, group_order: { field: null, function: 'count', direction: 'desc' } });
  });
});

describe('the order of groups', () => {
  test('is by their number of issues or by a summary, in either direction', async ({ visit, api }) => {
    const project = await ProjectPage.open(await visit(), await weighed(api), 'group=kind&closed=beam,bolt,plate&footers=weight:sum');
    const order = async () => (await project.grid.locator('.group-toggle').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? ''))).map((label) => /: (\w+)/.exec(label)?.[1]).join(' ');
    await expect.poll(order).toBe('beam bolt plate');
    const panel = await project.open('Group');
    const by = panel.getByLabel('Sort groups by');
    await expect.poll(() => by.locator('option').allInnerTexts()).toEqual(['Their fields', 'Number of issues', 'Sum of Weight']);
    await by.selectOption('Number of issues');
    await expect.poll(order).toBe('bolt plate beam');
    expect(project.view.get('grouporder')).toBe('-count');
    await by.selectOption('Sum of Weight');
    await expect.poll(order).toBe('beam plate bolt');
    await panel.getByLabel('Direction').selectOption('Ascending');
    await expect.poll(order).toBe('bolt plate beam');
    expect(project.view.get('grouporder')).toBe('sum.weight');
    await expect.poll(async () => (await project.figures('Kind: plate, 25 issues', 'Weight')).innerText()).toMatch(/Sum\s+1,187\.5/);
    expect(await findings(project.page)).toEqual([]);
    await by.selectOption('Their fields');
    await expect.poll(order).toBe('beam bolt plate');
    expect(project.view.has('grouporder')).toBe(false);
  });

  test('follows a change of another user', async ({ visit, api }) => {
    const id = await weighed(api);
    const project = await ProjectPage.open(await visit(), id, 'group=kind&closed=beam,bolt,plate&grouporder=-max.weight');
    const first = () => project.grid.locator('.group-toggle').first().getAttribute('aria-label');
    await expect.poll(first).toBe('Kind: beam, 10 issues');
    await expect.poll(async () => (await project.figures('Kind: beam, 10 issues', 'Weight')).innerText()).toMatch(/Max\s+1,000/);
    const path = { project: id, num: 60 };
    const { headers } = await api.call('GET', '/v1/projects/{project}/issues/{num}', { path });
    await api.call('PATCH', '/v1/projects/{project}/issues/{num}', { path, body: { fields: { weight: 5000 } }, headers: { 'If-Match': headers.get('ETag') ?? '' } });
    await expect.poll(first).toBe('Kind: plate, 25 issues');
  });
});

describe('the histogram in the menu of a column', () => {
  const menu = (project: ProjectPage, column: string) => project.page.getByRole('menu', { name: `${column} menu` });
  const bars = (project: ProjectPage, column: string) => menu(project, column).getByRole('group', { name: `Distribution of ${column}` }).getByRole('menuitem');
  const names = (project: ProjectPage, column: string) => bars(project, column).evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
  const open = async (project: ProjectPage, column: string) => {
    await project.openColumnMenu(column);
  };

  test('filters by a bar that is clicked, beside the filter and the search, and moves no entry when it loads', async ({ visit, api }) => {
    const visited = await visit();
    const project = await ProjectPage.open(visited, await weighed(api), 'search=Part&filter={"field":"kind","op":"ne","value":"bolt"}');
    let answer: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    await visited.page.route('**/summary', async (route) => {
      await held;
      await route.continue();
    });
    await open(project, 'Weight');
    await menu(project, 'Weight').getByText('Loading …').waitFor();
    const places = () => menu(project, 'Weight').locator('.menu-entry').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
    const before = await places();
    answer();
    await expect.poll(() => names(project, 'Weight')).toEqual(['0 – 100: 25 issues', '900 – 1,000: 9 issues', '1,000 – 1,100: 1 issue']);
    expect(await places()).toEqual(before);
    await menu(project, 'Weight').getByText('35.5 – 1,000').waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await visited.page.emulateMedia({ colorScheme });
      expect(await findings(visited.page)).toEqual([]);
    }
    await bars(project, 'Weight').first().hover();
    await menu(project, 'Weight').getByText('0 – 100: 25 issues').waitFor();
    await bars(project, 'Weight').first().click();
    await project.counts('25 of 60 issues');
    expect(project.view.has('search')).toBe(false);
    expect(JSON.parse(project.view.get('filter') ?? '')).toEqual({
      and: [
        { field: 'kind', op: 'ne', value: 'bolt' },
        { field: 'name', op: 'contains', value: 'Part' },
        { field: 'weight', op: 'gte', value: 0 },
        { field: 'weight', op: 'lt', value: 100 },
      ],
    });
    await visited.page.goBack();
    await project.counts('35 of 60 issues');
  });

  test('is reached by keys, and has periods of dates and times', async ({ visit, api }) => {
    const project = await ProjectPage.open(await visit(), await weighed(api), 'columns=name:200,due:140,seen:200');
    const { keyboard } = project.page;
    await (await project.cell(0, 'Due')).click();
    await keyboard.press('Alt+ArrowDown');
    await expect.poll(async () => (await names(project, 'Due')).slice(0, 2)).toEqual(['January 2024: 7 issues', 'February 2024: 7 issues']);
    await project.page.getByText('9 bars at the end of the menu. Choose one to filter by it.').waitFor({ state: 'attached' });
    const focused = () => project.page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent);
    await keyboard.press('ArrowUp');
    expect(await focused()).toBe('September 2024: 6 issues');
    await menu(project, 'Due').getByText('September 2024: 6 issues').waitFor();
    await keyboard.press('ArrowLeft');
    await keyboard.press('ArrowLeft');
    await keyboard.press('ArrowRight');
    expect(await focused()).toBe('August 2024: 6 issues');
    await keyboard.press('Enter');
    await project.counts('6 of 60 issues');
    // The count may come before the rows.
    await expect.poll(() => project.column('Due')).toEqual(Array(6).fill('Aug 15, 2024'));
    await open(project, 'Seen');
    await expect.poll(() => names(project, 'Seen')).toEqual(['May 2, 2024: 6 issues']);
  });

  test('says that there are no values, or why there are no bars', async ({ visit, api }) => {
    const visited = await visit();
    const id = await makeProject(api, { name: 'Blank', fields: PARTS, issues: [{ name: 'Girder' }] });
    const project = await ProjectPage.open(visited, id);
    await open(project, 'Weight');
    await menu(project, 'Weight').getByText('No values.', { exact: true }).waitFor();
    expect(await findings(visited.page)).toEqual([]);
    await project.page.keyboard.press('Escape');
    await visited.page.route('**/summary', (route) => route.fulfill({ status: 422, json: { title: 'Too expensive', detail: 'Use a more selective filter.' } }));
    await open(project, 'Weight');
    await menu(project, 'Weight').getByText('Use a more selective filter.').waitFor();
    await project.page.keyboard.press('Escape');
    await open(project, 'Kind');
    await menu(project, 'Kind').waitFor();
    expect(await menu(project, 'Kind').getByRole('group', { name: 'Distribution of Kind' }).count()).toBe(0);
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
    await demo.sort('Priority');
    await showsWhatTheApiHas(demo, api, { sort: [by('priority')] });
    await demo.sort('Due', { add: true });
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
