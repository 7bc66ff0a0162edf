/**
 * Filters with “today” and “me”. The clock of the stack is not fixed: due dates are far from today, and rows are compared
 * with the API's own answer. The clock of the page is Playwright's where midnight comes.
 */
import type { Locator, Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Api } from '../src/api/client';
import type { Filter } from '../src/api/types';
import { findings } from './accessibility';
import { ProjectPage } from './project-page';
import { makeProject, PARTS, valuesOf } from './projects';
import { ADMIN } from './stack';
import { test } from './test';
import { showsWhatTheApiHas } from './truth';
import { beyond, inEachWindow, scrolling, SOME_WINDOWS } from './window';

const BOB = { ...ADMIN, user: 'bob', role: 'editor' } as const;

const OVERDUE: Filter = { field: 'due', op: 'lt', value: { today: 0, timezone: 'UTC' } };
const MINE: Filter = { field: 'owner', op: 'eq', value: { me: true } };

/** Due long ago, never, and in a far future; by two owners. */
const bridge = (api: Api): Promise<string> =>
  makeProject(api, {
    name: 'Relative',
    fields: [...PARTS, { id: 'owner', name: 'Owner', type: 'user' }, { id: 'seen', name: 'Seen', type: 'datetime' }],
    issues: [
      { name: 'Late of ada', fields: { due: '2020-01-15', owner: 'ada' } },
      { name: 'Later of bob', fields: { due: '2020-02-15', owner: 'bob' } },
      { name: 'Latest of ada', fields: { due: '2020-03-15', owner: 'ada' } },
      { name: 'Far', fields: { due: '2999-01-01', owner: 'ada' } },
      { name: 'Never', fields: { owner: 'bob' } },
    ],
  });

async function isAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await findings(page)).toEqual([]);
  }
}

/** Columns that are all in view. */
const COLUMNS = 'columns=num:64,name:200,due:140,owner:140,seen:160,created:160';

const filterOf = (project: ProjectPage): unknown => JSON.parse(project.view.get('filter') ?? 'null');
const kind = (panel: Locator) => panel.getByLabel('Value: exact or relative');
/** The address of a filter. */
const at = (filter: Filter) => `filter=${encodeURIComponent(JSON.stringify(filter))}`;

