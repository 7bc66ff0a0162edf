import { describe, expect } from 'vitest';
import type { Api } from '../src/api/client';
import { findings } from './accessibility';
import { ProjectPage } from './project-page';
import { makeProject, PARTS } from './projects';
import { ADMIN } from './stack';
import { test } from './test';

const EDITOR = { ...ADMIN, user: 'edi', role: 'editor' } as const;
const VIEWER = { ...ADMIN, user: 'vic', role: 'viewer' } as const;

const bridge = (api: Api): Promise<string> =>
  makeProject(api, {
    name: 'Views',
    fields: [...PARTS, { id: 'plain', name: 'Plain', type: 'text', indexed: false }],
    issues: ['Girder', 'Rivet', 'Cable'].map((name, at) => ({ name, fields: { weight: 10 * (at + 1), kind: at === 1 ? 'bolt' : 'beam' } })),
  });

const list = (project: ProjectPage) => project.page.getByRole('navigation', { name: 'Views' });
const inList = (project: ProjectPage, name: string) => list(project).getByRole('link', { name: new RegExp(`^${name}( |$)`) });
const window = (project: ProjectPage, title: string) => project.page.getByRole('dialog', { name: title, exact: true });

async function choose(project: ProjectPage, view: string, entry: string): Promise<void> {
  await list(project).getByRole('button', { name: `Actions for the view ${view}`, exact: true }).click();
  await project.page.getByRole('menu').getByText(entry, { exact: true }).click();
}

describe('a saved view', () => {
  test('is saved from the grid, opened by its link, changed, saved, renamed and deleted', async ({ visit, api }) => {
    const id = await bridge(api);
    const project = await ProjectPage.open(await visit(), id, 'sort=-weight&columns=name:200!,weight:120,kind:150&footers=weight:sum&height=56');
    await list(project).getByRole('button', { name: 'Save as view' }).click();
    const saving = window(project, 'Save as view');
    await saving.getByLabel('View name').fill('Heavy first');
    await saving.getByLabel('Everyone', { exact: true }).check();
    expect(await findings(project.page)).toEqual([]);
    await saving.getByRole('button', { name: 'Save' }).click();
    await saving.waitFor({ state: 'hidden' });
    await expect.poll(() => project.view.get('view')).toBe('v1');
    await expect.poll(() => inList(project, 'Heavy first').getAttribute('aria-current')).toBe('page');
    expect(await findings(project.page)).toEqual([]);

    // A colleague follows the link and may look, not change.
    const colleague = await ProjectPage.open(await visit(VIEWER), id, 'view=v1');
    await expect.poll(() => colleague.column('Name')).toEqual(['Cable', 'Rivet', 'Girder']);
    await expect.poll(async () => (await colleague.footer('Weight')).innerText()).toContain('60');
    await list(colleague).getByRole('button', { name: 'Actions for the view Heavy first' }).click();
    await expect.poll(() => colleague.page.getByRole('menu').getByRole('menuitem').allInnerTexts()).toEqual(['Copy link']);

    // Changes of a view are in the address until they are saved or discarded.
    await project.columnMenu('Weight', 'Sort ascending');
    await expect.poll(() => project.view.get('edited')).toBe('1');
    await expect.poll(() => project.column('Name')).toEqual(['Girder', 'Rivet', 'Cable']);
    await list(project).getByText('(edited)').waitFor();
    await list(project).getByRole('button', { name: 'Discard changes' }).click();
    await expect.poll(() => project.column('Name')).toEqual(['Cable', 'Rivet', 'Girder']);
    await project.page.goBack();
    await expect.poll(() => project.column('Name')).toEqual(['Girder', 'Rivet', 'Cable']);
    await list(project).getByRole('button', { name: 'Save changes' }).click();
    await list(project).getByText('(edited)').waitFor({ state: 'hidden' });
    await colleague.page.reload();
    await expect.poll(() => colleague.column('Name')).toEqual(['Girder', 'Rivet', 'Cable']);

    await choose(project, 'Heavy first', 'Rename');
    await window(project, 'Rename').getByLabel('View name').fill('Light first');
    await project.page.keyboard.press('Enter');
    await inList(project, 'Light first').waitFor();
    await choose(project, 'Light first', 'Delete view');
    await window(project, 'Delete view').getByRole('button', { name: 'Delete', exact: true }).click();
    await inList(project, 'Light first').waitFor({ state: 'hidden' });
    await expect.poll(() => project.column('Name')).toEqual(['Girder', 'Rivet', 'Cable']);
    await colleague.page.reload();
    await colleague.page.getByText('View not found.').waitFor();
  });

  test('is visible only to its owner if private, and opens with the project if default', async ({ visit, api, stack }) => {
    const id = await bridge(api);
    const editor = await stack.api(EDITOR);
    const path = { project: id };
    await editor.call('POST', '/v1/projects/{project}/views', { path, body: { name: 'Of Edi' } });
    const { body } = await editor.call('POST', '/v1/projects/{project}/views', { path, body: { name: 'Dear', visibility: 'shared', query: { sort: [{ field: 'weight', direction: 'desc' }] } } });
    const project = await ProjectPage.open(await visit(), id);
    await expect.poll(() => project.column('Name')).toEqual(['Girder', 'Rivet', 'Cable']);
    await expect.poll(() => list(project).getByRole('link').count()).toBe(2);
    await choose(project, 'Dear', 'Everyone; the project opens with it');
    await inList(project, 'Dear').locator('.visually-hidden').getByText('the project opens with it').waitFor();
    const other = await ProjectPage.open(await visit(EDITOR), id);
    await expect.poll(() => other.column('Name')).toEqual(['Cable', 'Rivet', 'Girder']);
    await expect.poll(() => inList(other, 'Dear').getAttribute('href')).toBe(`/projects/${id}?view=${body.id}`);
    await inList(other, 'All issues').click();
    await expect.poll(() => other.column('Name')).toEqual(['Girder', 'Rivet', 'Cable']);
    expect(other.view.get('view')).toBe('all');
    await expect.poll(() => list(other).getByRole('link').count()).toBe(3);
  });

  test('lists its missing parts and saves without them; a sort without an index offers one', async ({ visit, api }) => {
    const id = await bridge(api);
    const path = { project: id };
    const look = { color_by: 'kind', query: { sort: [{ field: 'plain' }], filter: { field: 'kind', op: 'eq', value: 'beam' } } } as const;
    await api.call('POST', '/v1/projects/{project}/views', { path, body: { name: 'Beams', visibility: 'shared', ...look, query: { ...look.query, sort: [...look.query.sort] } } });
    await api.call('DELETE', '/v1/projects/{project}/attributes/{attribute}', { path: { ...path, attribute: 'kind' } });
    const { page } = await visit();
    await page.goto(`/projects/${id}?view=v1`);
    const project = new ProjectPage(page, id);
    await page.getByText('Parts of this view no longer exist: kind (filter), kind (color).').waitFor();
    await page.getByRole('alert').getByRole('button', { name: 'Index Plain' }).click();
    await expect.poll(() => project.column('Name')).toHaveLength(3);
    await page.getByRole('button', { name: 'Save without them' }).click();
    await page.getByText('Parts of this view no longer exist').waitFor({ state: 'hidden' });
    await expect.poll(() => project.view.toString()).toBe('view=v1');
  });
});

