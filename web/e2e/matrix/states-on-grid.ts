/** The grid, with its groups, cells, menus and editors. */
import type { Filter } from '../../src/api/types';
import { expect } from 'vitest';
import { boxOf } from '../dragging';
import type { ProjectPage } from '../project-page';
import { changed, EDITOR } from './places';
import { grid, onGrid, type, type State } from './state';

const HEAVY: Filter = { field: 'weight', op: 'gte', value: -400 };
const BEAM: Filter = { field: 'kind', op: 'eq', value: 'beam' };
const rule = (look: string, filter: Filter) => `rule=${look}:${encodeURIComponent(JSON.stringify(filter))}`;
export const RULES = [rule('red', HEAVY), rule('teal.due', BEAM)].join('&');
export const GROUPS = 'group=kind,state&footers=weight:sum,price:avg';

const COMPUTED = 'columns=num:56!,ratio:90,label:110,name:100,price:100';
const WORDS = 'columns=num:56!,name:100,tags:110,shape:100,remarks:100,site:110,seen:120,spent:90';

/** The columns that are typed into are in view in a narrow window. */
export const TYPED = 'columns=num:56!,weight:80,note:110,name:150';

const editor = (name: string, column: string, view = '') =>
  onGrid(`the editor of ${name}`, view, async (project) => {
    await (await project.cell(1, column)).dblclick({ position: { x: 6, y: 6 } });
    await project.page.locator('.editor:focus').waitFor();
  });

const head = (project: ProjectPage) => project.group('Kind: beam, 20 issues');

/** Check the second and the third issue. */
async function check(project: ProjectPage): Promise<void> {
  for (const row of [1, 2]) await project.gutter(row).getByRole('checkbox').click();
  await project.page.getByRole('group', { name: 'Checked issues' }).getByText('2 issues checked').waitFor();
}

async function choose(project: ProjectPage, from: [row: number, column: string], to: [row: number, column: string]): Promise<void> {
  await (await project.cell(...from)).click();
  await (await project.cell(...to)).click({ modifiers: ['Shift'] });
  await project.page.getByText(/cells selected/).first().waitFor({ state: 'attached' });
}

