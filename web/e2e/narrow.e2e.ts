import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { ProjectPage } from './project-page';
import { makeProject, valuesOf } from './projects';
import { ADMIN } from './stack';
import { test } from './test';
import { showsWhatTheApiHas } from './truth';

/** The elements that make the page wider than the screen. */
function beside(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    if (document.documentElement.scrollWidth <= window.innerWidth) return [];
    const all = [...document.querySelectorAll('body *:not([role="grid"] *)')];
    return all.filter((element) => element.getBoundingClientRect().right > window.innerWidth).map(({ outerHTML }) => outerHTML.slice(0, 120));
  });
}

const TELEPHONE = { width: 360, height: 740 };

describe('on a telephone', () => {
  test('users sort, filter and edit, and nothing is beside the screen', async ({ visit, api }) => {
    const issues = [3, 1, 2].map((weight) => ({ name: `Part ${weight}`, fields: { weight } }));
    const id = await makeProject(api, { name: 'In the pocket', fields: [{ id: 'weight', name: 'Weight', type: 'number' }], issues });
    const { page } = await visit(ADMIN, TELEPHONE);
    const project = await ProjectPage.open({ page }, id);
    expect(await beside(page)).toEqual([]);
    await project.sort('Name');
    await showsWhatTheApiHas(project, api, { sort: [{ field: 'name', direction: 'asc', nulls: 'last' }] });

    const panel = await project.open('Filter');
    const box = await panel.boundingBox();
    expect(box && box.x >= 0 && box.x + box.width <= TELEPHONE.width && box.y + box.height <= TELEPHONE.height).toBe(true);
    await panel.getByLabel('Operator').selectOption('contains');
    await panel.getByLabel('Value', { exact: true }).fill('2');
    await panel.getByRole('button', { name: 'Apply' }).click();
    await expect.poll(() => project.column('Name')).toEqual(['Part 2']);

    await (await project.cell(0, 'Name')).dblclick();
    await page.keyboard.type('Part 2 of the bridge');
    await page.keyboard.press('Enter');
    await expect.poll(() => valuesOf(api, id, 3)).toMatchObject({ name: 'Part 2 of the bridge' });
    expect(await beside(page)).toEqual([]);
  });
});