describe('comments', () => {
  test('are created with a mention, edited by their author, and deleted', async ({ visit, api, stack }) => {
    const id = await bridge(api);
    await (await stack.api(EDITOR)).call('GET', '/v1/me', {});
    const project = await ProjectPage.open(await visit(), id);
    await (await project.cell(0, 'Name')).click();
    await project.page.keyboard.press('Space');
    const panel = project.page.getByRole('complementary');
    await panel.getByText('No comments yet.').waitFor();
    const field = panel.getByLabel('New comment');
    await field.click();
    await project.page.keyboard.type('Is this rust, @ed');
    await panel.getByRole('button', { name: 'Mention edi' }).waitFor();
    expect(await findings(project.page)).toEqual([]);
    await project.page.keyboard.press('ArrowDown');
    await project.page.keyboard.press('Enter');
    await expect.poll(() => field.inputValue()).toBe('Is this rust, @edi ');
    await project.page.keyboard.type('?');
    await project.page.keyboard.press('Control+Enter');
    await panel.locator('mark').getByText('@edi').waitFor();
    await expect.poll(() => field.inputValue()).toBe('');
    const path = { project: id, num: 1 };
    const read = async () => (await api.call('GET', '/v1/projects/{project}/issues/{num}/comments', { path })).body.items;
    expect(await read()).toMatchObject([{ text: 'Is this rust, @edi ?', mentions: ['edi'], created_by: 'ada' }]);

    // An editor may read it, but only the author changes it.
    const other = await ProjectPage.open(await visit(EDITOR), id);
    await (await other.cell(0, 'Name')).click();
    await other.page.keyboard.press('Space');
    const theirs = other.page.getByRole('complementary');
    await theirs.getByText('Is this rust').waitFor();
    expect(await theirs.getByRole('button', { name: /the comment by/ }).count()).toBe(0);
    await panel.getByRole('button', { name: 'Edit the comment by' }).click();
    await panel.getByLabel('Comment text').fill('No rust.');
    await panel.getByRole('button', { name: 'Save', exact: true }).click();
    await panel.getByText('No rust.').waitFor();
    expect(await read()).toMatchObject([{ text: 'No rust.', mentions: [], version: 2 }]);
    const question = project.page.getByRole('dialog', { name: 'Delete this comment?' });
    for (const answer of ['Cancel', 'Delete']) {
      expect(await read()).toHaveLength(1);
      await panel.getByRole('button', { name: 'Delete the comment by' }).click();
      await question.getByRole('button', { name: answer }).click();
    }
    await panel.getByText('No comments yet.').waitFor();
    expect(await read()).toEqual([]);
  });
});
