import { describe, expect } from 'vitest';
import { ProjectPage } from './project-page';
import { makeProject, valuesOf } from './projects';
import { test } from './test';

describe('the format of a field', () => {
  test('is chosen in the settings, and cells, footers and the panel show it', async ({ visit, api }) => {
    const id = await makeProject(api, {
      name: 'Formats',
      fields: [
        { id: 'price', name: 'Price', type: 'number' },
        { id: 'done', name: 'Done', type: 'number', format: { as: 'progress' } },
        { id: 'stars', name: 'Stars', type: 'number', format: { as: 'rating', max: 3 } },
        { id: 'site', name: 'Site', type: 'text', format: { as: 'url' }, description: 'A page about the part' },
        { id: 'liked', name: 'Liked', type: 'bool', format: { as: 'star' } },
      ],
      issues: [
        { name: 'Beam', fields: { price: '1234.5', done: 0.25, stars: 2, site: 'https://example.org/beam', liked: true } },
        { name: 'Bolt', fields: { price: 1, site: 'javascript:alert(1)' } },
      ],
    });
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id);
    await project.more('Project settings');
    const settings = page.getByRole('dialog', { name: 'Settings of Formats' });
    await settings.locator('summary', { hasText: 'Price' }).click();
    const form = settings.locator('form', { has: page.getByLabel('Shown as') }).filter({ visible: true });
    await form.getByLabel('Description').fill('Without taxes');
    await form.getByLabel('Shown as').selectOption('Amount of money');
    await form.getByLabel('Currency').fill('usd');
    await form.getByLabel('Digits after the point').fill('2');
    await form.getByLabel('Value of new issues').fill('9.5');
    await form.getByRole('button', { name: 'Save' }).click();
    const saved = () => api.call('GET', '/v1/projects/{project}/attributes/{attribute}', { path: { project: id, attribute: 'price' } });
    await expect.poll(async () => (await saved()).body.format).toEqual({ as: 'currency', currency: 'USD', decimals: 2 });
    // The page has its answer a moment later.
    await expect.poll(() => settings.locator('[data-unsaved]').count()).toBe(0);
    await page.keyboard.press('Escape');
    await settings.waitFor({ state: 'hidden' });
    const text = async (row: number, column: string) => (await project.cell(row, column)).innerText();
    await expect.poll(() => text(0, 'Price')).toBe('$1,234.50');
    expect(await project.head('Price').locator('[title*="Without taxes"]').count()).toBe(1);
    expect(await text(0, 'Done')).toBe('25%');
    await (await project.cell(0, 'Stars')).getByRole('img', { name: '2 of 3 stars' }).waitFor();
    await (await project.cell(0, 'Liked')).getByRole('img', { name: 'Yes' }).waitFor();

    // A link leads elsewhere, and nothing that could run code is one.
    const link = (await project.cell(0, 'Site')).getByRole('link');
    expect(await link.getAttribute('href')).toBe('https://example.org/beam');
    expect(await link.getAttribute('rel')).toContain('noopener');
    expect(await (await project.cell(1, 'Site')).getByRole('link').count()).toBe(0);

    // Editing shows the number itself.
    await (await project.cell(0, 'Price')).dblclick();
    await expect.poll(() => page.locator('textarea:focus, input:focus').inputValue()).toBe('1234.5');
    await page.keyboard.press('Escape');

    // A new row has the default.
    await page.getByRole('button', { name: 'New row' }).click();
    await page.locator('textarea:focus').fill('Nut');
    await page.keyboard.press('Enter');
    await expect.poll(() => valuesOf(api, id, 3)).toMatchObject({ price: 9.5 });
    await expect.poll(() => text(2, 'Price')).toBe('$9.50');
  });
});

describe('a cell that is too small', () => {
  test('shows no part of a number, counts its options, and has the whole content as a tooltip', async ({ visit, api }) => {
    const tags = ['reinforced', 'galvanized', 'inspected', 'replaced'];
    const id = await makeProject(api, {
      name: 'Narrow cells',
      fields: [
        { id: 'price', name: 'Price', type: 'number' },
        { id: 'tags', name: 'Tags', type: 'multi_enum', options: tags },
        { id: 'done', name: 'Done', type: 'number', format: { as: 'rating', max: 5 } },
        { id: 'kind', name: 'Kind', type: 'enum', options: ['a beam that is welded at both ends'] },
        { id: 'note', name: 'Note', type: 'text' },
      ],
      issues: [{ name: 'Beam', fields: { price: '1234567.25', done: 4, kind: 'a beam that is welded at both ends', tags, note: 'A note that is longer than its column, so it goes on in a second line where rows are tall' } }],
    });
    const visited = await visit();
    const { page } = visited;
    const project = await ProjectPage.open(visited, id, 'columns=name:120,price:64,tags:230,done:60,kind:120,note:160');
    const [price, some, note] = [await project.cell(0, 'Price'), await project.cell(0, 'Tags'), await project.cell(0, 'Note')];
    const [stars, kind] = [await project.cell(0, 'Done'), await project.cell(0, 'Kind')];
    await price.getByRole('img', { name: '1,234,567.25' }).waitFor();
    expect(await price.innerText()).toBe('###');
    await price.hover();
    await expect.poll(() => price.locator('.cell').getAttribute('title')).toBe('1,234,567.25');
    await some.getByRole('img', { name: 'inspected, replaced' }).waitFor();
    expect((await some.innerText()).split(/\s+/)).toEqual(['reinforced', 'galvanized', '+2']);
    await some.hover();
    await expect.poll(() => some.locator('.cell').getAttribute('title')).toBe(tags.join(', '));
    expect(await stars.innerText()).toBe('###');
    await kind.hover();
    await expect.poll(() => kind.locator('.cell').getAttribute('title')).toBe('a beam that is welded at both ends');
    await note.hover();
    await expect.poll(() => note.locator('.cell').getAttribute('title')).toMatch(/^A note that/);

    // With more room, the number is there again.
    await project.head('Price').locator('.ag-header-cell-resize').dblclick();
    await expect.poll(() => price.innerText()).toBe('1,234,567.25');

    // A tall row has two lines of text, and of options.
    const lines = () => note.locator('.cell').evaluate((cell) => cell.getClientRects()[0]?.height ?? 0);
    const one = await lines();
    const panel = await project.open('Row height');
    await panel.getByLabel('Tall').check();
    await expect.poll(lines).toBeGreaterThan(one);
    await expect.poll(async () => (await some.innerText()).split(/\s+/)).toEqual(tags);
    await panel.getByLabel('Normal').check();
    await expect.poll(async () => (await some.innerText()).split(/\s+/)).toEqual(['reinforced', 'galvanized', '+2']);
    await page.keyboard.press('Escape');
  });
});
