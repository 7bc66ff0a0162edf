/** The panels of the toolbar, and those beside the grid. */
import type { Filter } from '../../src/api/types';
import type { ProjectPage } from '../project-page';
import { GROUPS, RULES, TYPED } from './states-on-grid';
import { issue, onGrid, type, type State } from './state';

const FILTER: Filter = {
  and: [
    { field: 'due', op: 'lt', value: { today: 0, timezone: 'UTC' } },
    { or: [{ field: 'owner', op: 'eq', value: { me: true } }, { field: 'kind', op: 'in', value: ['beam', 'bolt'] }] },
    { field: 'name', op: 'contains', value: 'Part' },
  ],
};
const FILTERED = `filter=${encodeURIComponent(JSON.stringify(FILTER))}`;

const panel = (name: string, tool: string, view = '') => onGrid(name, view, async (project) => (await project.open(tool)).waitFor());

const bulk = async (project: ProjectPage, kind: string) => {
  await project.more('Change all 59 issues');
  const drawer = project.page.getByRole('complementary');
  await drawer.getByLabel(kind).check();
  return drawer;
};

export const BESIDE: readonly State[] = [
  panel('the panel Fields', 'Fields'),
  panel('the panel Filter, empty', 'Filter'),
  panel('the panel Filter, with a filter', 'Filter', FILTERED),
  panel('the panel Group, empty', 'Group'),
  panel('the panel Group, with groups', 'Group', GROUPS),
  panel('the panel Group, with ranges', 'Group', 'group=weight.w500,due.month'),
  panel('the panel Sort, empty', 'Sort'),
  panel('the panel Sort, with keys', 'Sort', 'sort=-weight,due,name'),
  panel('the panel Sort, with the offer of a manual order', 'Sort', 'view=v3'),
  panel('the panel Sort, of a manual order', 'Sort', 'view=v1'),
  panel('the panel Color, empty', 'Color'),
  panel('the panel Color, with rules', 'Color', RULES),
  onGrid('a color rule', RULES, async (project) => {
    const color = await project.open('Color');
    await color.getByRole('button', { name: 'Add a rule' }).click();
    await color.getByRole('form', { name: 'Rule 3' }).waitFor();
  }),
  panel('the panel Row height', 'Row height'),
  panel('the menu More', 'More'),
  onGrid('the panel of an issue', '', (project) => issue(project)),
  onGrid('the end of the panel of an issue, with comments', '', async (project) => {
    const one = await issue(project);
    await one.getByText('Is this rust?').scrollIntoViewIfNeeded();
  }),
  onGrid('a text with a format in the panel of an issue', '', async (project) => {
    const one = await issue(project);
    await one.getByText('rust at').first().scrollIntoViewIfNeeded();
  }),
  onGrid('the history of an issue', '', async (project) => {
    const one = await issue(project);
    await one.getByText('History', { exact: true }).click();
    await one.getByText('created the issue').scrollIntoViewIfNeeded();
  }),
  onGrid('a field in the panel of an issue', '', async (project) => {
    const one = await issue(project);
    await one.getByRole('button', { name: /^Weight / }).click();
    await one.locator('.editor:focus').waitFor();
  }),
  onGrid('a mention', '', async (project) => {
    const one = await issue(project);
    await one.getByLabel('New comment').pressSequentially('Look, @');
    await project.page.getByRole('button', { name: /^Mention/ }).first().waitFor();
  }),
  onGrid('an edited comment', '', async (project) => {
    const one = await issue(project);
    await one.getByRole('button', { name: 'Edit the comment by' }).first().click();
    await one.getByLabel('Comment text').waitFor();
  }),
  onGrid('refused cells', TYPED, async (project) => {
    await type(project, 1, 'Weight', 'heavy');
    await (await project.cell(0, 'Name')).click();
    await project.page.getByRole('button', { name: '1 cell was refused' }).click();
    await project.page.getByRole('complementary', { name: 'Refused cells' }).getByText('heavy: Not a number.').waitFor();
  }),
  onGrid('the query plan and its cost', FILTERED, async (project) => {
    await project.more('Query plan and cost');
    await project.page.getByRole('heading', { name: 'Plan', exact: true }).waitFor();
  }),
  onGrid('a value for all issues', '', async (project) => {
    const drawer = await bulk(project, 'Set a value');
    await drawer.getByLabel('Field').selectOption('Kind');
  }),
  onGrid('replaced texts, with a preview', '', async (project) => {
    const drawer = await bulk(project, 'Replace text');
    await drawer.getByLabel('Find').fill('Part');
    await drawer.getByLabel('Replace with').fill('Component');
    await drawer.getByRole('button', { name: 'Preview' }).click();
    await drawer.getByText(/issues? would change\./).first().waitFor();
  }),
  onGrid('copied values, with a preview', '', async (project) => {
    const drawer = await bulk(project, 'Copy values');
    await drawer.getByLabel('Copy from').selectOption('Note');
    await drawer.getByLabel('Copy to').selectOption('Weight (Number)');
    await drawer.getByRole('button', { name: 'Preview' }).click();
    await drawer.getByText(/would be refused\./).first().waitFor();
    await drawer.locator('summary').click();
  }),
];
