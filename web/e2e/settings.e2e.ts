import { expect } from 'vitest';
import { findings } from './accessibility';
import { drag } from './dragging';
import { ProjectPage } from './project-page';
import { makeProject, PARTS, valuesOf } from './projects';
import { ADMIN } from './stack';
import { test } from './test';

test('fields are sorted by dragging, by keys and by buttons', async ({ visit, api }) => {
  const id = await makeProject(api, { name: 'Order', fields: PARTS });
  const saved = async () => {
    const { body } = await api.call('GET', '/v1/projects/{project}', { path: { project: id } });
    return body.attributes?.map(({ name }) => name);
  };
  const project = await ProjectPage.open(await visit(ADMIN), id);
  const { page } = project;
  await project.more('Project settings');
  const settings = page.getByRole('dialog');
  const handle = (name: string) => settings.getByRole('listitem').filter({ hasText: name }).first().locator('.grip');

  await drag(page, handle('Safe'), handle('Weight'), 'upper');
  await settings.getByText('Moved Safe to place 1 of 5.').waitFor();
  await expect.poll(saved).toEqual(['Safe', 'Weight', 'Due', 'Kind', 'Note']);
  // The press opened no field and selected no text.
  expect(await settings.locator('details[open]').count()).toBe(0);
  expect(await page.evaluate(() => String(getSelection()))).toBe('');

  // Two moves without a pause.
  await settings.locator('summary').filter({ hasText: 'Note' }).focus();
  await page.keyboard.press('Alt+ArrowUp');
  await page.keyboard.press('Alt+ArrowUp');
  await settings.getByText('Moved Note to place 3 of 5.').waitFor();
  await expect.poll(saved).toEqual(['Safe', 'Weight', 'Note', 'Due', 'Kind']);

  await settings.getByRole('button', { name: 'Move Safe down' }).click();
  await expect.poll(saved).toEqual(['Weight', 'Safe', 'Note', 'Due', 'Kind']);
  // A button that moves an item to the end of its list keeps the focus.
  await settings.getByRole('button', { name: 'Move Safe up' }).press('Enter');
  await expect.poll(saved).toEqual(['Safe', 'Weight', 'Note', 'Due', 'Kind']);
  expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Move Safe up');
  await settings.getByRole('button', { name: 'Move Safe down' }).press('Enter');
  await expect.poll(saved).toEqual(['Weight', 'Safe', 'Note', 'Due', 'Kind']);
  expect(await findings(page)).toEqual([]);

  // The columns of a view without an order of its own follow.
  await page.keyboard.press('Escape');
  await expect.poll(async () => (await project.head('Safe').getAttribute('aria-colindex')) !== null).toBe(true);
  const place = async (name: string) => Number(await project.head(name).getAttribute('aria-colindex'));
  await expect.poll(async () => (await place('Weight')) < (await place('Safe')) && (await place('Safe')) < (await place('Note'))).toBe(true);
});

test('a field stays where it was moved, though an answer from before that comes late', async ({ visit, api }) => {
  const id = await makeProject(api, { name: 'Order', fields: PARTS });
  const project = await ProjectPage.open(await visit(ADMIN), id);
  const { page } = project;
  const held: (() => void)[] = [];
  let asked = 0;
  let answered = 0;
  let isLate = false;
  // What the settings read when they open comes when the test says so.
  await page.route(`**/v1/projects/${id}`, async (route) => {
    asked += 1;
    const isFirst = asked === 1;
    const response = await route.fetch();
    if (isFirst) await new Promise<void>((resolve) => held.push(resolve));
    await route.fulfill({ response });
    if (isFirst) isLate = true;
    else answered += 1;
  });
  await project.more('Project settings');
  const settings = page.getByRole('dialog');
  await expect.poll(() => held.length).toBe(1);
  await settings.locator('summary').filter({ hasText: 'Safe' }).focus();
  await page.keyboard.press('Alt+ArrowUp');
  await settings.getByText('Moved Safe to place 4 of 5.').waitFor();
  await expect.poll(() => answered).toBeGreaterThan(0);
  held[0]?.();
  await expect.poll(() => isLate).toBe(true);
  await page.evaluate(() => new Promise(requestAnimationFrame));
  await page.keyboard.press('Alt+ArrowUp');
  await settings.getByText('Moved Safe to place 3 of 5.').waitFor();
  await expect
    .poll(async () => (await api.call('GET', '/v1/projects/{project}', { path: { project: id } })).body.attributes?.map(({ name }) => name))
    .toEqual(['Weight', 'Due', 'Safe', 'Kind', 'Note']);
});

