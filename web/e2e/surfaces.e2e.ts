import type { Locator, Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Api } from '../src/api/client';
import { illegible } from './legible';
import { ProjectPage } from './project-page';
import { countOf, makeProject, PARTS } from './projects';
import { test } from './test';
import { beyond, inEachWindow, scrolling, SOME_WINDOWS, WINDOWS } from './window';

/** A number at which lists of them are longer than a window. */
const FIELDS = 20;
const VIEWS = 32;
const OPTIONS = 40;
const ISSUES = 30;

/** A panel or window that opens in front of the page or beside it. */
interface Surface {
  readonly name: string;
  /** The element that has the focus before, and must have it again afterwards. */
  readonly opener: () => Locator;
  readonly open: () => Promise<unknown>;
  readonly seen: () => Locator;
  /** The element that has the focus when it is open. */
  readonly first: (seen: Locator) => Locator;
  /** Shows its further content. */
  readonly fill?: (seen: Locator) => Promise<unknown>;
}

/** A project with much of everything: fields, options, views, a comment, an issue in the trash. */
async function crowded(api: Api): Promise<string> {
  const options = Array.from({ length: OPTIONS }, (_, at) => `${at} has a name that is far too long for the cells of its column`);
  const extra = Array.from({ length: FIELDS }, (_, at) => ({ id: `extra${at}`, name: `Extra ${at}`, type: 'text', indexed: false }) as const);
  const project = await makeProject(api, {
    name: 'Crowded',
    fields: [...PARTS, { id: 'shape', name: 'Shape', type: 'enum', options }, ...extra],
    issues: Array.from({ length: ISSUES }, (_, at) => ({ name: `Part ${at}`, fields: { weight: at, kind: 'beam' } })),
  });
  const path = { project };
  for (let at = 0; at < VIEWS; at += 1) await api.call('POST', '/v1/projects/{project}/views', { path, body: { name: `View ${at}`, visibility: 'private' } });
  await api.call('POST', '/v1/projects/{project}/issues/{num}/comments', { path: { ...path, num: 1 }, body: { text: 'Seen.', mentions: [] } });
  const last = { ...path, num: ISSUES };
  const { headers } = await api.call('GET', '/v1/projects/{project}/issues/{num}', { path: last });
  await api.call('DELETE', '/v1/projects/{project}/issues/{num}', { path: last, headers: { 'If-Match': headers.get('ETag') ?? '' } });
  return project;
}

const hasFocus = (element: Locator) => element.evaluate((one) => one === document.activeElement);
const focused = (page: Page) => page.evaluate(() => document.activeElement?.outerHTML.slice(0, 100));

/** Open each surface, judge it in several windows, close it by Escape, and return the faults. */
async function faultsOf(page: Page, judged: Set<string>, surfaces: readonly Surface[]): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const { name, opener, open, seen: find, first: entry, fill } of surfaces) {
    const note = (found: readonly string[]) => faults.push(...found.map((fault) => `${name}: ${fault}`));
    await open();
    const seen = find();
    await seen.waitFor();
    const first = entry(seen).first();
    if (!(await hasFocus(first))) note([`the focus is on ${await focused(page)}`]);
    await fill?.(seen);
    note(await illegible(page, seen, judged));
    note(await inEachWindow(page, SOME_WINDOWS, async () => [...(await scrolling(page)), ...(await beyond(seen)), ...(await lostHead(seen))]));
    await first.focus();
    await page.keyboard.press('Escape');
    await seen.waitFor({ state: 'hidden' });
    // The grid draws its cells again after a change of the window.
    await expect
      .poll(() => hasFocus(opener()))
      .toBe(true)
      .catch(async () => note([`the focus went to ${await focused(page)}`]));
  }
  return faults;
}

/** If a long panel is scrolled to its end, the button that closes it is still in view. */
async function lostHead(seen: Locator): Promise<readonly string[]> {
  await seen.evaluate((panel) => {
    for (const element of [panel, ...panel.querySelectorAll('*')]) element.scrollTop = element.scrollHeight;
  });
  return beyond(seen.locator('.dialog-head').getByRole('button', { name: 'Close' }));
}