export const ON_GRID: readonly State[] = [
  { name: 'the grid', open: (opening) => grid(opening) },
  onGrid('the grid, with other types', WORDS, (project) => project.rows()),
  onGrid('tall rows, with other types', `${WORDS}&height=56`, (project) => project.rows()),
  onGrid('low rows, sorted', 'height=24&sort=-weight,name', (project) => project.rows()),
  onGrid('computed columns', COMPUTED, (project) => project.grid.getByRole('img', { name: 'No value: division by zero' }).waitFor()),
  onGrid('a computed cell that is not edited', COMPUTED, async (project) => {
    await (await project.cell(1, 'Ratio')).click();
    await project.page.keyboard.type('7');
    await project.page.getByRole('alert').getByText('A formula computes Ratio.').waitFor();
  }),
  onGrid('rows by color', 'color=kind&footers=weight:sum,price:avg,due:max', async (project) => expect.poll(async () => (await project.footer('Weight')).innerText()).not.toContain('…')),
  onGrid('rows by rules', RULES, (project) => project.grid.locator('.is-colored').first().waitFor()),
  onGrid('a row that is dragged in a manual order', 'view=v1', async (project) => {
    await project.rows();
    const [from, to] = [await boxOf(project.gutter(1)), await boxOf(project.gutter(4))];
    await project.page.mouse.move(from.x + 4, from.y + from.height / 2);
    await project.page.mouse.down();
    await project.page.mouse.move(to.x + 20, to.y + to.height - 4, { steps: 4 });
    await project.page.locator('.drop-line').waitFor();
  }),
  onGrid('groups', GROUPS, async (project) => {
    await head(project).waitFor();
    await project.rows();
  }),
  onGrid('heads of groups that stay at the top', GROUPS, async (project) => {
    await project.rows();
    await project.gutter(3).hover();
    await project.page.mouse.wheel(0, 200);
    await project.stickyHeads.first().waitFor();
  }),
  onGrid('groups of ranges', 'group=weight.w500', (project) => project.group('Weight: -500 – 0, 25 issues').or(project.grid.locator('.group-toggle').first()).first().waitFor()),
  onGrid('a group with the focus', GROUPS, async (project) => {
    await project.rows();
    await head(project).focus();
  }),
  onGrid('the menu of a group', GROUPS, async (project) => {
    await project.rows();
    await project.grid.locator('.group-toggle').first().click({ button: 'right' });
    await project.menu(/^Actions for the group/).waitFor();
  }),
  onGrid('the menu of a cell', '', async (project) => {
    await (await project.cell(2, 'Name')).click({ button: 'right' });
    await project.menu('Actions for the cell Name').waitFor();
  }),
  onGrid('the menu of a row', '', async (project) => {
    await project.gutter(2).click({ button: 'right' });
    await project.menu(/^Actions for issue/).waitFor();
  }),
  onGrid('the menu of a column, with its histogram', '', async (project) => {
    await project.openColumnMenu('Weight');
    await project.menu('Weight menu').getByRole('group', { name: 'Distribution of Weight' }).waitFor();
    await project.menu('Weight menu').getByText('Loading …').waitFor({ state: 'hidden' });
  }),
  onGrid('the menu of a summary', '', async (project) => {
    await (await project.footer('Weight')).click();
    await project.menu('Summary of Weight').waitFor();
  }),
  onGrid('a selected range', '', (project) => choose(project, [1, 'Name'], [4, 'Weight'])),
  onGrid('a selected column', 'columns=num:56!,weight:160,name:150', async (project) => {
    await project.head('Weight').click();
    await project.page.getByText('59 cells selected').first().waitFor({ state: 'attached' });
  }),
  onGrid('checked issues', '', check),
  editor('a text', 'Name'),
  editor('a number', 'Weight'),
  editor('an option', 'Kind'),
  editor('a date', 'Due', 'columns=num:56!,due:140,name:150'),
  editor('several options', 'Tags', WORDS),
  editor('a user', 'Owner', 'columns=num:56!,owner:140,name:150'),
  editor('a date with a time', 'Seen', 'columns=num:56!,seen:150,name:150'),
  editor('a text with a format', 'Remarks', 'columns=num:56!,remarks:150,name:150'),
  onGrid('a new row', '', async (project) => {
    await project.page.getByRole('button', { name: 'New row' }).click();
    await project.page.locator('.editor:focus').waitFor();
  }),
  onGrid('a refused cell', TYPED, async (project) => {
    await type(project, 1, 'Weight', 'heavy');
    await (await project.cell(1, 'Weight')).click();
    await project.page.getByRole('alert').getByText('Not a number.').waitFor();
  }),
  onGrid('edits that wait for the server', TYPED, async (project) => {
    await project.page.route('**/issues/**', (route) => route.abort('internetdisconnected'));
    await type(project, 1, 'Note', 'not sent');
    await project.page.getByText('1 change not sent.').waitFor();
  }),
  onGrid('a row that no longer fits', `sort=note&${TYPED}`, async (project) => {
    await type(project, 1, 'Note', 'zzz');
    await project.page.getByText('1 row will move when you leave them').first().waitFor({ state: 'attached' });
  }),
  onGrid('a copied range', '', async (project) => {
    await choose(project, [1, 'Name'], [2, 'Name']);
    await project.page.keyboard.press('Control+c');
    await project.page.getByText('Copied 2 rows.').first().waitFor({ state: 'attached' });
  }),
  onGrid('find', '', async (project) => {
    await project.more('Find in the rows');
    await project.page.keyboard.type('part 1');
    await project.page.getByRole('search', { name: 'Find in the rows' }).getByText(/\d+ issues/).first().waitFor();
  }),
  onGrid('find, without a match', '', async (project) => {
    await project.more('Find in the rows');
    await project.page.keyboard.type('unheard');
    await project.page.getByText('No matches').waitFor();
  }),
  onGrid('changed fields, while the user types', TYPED, async (project, { api, places }) => {
    await (await project.cell(1, 'Note')).click();
    await project.page.keyboard.type('half');
    const path = { project: places.full, attribute: 'plain' };
    await api.call('PATCH', '/v1/projects/{project}/attributes/{attribute}', { path, body: { description: `As of ${new Date().toISOString()}` } });
    await project.page.getByText('The fields of this project have changed.').waitFor();
  }),
  {
    name: 'a conflict',
    open: async (opening) => {
      const { page, api, places } = opening;
      // Without the changes of others, the page does not know of the other value.
      await page.route(/\/(changes|tickets)\b/, (route) => route.abort());
      const project = await grid(opening, TYPED);
      await changed(api, places.full, 5, { note: `theirs at ${new Date().toISOString()}` });
      await type(project, 4, 'Note', 'mine');
      await page.getByRole('dialog', { name: 'Someone else changed this' }).waitFor();
    },
  },
  { name: 'an editor’s grid', user: EDITOR, open: (opening) => grid(opening, GROUPS) },
];
