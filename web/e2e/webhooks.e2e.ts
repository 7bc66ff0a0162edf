import { expect } from 'vitest';
import type { Filter } from '../src/api/types';
import { findings } from './accessibility';
import { ProjectPage } from './project-page';
import { makeProject, PARTS } from './projects';
import { ADMIN } from './stack';
import { test } from './test';

/** A name that no resolver knows, so that nothing leaves this machine. */
const URL = 'https://receiver.invalid/gridview';

test('an admin creates a webhook, copies its secret, reads its messages, sends one again, and deletes it', async ({ visit, api }) => {
  const id = await makeProject(api, { name: 'Hooked' });
  const { page } = await visit();
  await page.goto(`/projects/${id}`);
  const project = new ProjectPage(page, id);
  await project.more('Webhooks');
  const window = project.panel('Webhooks');
  await window.getByText('No webhooks yet.').waitFor();
  const form = window.getByRole('region', { name: 'New webhook' });
  await form.getByLabel('URL', { exact: true }).fill(URL);
  await form.getByLabel('Deletions').uncheck();
  await form.getByRole('button', { name: 'Add webhook' }).click();

  const secret = window.getByRole('region', { name: 'Secret' });
  const value = await secret.getByRole('textbox').inputValue();
  expect(value).toMatch(/^whsec_/);
  await secret.getByRole('button', { name: 'Copy secret' }).click();
  await secret.getByText('Secret copied.').waitFor();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(value);
  expect(await findings(page)).toEqual([]);
  await secret.getByRole('button', { name: 'I have copied it' }).click();
  const item = window.getByRole('listitem', { name: URL });
  await item.getByText('Enabled · All issues · New issues, Changes, Restored issues').waitFor();

  await api.call('POST', '/v1/projects/{project}/issues', { path: { project: id }, body: { name: 'Girder' } });
  await item.getByText('Messages of the last 7 days').click();
  const message = item.getByRole('listitem').filter({ hasText: 'New issues: issue 1, version 1' });
  await expect
    .poll(async () => {
      await item.getByRole('button', { name: 'Refresh' }).click();
      return message.count();
    })
    .toBe(1);
  await message.getByText('Retrying').waitFor();
  expect(await findings(page)).toEqual([]);
  await message.getByRole('button', { name: 'Send again' }).click();
  await item.getByText('Sending again.').waitFor();

  await item.getByRole('button', { name: 'New secret' }).click();
  await item.getByRole('alert').getByRole('button', { name: 'New secret' }).click();
  await expect.poll(() => secret.getByRole('textbox').inputValue()).not.toBe(value);
  await item.getByText(/^The previous secret also signs until/).waitFor();
  await item.getByRole('button', { name: 'Disable' }).click();
  await item.getByText(/^Disabled · /).waitFor();
  await item.getByRole('button', { name: 'Delete webhook' }).click();
  await item.getByRole('alert').getByRole('button', { name: 'Delete webhook' }).click();
  await window.getByText('No webhooks yet.').waitFor();
});

test('a webhook of a view shows its rows and fields, and that the view has changed or was deleted', async ({ visit, api }) => {
  const id = await makeProject(api, { name: 'Followed', fields: PARTS });
  const path = { project: id };
  const open: Filter = { field: 'state', op: 'eq', value: 'open' };
  const columns = ['name', 'weight'].map((field) => ({ field, width: 120, frozen: false }));
  const { body: view } = await api.call('POST', '/v1/projects/{project}/views', { path, body: { name: 'Open parts', visibility: 'shared', query: { filter: open }, columns } });
  const { page } = await visit();
  const show = async () => {
    await page.goto(`/projects/${id}`);
    await new ProjectPage(page, id).more('Webhooks');
    return new ProjectPage(page, id).panel('Webhooks');
  };
  const window = await show();
  const form = window.getByRole('region', { name: 'New webhook' });
  await form.getByLabel('URL', { exact: true }).fill(URL);
  await form.getByRole('combobox', { name: 'Issues', exact: true }).selectOption('Open parts');
  await form.getByText('The webhook uses the view as it is when you choose it.').waitFor();
  await form.getByRole('button', { name: 'Add webhook' }).click();
  await window.getByRole('region', { name: 'Secret' }).getByRole('button', { name: 'I have copied it' }).click();
  const item = window.getByRole('listitem', { name: URL });
  await item.getByText(/View “Open parts” as of .+, chosen by ada/).waitFor();
  await item.getByText('Sends only these fields: Name, Weight').waitFor();

  const filterOf = async () => {
    const { body: list } = await api.call('GET', '/v1/projects/{project}/webhooks', { path });
    return list.items[0]?.frozen?.query.filter;
  };
  const closed: Filter = { ...open, value: 'closed' };
  await api.call('PATCH', '/v1/projects/{project}/views/{view}', { path: { ...path, view: view.id }, body: { query: { filter: closed } } });
  await show();
  await item.getByText('The view has changed. The webhook still uses the old version.').waitFor();
  expect(await filterOf()).toEqual(open);
  expect(await findings(page)).toEqual([]);
  await item.getByRole('button', { name: 'Use the view as it is now' }).click();
  await item.getByText('The view has changed.').waitFor({ state: 'hidden' });
  await expect.poll(filterOf).toEqual(closed);

  await api.call('DELETE', '/v1/projects/{project}/views/{view}', { path: { ...path, view: view.id } });
  await show();
  await item.getByText('The view "Open parts" was deleted.').waitFor();
  await item.getByText(/^Enabled · /).waitFor();
  await item.getByRole('button', { name: 'Keep the filter' }).click();
  await item.getByText('was deleted').waitFor({ state: 'hidden' });
  expect(await filterOf()).toEqual(closed);
});