describe('a filter relative to today and to its reader', () => {
  test('is made by keys, is in the address and in saved views as it was made, and is each reader’s own', async ({ visit, api, stack }) => {
    const id = await bridge(api);
    const { page } = await visit();
    const project = await ProjectPage.open({ page }, id, COLUMNS);
    await project.columnMenu('Due', 'Filter by this');
    const panel = project.panel('Filter');
    await expect.poll(() => kind(panel).locator('option').allInnerTexts()).toEqual([
      'exactly …',
      'today',
      'yesterday',
      'tomorrow',
      'in the last 7 days',
      'in the next 7 days',
      'this week',
      'this month',
      'this quarter',
      'overdue (before today)',
    ]);
    await isAccessible(page);
    // A select takes the first letters of an entry.
    await kind(panel).focus();
    await page.keyboard.type('over');
    await expect.poll(() => panel.getByLabel('Operator').inputValue()).toBe('lt');
    await expect.poll(() => kind(panel).locator('option:checked').innerText()).toBe('today');
    await page.keyboard.press('Tab');
    await panel.getByRole('button', { name: 'Apply' }).press('Enter');
    await expect.poll(() => filterOf(project)).toEqual(OVERDUE);
    await expect.poll(() => project.column('Name')).toEqual(['Late of ada', 'Later of bob', 'Latest of ada']);
    await expect.poll(() => project.tool('Filter').getAttribute('title')).toBe('Due comes before today');

    await project.columnMenu('Owner', 'Filter by this');
    await kind(panel).nth(1).selectOption('me');
    expect(await inEachWindow(page, SOME_WINDOWS, async () => [...(await scrolling(page)), ...(await beyond(panel))])).toEqual([]);
    await isAccessible(page);
    await panel.getByRole('button', { name: 'Apply' }).click();
    const filter: Filter = { and: [OVERDUE, MINE] };
    await expect.poll(() => filterOf(project)).toEqual(filter);
    await showsWhatTheApiHas(project, api, { filter });
    expect(await project.column('Name')).toEqual(['Late of ada', 'Latest of ada']);

    await page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: 'Save as view' }).click();
    const saving = page.getByRole('dialog', { name: 'Save as view' });
    await saving.getByLabel('View name').fill('Overdue, mine');
    await saving.getByLabel('Everyone', { exact: true }).check();
    await saving.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => project.view.get('view')).toBe('v1');
    const { body } = await api.call('GET', '/v1/projects/{project}/views/{view}', { path: { project: id, view: 'v1' } });
    expect(body.query.filter).toEqual(filter);

    const theirs = await ProjectPage.open(await visit(BOB), id, 'view=v1');
    expect(await theirs.column('Name')).toEqual(['Later of bob']);
    await showsWhatTheApiHas(theirs, await stack.api(BOB), { filter });
    // Nothing of it changes when it is applied again.
    await theirs.open('Filter');
    await theirs.panel('Filter').getByRole('button', { name: 'Apply' }).click();
    await theirs.rows();
    expect(theirs.view.toString()).toBe('view=v1');

    // A bar adds only its own condition.
    await project.openColumnMenu('Due');
    await page.getByRole('menuitem', { name: /^March 2020: 1 issue/ }).click();
    const march: Filter = { field: 'due', op: 'between', value: ['2020-03-01', '2020-03-31'] };
    await expect.poll(() => filterOf(project)).toEqual({ and: [OVERDUE, MINE, march] });
    await expect.poll(() => project.column('Name')).toEqual(['Latest of ada']);

    // A row that no longer belongs stays until it is left.
    await project.page.goto(`/projects/${id}?view=v1`);
    await project.rows();
    await (await project.cell(0, 'Owner')).click();
    await page.keyboard.type('bob');
    await page.keyboard.press('Enter');
    await page.getByText('1 row will move when you leave them').waitFor();
    await expect.poll(() => valuesOf(api, id, 1)).toMatchObject({ owner: 'bob' });
    await (await project.cell(1, 'Name')).click();
    await expect.poll(() => project.column('Name')).toEqual(['Latest of ada']);
  });

  test('has periods of dates and of times, also from links of another time zone, and keeps what it has no inputs for', async ({ visit, api }) => {
    const id = await bridge(api);
    const { page } = await visit();
    const project = await ProjectPage.open({ page }, id, COLUMNS);
    await api.call('PATCH', '/v1/projects/{project}/issues/{num}', { path: { project: id, num: 5 }, body: { fields: { seen: new Date().toISOString() } } });
    await project.columnMenu('Created', 'Filter by this');
    const panel = project.panel('Filter');
    await panel.getByLabel('Operator').selectOption('is');
    await kind(panel).selectOption('in the last 7 days');
    await panel.getByRole('button', { name: 'Apply' }).click();
    const week: Filter = { and: [{ field: 'created', op: 'gte', value: { today: -6, timezone: 'UTC' } }, { field: 'created', op: 'lt', value: { today: 1, timezone: 'UTC' } }] };
    await expect.poll(() => filterOf(project)).toEqual(week);
    await showsWhatTheApiHas(project, api, { filter: week });
    expect(await project.column('Name')).toHaveLength(5);
    await expect.poll(() => project.tool('Filter').textContent()).toMatch(/1$/);

    const tokyo: Filter = { and: [{ field: 'seen', op: 'gte', value: { today: -1, timezone: 'Asia/Tokyo' } }, { field: 'owner', op: 'in', value: ['bob', { me: true }] }, { field: 'due', op: 'not_in', value: [{ today: 0 }] }] };
    const other = await ProjectPage.open({ page }, id, `${COLUMNS}&${at(tokyo)}`);
    await showsWhatTheApiHas(other, api, { filter: tokyo });
    expect(await other.column('Name')).toEqual(['Never']);
    await other.open('Filter');
    expect(await kind(panel).locator('option:checked').innerText()).toBe('yesterday (Asia/Tokyo)');
    expect(await panel.getByLabel('me', { exact: true }).isChecked()).toBe(true);
    await panel.getByText('Due is none of today').waitFor();
    await isAccessible(page);
    await panel.getByRole('button', { name: 'Apply' }).click();
    await other.rows();
    expect(filterOf(other)).toEqual(tokyo);

    // It is named wherever the filter counts.
    const text = 'Filter: Seen comes after or is yesterday (Asia/Tokyo) and Owner is one of bob, me and Due is none of today.';
    await other.more('Export as CSV');
    await page.getByRole('dialog', { name: 'Export as CSV' }).getByText(text).waitFor();
    await page.keyboard.press('Escape');
    await other.more('Query plan and cost');
    await page.getByRole('complementary').getByText(text).waitFor();
    await page.getByRole('complementary').getByText(/^The operand \{"me":true\} of owner is ada\.$/).waitFor();
    await page.keyboard.press('Escape');
    await other.more('Change all 1 matching');
    await page.getByRole('complementary').getByText(`${text} The job keeps “today” and “me” as of its start.`).waitFor();
  });

  test('is the demo’s view “Overdue, mine”', async ({ visit, stack }) => {
    const user = { ...ADMIN, user: 'a.macleod', role: 'viewer' } as const;
    const { page } = await visit(user, { width: 360, height: 740 });
    const demo = await ProjectPage.open({ page }, 'demo');
    await page.getByRole('button', { name: 'Views and projects' }).click();
    await page.getByRole('link', { name: /^Overdue, mine/ }).click();
    await expect.poll(() => demo.view.toString()).toBe('view=v1');
    await page.getByRole('button', { name: 'Views and projects' }).click();
    const filter: Filter = {
      and: [
        { field: 'due', op: 'lt', value: { today: 0 } },
        { field: 'assignee', op: 'eq', value: { me: true } },
        { field: 'state', op: 'not_in', value: ['done', 'rejected'] },
      ],
    };
    const rows = await showsWhatTheApiHas(demo, await stack.api(user), { filter, sort: [{ field: 'due', direction: 'asc', nulls: 'last' }] });
    expect(rows.length).toBeGreaterThan(5);
  });

  test('cannot be followed by a webhook if it has “me”', async ({ visit, api }) => {
    const id = await bridge(api);
    const path = { project: id };
    for (const [name, filter] of [['Mine', MINE], ['Overdue', OVERDUE]] as const) {
      await api.call('POST', '/v1/projects/{project}/views', { path, body: { name, visibility: 'shared', query: { filter } } });
    }
    const { page } = await visit();
    const project = await ProjectPage.open({ page }, id);
    await project.more('Webhooks');
    const choices = page.getByRole('dialog', { name: 'Webhooks' }).getByLabel('Issues');
    await choices.locator('option').nth(2).waitFor({ state: 'attached' });
    expect(await choices.locator('option').evaluateAll((all) => all.map((one) => [one.textContent, (one as HTMLOptionElement).disabled]))).toEqual([
      ['All issues', false],
      ['Mine (uses “me”)', true],
      ['Overdue', false],
    ]);
    await isAccessible(page);
  });

  test('is read again at midnight of its time zone', async ({ visit, api }) => {
    const id = await bridge(api);
    const { page } = await visit();
    await page.clock.install({ time: '2030-05-01T21:59:00Z' });
    const filter: Filter = { field: 'due', op: 'lt', value: { today: 0, timezone: 'Europe/Berlin' } };
    const project = await ProjectPage.open({ page }, id, at(filter));
    await project.counts('3 of 5 issues');
    let asked = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/grid') && request.postData()?.includes('Europe/Berlin')) asked += 1;
    });
    await page.clock.fastForward('00:30');
    const before = asked;
    expect(before).toBe(0);
    await page.clock.fastForward('00:45');
    await expect.poll(() => asked).toBeGreaterThan(0);
    await showsWhatTheApiHas(project, api, { filter });
  });
});
