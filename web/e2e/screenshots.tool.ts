/** Writes the main states of the page as images; `./dev screenshots` calls it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, inject } from 'vitest';
import type { Filter } from '../src/api/types';
import type { Look, Visit } from './browser';
import { BoardPage } from './board-page';
import { boxOf } from './dragging';
import { ProjectPage } from './project-page';
import { ADMIN } from './stack';
import { test } from './test';

/** The quality of WebP: text stays sharp, and a wide page takes less than 100 KB. */
const QUALITY = 80;

const WIDE: Look = { width: 1280, height: 760 };
const TELEPHONE: Look = { width: 360, height: 720 };
const DARK = { scheme: 'dark' } as const;

/** A view that uses most features. */
const COLUMNS = 'columns=num:64!,name:206!,state:104,priority:96,due:108,days_late:136,cost:112,hourly:146';
const VIEW = `sort=-days_late&color=priority&footers=cost:sum,due:max,days_late:max,hourly:avg&${COLUMNS}`;
const GROUPS = 'group=state,priority&footers=severity:avg&columns=num:64!,name:310!,severity:150,state:118,priority:110,due:130,assignee:124';

const OVERDUE: Filter = {
  and: [
    { field: 'due', op: 'lt', value: { today: 0, timezone: 'UTC' } },
    { field: 'state', op: 'not_in', value: ['done', 'rejected'] },
  ],
};

type Begin = (user?: typeof ADMIN, look?: Look) => Promise<Visit>;

test('the grid', async ({ visit }) => {
  await demo(visit, WIDE, VIEW).then(shoot('grid'));
  await demo(visit, { ...WIDE, ...DARK }, VIEW).then(shoot('grid-dark'));
  await demo(visit, TELEPHONE, VIEW).then(shoot('telephone'));
});

test('groups', async ({ visit }) => {
  for (const [look, name, sideways] of [
    [WIDE, 'groups', 0],
    [{ ...TELEPHONE, ...DARK }, 'telephone-groups-dark', 250],
  ] as const) {
    const shown = await demo(visit, look, GROUPS);
    // A telephone has no room for the column beside the name.
    await shown.scrollSideways(sideways);
    await (await shown.figures('State: reported, 467 issues', 'Severity')).getByText('Average').waitFor();
    await shoot(name)(shown);
  }
});

test('a board', async ({ visit }) => {
  const { page } = await demo(visit, WIDE);
  await page.getByRole('link', { name: /^Work by state/ }).click();
  const board = new BoardPage(page);
  await board.column('reported').getByText(/^Sum of Estimate/).waitFor();
  for (const name of ['reported', 'planned', 'in progress', 'on hold']) await board.list(name).locator('.card-name').first().waitFor();
  await shoot('board')({ page });
});

test('a formula is being edited', async ({ visit }) => {
  const shown = await demo(visit, WIDE, VIEW);
  await shown.columnMenu('Cost per hour', 'Edit field…');
  await shown.page.getByText('Result: Number').waitFor();
  await shoot('formula')(shown);
});

test('a filter', async ({ visit }) => {
  const shown = await ProjectPage.open(await visit(ADMIN, WIDE), inject('project'), `${VIEW}&filter=${encodeURIComponent(JSON.stringify(OVERDUE))}`);
  await hasFigures(shown);
  await shown.open('Filter');
  await shoot('filter')(shown);
});

test('what opens beside and above the grid', async ({ visit }) => {
  const shown = await demo(visit, WIDE, VIEW);
  await (await shown.cell(3, 'Name')).click();
  await shown.page.keyboard.press('Space');
  await shown.page.getByRole('complementary').getByText('Remarks').waitFor();
  await shoot('issue')(shown);
  await shown.page.keyboard.press('Escape');
  await shown.more('Project settings');
  await shown.page.getByText('Composite indexes').waitFor();
  await shoot('settings')(shown);
});