describe('each panel and window', () => {
  test('takes and returns the focus, fits the window, scrolls inside, and has legible buttons', async ({ visit, api }) => {
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, await crowded(api));
    const { toolbar } = project;
    const cell = await project.cell(0, 'Name');
    const rail = page.getByRole('button', { name: 'Views and projects' });
    const viewActions = page.getByRole('button', { name: 'Actions for the view View 31' });
    await viewActions.waitFor();
    await cell.click();

    const heading = (seen: Locator) => seen.getByRole('heading', { level: 2 });
    const field = (seen: Locator) => seen.locator('input, select, textarea');
    const chosen = (seen: Locator) => seen.locator('input:checked');
    const button = (seen: Locator) => seen.getByRole('button');
    const dialog = (name: string | RegExp) => () => page.getByRole('dialog', { name, exact: true });
    const menu = () => page.getByRole('menu');
    const panel = () => page.getByRole('complementary');
    const moreOf = (choice: string | RegExp) => async () => (await project.open('More')).getByRole('button', { name: choice }).click();
    const ofTool = (name: string, first: Surface['first']): Surface => ({ name, opener: () => project.tool(name), open: () => project.open(name), seen: dialog(name), first });
    const ofButton = (name: string, title: string | RegExp, first: Surface['first']): Surface => {
      const opener = () => toolbar.getByRole('button', { name });
      return { name, opener, open: () => opener().click(), seen: dialog(title), first };
    };
    const ofMore = (name: string, title: string | RegExp, first: Surface['first'], fill?: Surface['fill']): Surface => {
      return { name, opener: () => project.tool('More'), open: moreOf(name), seen: dialog(title), first, ...(fill && { fill }) };
    };
    const ofView = (name: string, first: Surface['first']): Surface => ({
      name,
      opener: () => viewActions,
      open: async () => {
        await viewActions.click();
        await menu().getByRole('menuitem', { name, exact: true }).click();
      },
      seen: dialog(name),
      first,
    });
    const byKey = (name: string, key: string, seen: Surface['seen'], first: Surface['first'], fill?: Surface['fill']): Surface => ({
      name,
      opener: () => cell,
      open: async () => {
        await cell.click();
        await page.keyboard.press(key);
      },
      seen,
      first,
      ...(fill && { fill }),
    });
    const ofColumn: Surface = {
      name: 'the menu of a column',
      opener: () => project.menuButton('Weight'),
      open: () => project.openColumnMenu('Weight'),
      seen: menu,
      first: (seen) => seen.getByRole('menuitemcheckbox'),
    };

    const judged = new Set<string>();
    const faults = [
      ...(await illegible(page, page.locator('body'), judged)),
      ...(await inEachWindow(page, WINDOWS, () => scrolling(page))),
      ...(await faultsOf(page, judged, [
        ofTool('Fields', field),
        ofTool('Filter', field),
        ofTool('Group', button),
        ofTool('Sort', button),
        ofTool('Color', chosen),
        ofTool('Row height', chosen),
        ofTool('More', button),
        ofButton('Keyboard shortcuts', 'Keyboard shortcuts', (seen) => seen.locator('.button')),
        ofButton('Delete rows', 'Delete “Part 0”?', (seen) => seen.getByRole('button', { name: 'Delete' })),
        ofMore('Project settings', 'Settings of Crowded', heading, async (seen) => {
          await seen.getByText('Name, states, deletion').click();
          await seen.getByRole('button', { name: 'Delete project' }).click();
        }),
        ofMore('Trash', 'Trash', heading, (seen) => seen.getByRole('button', { name: /^Delete permanently/ }).click()),
        ofMore('Webhooks', 'Webhooks', heading, (seen) => seen.getByRole('button', { name: 'Add webhook' }).waitFor()),
        ofMore('Background jobs', 'Background jobs', heading),
        ofMore('Import CSV', 'Import into Crowded', field),
        ofMore('Export as CSV', 'Export as CSV', field),
        ofMore('Save as view', 'Save as view', field),
        { name: 'the menu of a view', opener: () => viewActions, open: () => viewActions.click(), seen: menu, first: (seen) => seen.getByRole('menuitem') },
        ofView('Rename', field),
        ofView('Delete view', (seen) => seen.getByRole('button', { name: 'Cancel' })),
        ofColumn,
        byKey('the menu of a column by keys', 'Alt+ArrowDown', menu, (seen) => seen.getByRole('menuitemcheckbox')),
      ])),
    ];
    // In a narrow window the list of projects is in front of the grid.
    await rail.click();
    faults.push(
      ...(await inEachWindow(page, WINDOWS, async () => [...(await scrolling(page)), ...(await beyond(toolbar.locator(':scope > button:visible, :scope > form')))])),
      ...(await faultsOf(page, judged, [
        byKey('an issue', 'Space', panel, heading, (seen) => seen.getByText('Seen.').waitFor()),
        { name: 'how the page was made', opener: () => project.tool('More'), open: moreOf('Query plan and cost'), seen: panel, first: heading },
        { name: 'a change of all', opener: () => project.tool('More'), open: moreOf(/^Change all/), seen: panel, first: field },
      ])),
    );

    // Lists beside the input, at the edges of the window.
    await (await project.cell(12, 'Name')).click();
    await page.keyboard.press('Space');
    await panel().getByLabel('New comment').pressSequentially('@');
    await page.getByRole('button', { name: /^Mention/ }).first().waitFor();
    faults.push(...(await inEachWindow(page, SOME_WINDOWS, () => beyond(page.locator('.mention-choices')))));
    await page.keyboard.press('Escape');
    await panel().getByRole('button', { name: 'Close' }).click();
    for (const row of [0, 14]) {
      await (await project.cell(row, 'Shape')).scrollIntoViewIfNeeded();
      await (await project.cell(row, 'Shape')).dblclick();
      faults.push(...(await beyond(page.getByRole('listbox', { name: 'Shape' }))));
      await page.keyboard.press('Escape');
    }
    expect(faults).toEqual([]);
  });

  test('and each screen around it fits the window, with legible buttons', async ({ visit }) => {
    const judged = new Set<string>();
    const { page } = await visit();
    const door = await visit(null);
    const faults: string[] = [];
    const judge = async (name: string, { page: shown }: { readonly page: Page }) => {
      const found = [...(await illegible(shown, shown.locator('body'), judged)), ...(await inEachWindow(shown, WINDOWS, () => scrolling(shown)))];
      faults.push(...found.map((fault) => `${name}: ${fault}`));
    };
    await door.page.goto('/');
    await door.page.getByRole('button', { name: 'Sign in' }).waitFor();
    await judge('signing in', door);
    await page.goto('/');
    await page.getByRole('link', { name: 'Demo' }).waitFor();
    await page.getByText('Deleted projects…').click();
    await judge('projects', { page });
    await page.getByRole('button', { name: 'New project' }).click();
    await page.getByRole('dialog', { name: 'New project' }).waitFor();
    await judge('a new project', { page });
    for (const [address, text] of [
      ['/projects/absent', 'Project not found'],
      ['/projects/demo?search=unheard', 'No issues match the filter'],
    ] as const) {
      await page.goto(address);
      await page.getByText(text).waitFor();
      await judge(text, { page });
    }
    await page.route('**/grid', (route) => route.abort('internetdisconnected'));
    await page.goto('/projects/demo');
    await page.getByText('You are offline').waitFor();
    await judge('offline', { page });
    expect(judged.size).toBeGreaterThan(10);
    expect(faults).toEqual([]);
  });

  test('accepts Enter: a new project, pasted rows, and a list of projects that scrolls at the window’s edge', async ({ visit, api }) => {
    const visited = await visit();
    const { page } = visited;
    await page.setViewportSize({ width: 1280, height: 200 });
    await page.goto('/');
    await page.getByRole('link', { name: 'Demo' }).waitFor();
    const list = page.locator('.projects');
    expect(await scrolling(page)).toEqual([]);
    expect(await list.evaluate((element) => [element.scrollHeight > element.clientHeight, element.getBoundingClientRect().right])).toEqual([true, 1280]);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto('/projects/absent');
    const absent = await page.getByRole('heading', { name: 'Project not found' }).boundingBox();
    const columns = await page.locator('.notice').boundingBox();
    expect(Math.abs((absent?.x ?? 0) + (absent?.width ?? 0) / 2 - ((columns?.x ?? 0) + (columns?.width ?? 0) / 2))).toBeLessThan(2);
    expect((columns?.x ?? 0) + (columns?.width ?? 0)).toBe(1280);

    await page.goto('/');
    const create = page.getByRole('button', { name: 'New project' });
    await create.click();
    await page.keyboard.press('Escape');
    await expect.poll(() => hasFocus(create)).toBe(true);
    const opener = await create.elementHandle();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'New project' });
    await dialog.waitFor();
    // A key that comes before the browser has reported that the window is closed opens it nevertheless.
    await dialog.evaluate(async (element, button) => {
      element.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true }));
      for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
      if (button instanceof HTMLElement) button.click();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }, opener);
    expect(await dialog.isVisible()).toBe(true);
    await page.keyboard.type('By Enter');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'By Enter' }).waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';

    await api.call('POST', '/v1/projects/{project}/issues', { path: { project: id }, body: { name: 'First' } });
    const project = await ProjectPage.open(visited, id);
    await expect.poll(() => project.column('Name')).toEqual(['First']);
    await (await project.cell(0, 'Name')).click();
    await page.evaluate(() => navigator.clipboard.writeText('First\nSecond\nThird'));
    await page.keyboard.press('Control+v');
    await page.getByRole('dialog', { name: 'Add 2 new rows?' }).waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => countOf(api, id)).toBe(3);
  });
});