test('closed settings leave the page as it is as long as the user has steps to undo or redo', async ({ visit, api }) => {
  const id = await makeProject(api, { name: 'Kept', fields: PARTS, issues: [{ name: 'Girder', fields: { note: 'old' } }] });
  const project = await ProjectPage.open(await visit(ADMIN), id);
  const { page } = project;
  await (await project.cell(0, 'Note')).click();
  await page.keyboard.type('new');
  await page.keyboard.press('Enter');
  await expect.poll(() => valuesOf(api, id, 1)).toMatchObject({ note: 'new' });
  await project.columnMenu('Kind', 'Insert a field before');
  const settings = page.getByRole('dialog', { name: 'Settings of Kept' });
  await settings.getByLabel('Name of a new field').fill('Supplier');
  await settings.getByRole('button', { name: 'Add field' }).click();
  await settings.getByText('Supplier', { exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('The fields of this project have changed.').waitFor();
  expect(await project.head('Supplier').count()).toBe(0);
  await (await project.cell(0, 'Name')).click();
  await page.keyboard.press('Control+z');
  await expect.poll(() => valuesOf(api, id, 1)).toMatchObject({ note: 'old' });
  // The step can be done again, so only the user discards it.
  expect(await project.head('Supplier').count()).toBe(0);
  await page.getByRole('button', { name: 'Reload' }).click();
  await project.head('Supplier').waitFor();
});

test('the default of a field follows an option that is renamed', async ({ visit, api }) => {
  const id = await makeProject(api, {
    name: 'Defaults',
    fields: [
      { id: 'rank', name: 'Rank', type: 'enum', options: ['Low', 'High'], default: 'Low' },
      { id: 'tags', name: 'Tags', type: 'multi_enum', options: ['wet', 'dry', 'cold'], default: ['wet', 'cold'] },
    ],
  });
  const saved = async () => {
    const { body } = await api.call('GET', '/v1/projects/{project}', { path: { project: id } });
    return body.attributes?.map(({ options, default: value }) => [options?.map((one) => one.value), value]);
  };
  const project = await ProjectPage.open(await visit(ADMIN, { width: 2000 }), id);
  await project.more('Project settings');
  const settings = project.page.getByRole('dialog');
  const fieldOf = async (name: string) => {
    await settings.locator('summary').filter({ hasText: name }).click();
    return settings.getByRole('listitem').filter({ has: project.page.locator('summary').filter({ hasText: name }) });
  };
  const rank = await fieldOf('Rank');
  const options = rank.getByLabel('Option', { exact: true });
  const chosen = () => rank.getByRole('combobox', { name: 'Value of new issues', exact: true }).locator('option:checked').innerText();
  await options.first().fill('');
  await options.first().fill('Minor');
  expect(await chosen()).toBe('Minor');
  // Another option takes the name.
  await options.nth(1).fill('Low');
  expect(await chosen()).toBe('Minor');
  await rank.getByRole('button', { name: 'Save' }).click();
  await expect.poll(async () => (await saved())?.[0]).toEqual([['Minor', 'Low'], 'Minor']);

  // A new option can be the default at once. A dropped one is none.
  await rank.getByRole('button', { name: 'Option', exact: true }).click();
  await options.nth(2).fill('New');
  await rank.getByRole('combobox', { name: 'Value of new issues', exact: true }).selectOption('New');
  await options.nth(2).fill('Newer');
  expect(await chosen()).toBe('Newer');
  await rank.getByRole('button', { name: 'Save' }).click();
  await expect.poll(async () => (await saved())?.[0]).toEqual([['Minor', 'Low', 'Newer'], 'Newer']);
  await rank.getByRole('button', { name: 'Remove Newer' }).click();
  expect(await chosen()).toBe('None');
  await rank.getByRole('button', { name: 'Save' }).click();
  await expect.poll(async () => (await saved())?.[0]).toEqual([['Minor', 'Low'], null]);

  const tags = await fieldOf('Tags');
  await tags.getByLabel('Option', { exact: true }).first().fill('damp');
  await tags.getByRole('checkbox', { name: 'dry' }).check();
  // The settings are closed, and opened again, before the changed project is read.
  await project.page.route(`**/v1/projects/${id}`, async (route) => {
    const response = await route.fetch();
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await route.fulfill({ response });
  });
  await tags.getByRole('button', { name: 'Save' }).click();
  await expect.poll(async () => (await saved())?.[1]).toEqual([['damp', 'dry', 'cold'], ['damp', 'dry', 'cold']]);

  // A copy of the field with other options has only those as its default.
  await expect.poll(() => settings.locator('[data-unsaved]').count()).toBe(0);
  await project.page.keyboard.press('Escape');
  await project.columnMenu('Tags', 'Duplicate field');
  await settings.getByLabel('Options, one per line').fill('humid\ndry');
  await settings.getByRole('button', { name: 'Add field' }).click();
  await expect.poll(async () => (await saved())?.[2]).toEqual([['humid', 'dry'], ['dry']]);
});