test('how a page was made', async ({ visit }) => {
  const shown = await demo(visit, { ...WIDE, ...DARK }, VIEW);
  await shown.more('Query plan and cost');
  await shown.page.getByRole('heading', { name: 'Plan', exact: true }).waitFor();
  await shoot('explain-dark')(shown);
});

test('an import', async ({ visit }) => {
  const shown = await demo(visit, WIDE);
  await shown.more('Import CSV');
  const rows = ['Name,Priority,Due,Estimate (h),Ticket', 'Bolt missing at bay 7,High,2024-11-02,4,1041', 'Gully blocked,Low,2024-11-09,1.5,1042'];
  await shown.page.getByLabel(/Choose a CSV file/).setInputFiles({ name: 'walkover.csv', mimeType: 'text/csv', buffer: Buffer.from(rows.join('\n')) });
  await shown.page.getByText('First rows').or(shown.page.getByRole('region', { name: 'First rows' })).first().waitFor();
  await shoot('import')(shown);
});

test('nothing passes', async ({ visit }) => {
  const { page } = await visit(ADMIN, { ...TELEPHONE });
  await page.goto(`/projects/${inject('project')}?search=unheard`);
  await page.getByText('No issues match the filter').waitFor();
  await shoot('empty')({ page });
});

test('rows are dragged in a manual order', async ({ visit, api }) => {
  const project = inject('project');
  const fields = [['name', 310], ['state', 124], ['priority', 110], ['due', 130], ['assignee', 124], ['estimate', 130]] as const;
  const columns = fields.map(([field, width]) => ({ field, width, frozen: field === 'name' }));
  const { body: view } = await api.call('POST', '/v1/projects/{project}/views', {
    path: { project },
    body: { name: 'Plan', visibility: 'shared', columns, color_by: 'priority' },
  });
  const path = { project, view: view.id };
  try {
    await api.call('PATCH', '/v1/projects/{project}/views/{view}', { path, body: { query: { sort: [{ manual: view.id }], filter: null } } });
    await expect.poll(async () => (await api.call('GET', '/v1/projects/{project}/views/{view}', { path })).body.manual_order, { timeout: 60_000 }).toBe('ready');
    const shown = await demo(visit, WIDE, `view=${view.id}`);
    const { mouse, keyboard } = shown.page;
    await (await shown.cell(9, 'Name')).click();
    await keyboard.press('Shift+ArrowDown');
    const [from, to] = [await boxOf(shown.gutter(9)), await boxOf(shown.gutter(3))];
    await mouse.move(from.x + 4, from.y + from.height / 2);
    await mouse.down();
    await mouse.move(to.x + 260, to.y + 3, { steps: 6 });
    await shown.page.locator('.drop-line').waitFor();
    await write('manual', shown.page);
    await mouse.up();
    await shown.page.locator('.outcome').getByText('Moved 2 rows to row 4.').waitFor();
  } finally {
    await api.call('DELETE', '/v1/projects/{project}/views/{view}', { path });
  }
});

async function demo(visit: Begin, look: Look, view = ''): Promise<ProjectPage> {
  const shown = await ProjectPage.open(await visit(ADMIN, look), inject('project'), view);
  await shown.counts('2,000 issues');
  await hasFigures(shown);
  return shown;
}

/** A footer shows an ellipsis until its summary is there. */
async function hasFigures({ page }: ProjectPage): Promise<void> {
  await page.waitForFunction(() => document.querySelector('[role="grid"]')?.textContent.includes('…') === false);
}

function shoot(name: string): (shown: { readonly page: Page }) => Promise<void> {
  return async ({ page }) => {
    await page.mouse.move(0, 0);
    await write(name, page);
  };
}

/** Chromium writes WebP itself, but playwright does not ask it to. */
async function write(name: string, page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  await writeFile(join(inject('output'), `${name}.webp`), Buffer.from(data, 'base64'));
}