test('the form of a webhook keeps its draft, whatever else changes the webhook', async ({ visit, api }) => {
  const id = await makeProject(api, { name: 'Drafted' });
  const path = { project: id };
  const { body: made } = await api.call('POST', '/v1/projects/{project}/webhooks', { path, body: { url: URL, view: null, columns: null, events: ['create', 'update'], enabled: true } });
  const patch = (body: { url?: string; events?: ('create' | 'delete')[] }) =>
    api.call('PATCH', '/v1/projects/{project}/webhooks/{webhook}', { path: { ...path, webhook: made.id }, body });
  const stored = async () => {
    const { body } = await api.call('GET', '/v1/projects/{project}/webhooks', { path });
    return body.items.map(({ url, events, enabled }) => [url, events, enabled])[0];
  };
  const { page } = await visit();
  await page.goto(`/projects/${id}`);
  const project = new ProjectPage(page, id);
  await project.more('Webhooks');
  const item = project.panel('Webhooks').getByRole('listitem', { name: /^https:/ });
  const form = item.getByText('URL, issues, fields and events');
  await form.click();
  const url = item.getByLabel('URL', { exact: true });
  await url.fill(`${URL}/2`);
  await item.getByRole('button', { name: 'Disable' }).click();
  await item.getByText(/^Disabled · /).waitFor();
  expect(await url.inputValue()).toBe(`${URL}/2`);
  await item.getByRole('button', { name: 'New secret' }).click();
  await item.getByRole('alert').getByRole('button', { name: 'New secret' }).click();
  await item.getByText(/^The previous secret also signs until/).waitFor();
  expect(await url.inputValue()).toBe(`${URL}/2`);
  // Closed and opened again.
  await form.click();
  await form.click();
  expect(await url.inputValue()).toBe(`${URL}/2`);

  // A change of another part by someone else is adopted, not reverted.
  await patch({ events: ['create', 'delete'] });
  await item.getByRole('button', { name: 'Enable' }).click();
  await project.panel('Webhooks').getByText('The request was refused').waitFor();
  await item.getByText('New issues, Deletions').waitFor();
  await item.getByRole('button', { name: 'Save' }).click();
  await expect.poll(stored).toEqual([`${URL}/2`, ['create', 'delete'], false]);
  await expect.poll(() => page.locator('[data-unsaved]').count()).toBe(0);

  // Both change the same part.
  await url.fill(`${URL}/mine`);
  await patch({ url: `${URL}/theirs` });
  await item.getByRole('button', { name: 'Save' }).click();
  await item.getByText('URL: Yours').waitFor();
  expect(await findings(page)).toEqual([]);
  await item.getByRole('button', { name: 'Keep Yours' }).click();
  await item.getByRole('button', { name: 'Save' }).click();
  await expect.poll(stored).toEqual([`${URL}/mine`, ['create', 'delete'], false]);
});

test('an editor sees no webhooks', async ({ visit }) => {
  const project = await ProjectPage.open(await visit({ ...ADMIN, user: 'ellen', role: 'editor' }), 'demo');
  const more = await project.open('More');
  await more.getByRole('button', { name: 'Import CSV' }).waitFor();
  expect(await more.getByRole('button', { name: 'Webhooks' }).count()).toBe(0);
});
