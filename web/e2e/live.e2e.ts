import type { Route } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Api } from '../src/api/client';
import { findings } from './accessibility';
import { ProjectPage } from './project-page';
import { countOf, makeProject, PARTS, valuesOf } from './projects';
import { ADMIN } from './stack';
import { test } from './test';

const GRACE = { ...ADMIN, user: 'grace' } as const;

const parts = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `Part ${at + 1}`, fields: { weight: 10 * (at + 1), kind: 'beam', note: 'as found' } }));

const bridge = (api: Api, count = 3): Promise<string> => makeProject(api, { name: 'Live', fields: PARTS, issues: parts(count) });

async function type(page: ProjectPage, row: number, column: string, text: string): Promise<void> {
  await (await page.cell(row, column)).click();
  await page.page.keyboard.type(text);
  await page.page.keyboard.press('Enter');
}

describe('two users of one grid', () => {
  test('see each other’s edits, new issues and deleted ones, with counts and sums', async ({ visit, api }) => {
    const id = await bridge(api);
    const ours = await ProjectPage.open(await visit(), id, 'footers=weight:sum');
    const theirs = await ProjectPage.open(await visit(GRACE), id, 'footers=weight:sum');
    const taken: number[] = [];
    for (const [from, to, note] of [
      [ours, theirs, 'from ada'],
      [theirs, ours, 'from grace'],
      [ours, theirs, 'from ada again'],
    ] as const) {
      await type(from, 1, 'Note', note);
      const written = Date.now();
      const cell = await to.cell(1, 'Note');
      await expect.poll(() => cell.innerText()).toBe(note);
      taken.push(Date.now() - written);
    }
    console.info(`An edit reaches the other user after ${taken.join(', ')} ms.`);
    await expect.poll(() => ours.page.getByText(/^\d+ rows? changed\.$/).count()).toBe(1);

    await type(ours, 0, 'Weight', '100');
    await expect.poll(async () => (await theirs.footer('Weight')).innerText()).toContain('150');
    const path = { project: id };
    await api.call('POST', '/v1/projects/{project}/issues', { path, body: { name: 'Part 4', fields: { weight: 40 } } });
    await expect.poll(() => theirs.column('Name')).toEqual(['Part 1', 'Part 2', 'Part 3', 'Part 4']);
    await theirs.counts('4 issues');
    await api.call('DELETE', '/v1/projects/{project}/issues/{num}', { path: { ...path, num: 2 } });
    await expect.poll(() => theirs.column('Name')).toEqual(['Part 1', 'Part 3', 'Part 4']);
    await theirs.counts('3 issues');
    await expect.poll(async () => (await theirs.footer('Weight')).innerText()).toContain('170');
  });

  test('see each other’s places, by a socket', async ({ visit, api }) => {
    const id = await bridge(api);
    const ours = await ProjectPage.open(await visit(), id);
    const theirs = await ProjectPage.open(await visit(GRACE), id);
    await (await ours.cell(1, 'Note')).click();
    await (await theirs.cell(2, 'Note')).click();
    await expect.poll(() => ours.page.locator('.presence').innerText()).toContain('grace is at issue 3');
    await expect.poll(() => theirs.page.locator('.presence').innerText()).toContain('is at issue 2');
    await expect.poll(() => theirs.page.locator('.is-others-place').count()).toBeGreaterThan(0);
    await theirs.page.close();
    await expect.poll(() => ours.page.locator('.presence').count()).toBe(0);
  });

  test('receive changes by polling if no socket can be opened', async ({ visit, api }) => {
    const id = await bridge(api);
    const visited = await visit();
    await visited.page.route(/\/tickets$/, (route) => route.abort());
    const asking = visited.page.waitForRequest(/\/changes\?since=/);
    const ours = await ProjectPage.open(visited, id);
    await asking;
    await api.call('PATCH', '/v1/projects/{project}/issues/{num}', { path: { project: id, num: 1 }, body: { fields: { note: 'from grace' } } });
    await expect.poll(async () => (await ours.cell(0, 'Note')).innerText()).toBe('from grace');
  });

  test('keep typed text; a conflict in one cell asks, and Escape shows the other’s value', async ({ visit, api }) => {
    const id = await bridge(api);
    const visited = await visit();
    const following = visited.page.waitForEvent('websocket');
    const ours = await ProjectPage.open(visited, id);
    await following;
    const path = { project: id, num: 1 };
    const note = await ours.cell(0, 'Note');
    for (const [end, theirs, weight] of [
      ['Escape', 'from grace', 77],
      ['Enter', 'from grace again', 78],
    ] as const) {
      await note.click();
      await ours.page.keyboard.type('from ada');
      await api.call('PATCH', '/v1/projects/{project}/issues/{num}', { path, body: { fields: { note: theirs, weight } } });
      // Another field of the same row arrives, and the editor stays.
      await expect.poll(async () => (await ours.cell(0, 'Weight')).innerText()).toBe(String(weight));
      await expect.poll(() => ours.page.locator('.is-changed').count()).toBe(1);
      await ours.page.keyboard.press(end);
      if (end === 'Escape') await expect.poll(() => note.innerText()).toBe(theirs);
    }
    const question = ours.page.getByRole('dialog', { name: 'Someone else changed this' });
    await question.getByRole('button', { name: 'Keep Yours' }).click();
    await expect.poll(() => valuesOf(api, id, 1)).toMatchObject({ note: 'from ada' });
    await expect.poll(() => note.innerText()).toBe('from ada');
  });

  test.for(['grid', 'panel'])('are asked if the other’s value came below an open editor, with an own answer or a read (%s)', async (where, { visit, api }) => {
    const id = await bridge(api);
    const visited = await visit();
    const { page } = visited;
    // No change is delivered, as on a bad network.
    await page.route(/\/(changes|tickets)\b/, (route) => route.abort());
    const held: Route[] = [];
    await page.route('**/issues/1', (route) => (route.request().method() === 'PATCH' && !held.length ? void held.push(route) : route.continue()));
    const ours = await ProjectPage.open(visited, id);
    const note = await ours.cell(0, 'Note');
    await (await ours.cell(0, 'Weight')).click();
    await page.keyboard.type('77');
    await page.keyboard.press('Enter');
    await expect.poll(() => held.length).toBe(1);
    await note.click();
    if (where === 'panel') {
      await page.keyboard.press('Space');
      const panel = page.getByRole('complementary');
      await panel.getByText('No comments yet.').waitFor();
      await panel.getByText('as found').click();
      await panel.locator('.issue-editor').getByRole('textbox').fill('from ada');
    } else await page.keyboard.type('from ada');
    await api.call('PATCH', '/v1/projects/{project}/issues/{num}', { path: { project: id, num: 1 }, body: { fields: { note: 'from grace' } } });
    const answered = page.waitForResponse((response) => response.request().method() === 'PATCH');
    await held[0]?.continue();
    await answered;
    await expect.poll(() => ours.page.locator('.is-pending').count()).toBe(0);
    await page.keyboard.press('Enter');
    const question = page.getByRole('dialog', { name: 'Someone else changed this' });
    await question.getByText('from grace').waitFor();
    expect(await valuesOf(api, id, 1)).toMatchObject({ note: 'from grace', weight: 77 });
    await question.getByRole('button', { name: 'Keep Yours' }).click();
    await expect.poll(() => valuesOf(api, id, 1)).toMatchObject({ note: 'from ada', weight: 77 });
  });

  test('do not see their rows jump when rows are inserted above', async ({ visit, api }) => {
    const id = await bridge(api, 120);
    const page = await ProjectPage.open(await visit(), id, 'sort=-weight&columns=num:80,name:200,weight:120');
    await page.dragScrollBar(0.5);
    const before = await page.rows();
    const middle = before[5];
    if (!middle) throw new Error('No row is in view.');
    await (await page.cell(middle.at, 'Name')).click();
    const name = middle.cells['Name'] ?? '';
    const top = async () => (await page.page.getByRole('gridcell', { name, exact: true }).boundingBox())?.y;
    const former = await top();
    await api.call('POST', '/v1/projects/{project}/issues', { path: { project: id }, body: { name: 'Heaviest', fields: { weight: 99999 } } });
    await page.counts('121 issues');
    await expect.poll(async () => (await page.rows()).find(({ cells }) => cells['Name'] === name)?.at).toBe(middle.at + 1);
    expect(await top()).toBe(former);
    // The focus stays with the issue, which receives the typed text.
    await page.page.keyboard.type('Renamed');
    await page.page.keyboard.press('Enter');
    await expect.poll(() => valuesOf(api, id, Number(middle.cells['No.']))).toMatchObject({ name: 'Renamed' });
  });

  test.for([1, 40])('type into the chosen issue, however late the browser draws: %i rows inserted above', async (count, { visit, api }) => {
    const id = await bridge(api, 120);
    const visited = await visit();
    const { page } = visited;
    await page.addInitScript(() => {
      const frame = window.requestAnimationFrame.bind(window);
      window.requestAnimationFrame = (draw) => window.setTimeout(() => frame(draw), 400);
    });
    const project = await ProjectPage.open(visited, id, 'sort=-weight&columns=num:80,name:200,note:200,weight:120');
    const before = await project.rows();
    const chosen = before[3];
    const num = Number(chosen?.cells['No.']);
    await (await project.cell(3, 'Note')).click();
    const operation = { create: { name: 'Heavier', fields: { weight: 99999, note: 'as found' } } };
    await api.call('POST', '/v1/projects/{project}/issues/batch', {
      path: { project: id },
      body: { operations: new Array<typeof operation>(count).fill(operation), return: 'minimal' },
    });
    // The rows have moved, and the next frame has not come.
    await page.waitForFunction(
      ({ row, num }) => document.querySelector(`.ag-row[row-index="${row}"] [col-id="num"]`)?.textContent !== String(num),
      { row: 3, num },
      { polling: 5 },
    );
    await page.keyboard.type('written without a pause', { delay: 40 });
    await page.keyboard.press('Enter');
    await expect.poll(() => countOf(api, id, { field: 'note', op: 'ne', value: 'as found' })).toBe(1);
    expect(await valuesOf(api, id, num)).toMatchObject({ note: 'written without a pause' });
  });

  test('are notified when the fields of the project change', async ({ visit, api }) => {
    const id = await bridge(api);
    const page = await ProjectPage.open(await visit(), id);
    await api.call('POST', '/v1/projects/{project}/attributes', { path: { project: id }, body: { id: 'color', name: 'Color', type: 'text' } });
    await page.head('Color').waitFor();
    await page.rows();
    await type(page, 0, 'Note', 'mine');
    await expect.poll(() => valuesOf(api, id, 1)).toMatchObject({ note: 'mine' });
    await api.call('PATCH', '/v1/projects/{project}/attributes/{attribute}', { path: { project: id, attribute: 'color' }, body: { name: 'Paint' } });
    await page.page.getByRole('button', { name: 'Reload' }).click();
    await page.head('Paint').waitFor();
    // A deleted field can be restored at once, or later; it returns to its former place, with its values.
    const kinds = await page.column('Kind');
    const heads = await page.page.getByRole('columnheader').allInnerTexts();
    await page.more('Project settings');
    const settings = page.page.getByRole('dialog');
    const deletes = async () => {
      await settings.getByText('Kind', { exact: true }).click();
      await settings.getByRole('button', { name: 'Delete field' }).click();
      await settings.getByRole('button', { name: 'Delete field' }).click();
      await settings.getByText(/^Deleted “Kind”\. You can restore it until /).waitFor();
    };
    await deletes();
    await settings.getByText('Deleted fields…').click();
    await settings.getByText('1 field', { exact: true }).waitFor();
    expect(await findings(page.page)).toEqual([]);
    await settings.getByRole('group', { name: /^Deleted “Kind”/ }).getByRole('button', { name: 'Restore Kind' }).press('Enter');
    await settings.getByText('Restored “Kind”.').waitFor();
    await deletes();
    await settings.getByRole('button', { name: 'Close', exact: true }).last().click();
    await settings.getByRole('listitem').getByRole('button', { name: 'Restore Kind' }).click();
    await settings.getByText('Restored “Kind”. No deleted fields.').waitFor();
    await page.page.keyboard.press('Escape');
    await expect.poll(() => page.page.getByRole('columnheader').allInnerTexts()).toEqual(heads);
    await expect.poll(() => page.column('Kind')).toEqual(kinds);
  });
});

test('an issue that another user deleted is restored from the trash with its number and history', async ({ visit, api }) => {
  const id = await bridge(api);
  const page = await ProjectPage.open(await visit(), id);
  await type(page, 1, 'Note', 'changed');
  await (await page.cell(1, 'Name')).click();
  await page.page.keyboard.press('Space');
  const panel = page.page.getByRole('complementary');
  await panel.getByText('History', { exact: true }).click();
  await expect.poll(() => panel.locator('.history del').allInnerTexts()).toEqual(['as found']);
  await api.call('DELETE', '/v1/projects/{project}/issues/{num}', { path: { project: id, num: 2 } });
  await expect.poll(() => page.column('Name')).toEqual(['Part 1', 'Part 3']);
  await page.more('Trash');
  const trash = page.panel('Trash');
  await trash.getByRole('button', { name: 'Restore Part 2' }).click();
  await trash.getByText('The trash is empty.').waitFor();
  await page.page.keyboard.press('Escape');
  await expect.poll(() => page.column('Name')).toEqual(['Part 1', 'Part 2', 'Part 3']);
  await expect.poll(() => valuesOf(api, id, 2)).toMatchObject({ note: 'changed' });
});

test('an open trash shows what others delete and restore', async ({ visit, api }) => {
  const id = await bridge(api);
  const page = await ProjectPage.open(await visit(), id);
  await page.more('Trash');
  const trash = page.panel('Trash');
  await trash.getByText('The trash is empty.').waitFor();
  const path = { project: id, num: 2 };
  await api.call('DELETE', '/v1/projects/{project}/issues/{num}', { path });
  await trash.getByRole('button', { name: 'Restore Part 2' }).waitFor();
  await api.call('POST', '/v1/projects/{project}/trash/{num}/restore', { path });
  await trash.getByText('The trash is empty.').waitFor();
});

test('a change is undone in the history of an issue, and a delete by the undo keys', async ({ visit, api }) => {
  const id = await bridge(api);
  const page = await ProjectPage.open(await visit(), id);
  await type(page, 1, 'Note', 'changed');
  await expect.poll(() => valuesOf(api, id, 2)).toMatchObject({ note: 'changed' });
  await (await page.cell(1, 'Name')).click();
  await page.page.keyboard.press('Space');
  const panel = page.page.getByRole('complementary');
  await panel.getByText('History', { exact: true }).click();
  await expect.poll(() => panel.locator('.history del').allInnerTexts()).toEqual(['as found']);
  await panel.getByRole('button', { name: /^Undo the change of/ }).first().click();
  await panel.getByText('Undone in 1 issue.').waitFor();
  expect(await valuesOf(api, id, 2)).toMatchObject({ note: 'as found' });
  // It is a step of undo like any other.
  await page.tool('Undo').click();
  await expect.poll(() => valuesOf(api, id, 2)).toMatchObject({ note: 'changed' });
  await page.tool('Redo').click();
  await expect.poll(() => valuesOf(api, id, 2)).toMatchObject({ note: 'as found' });

  // A change of several issues is undone in this one only, or in all.
  const write = async (note: string) => {
    const operations = [1, 2, 3].map((num) => ({ update: { num, fields: { note } } }));
    await api.call('POST', '/v1/projects/{project}/issues/batch', { path: { project: id }, body: { operations } });
    await expect.poll(() => panel.locator('.history ins').first().innerText()).toBe(note);
  };
  await write('all of them');
  const notes = async () => (await Promise.all([1, 2, 3].map((num) => valuesOf(api, id, num)))).map(({ note }) => note);
  const undoLast = () => panel.getByRole('button', { name: /^Undo the change of/ }).first().click();
  const question = page.page.getByRole('dialog', { name: 'Undo a change of 3 issues?' });
  await undoLast();
  await question.getByText('This change affected 3 issues. Undo it only in this issue, or in all of them.').waitFor();
  expect(await findings(page.page)).toEqual([]);
  await question.getByRole('button', { name: 'Cancel' }).click();
  expect(await notes()).toEqual(['all of them', 'all of them', 'all of them']);
  await undoLast();
  await question.getByRole('button', { name: 'Only this issue' }).click();
  await expect.poll(notes).toEqual(['all of them', 'as found', 'all of them']);
  await panel.getByText('Undone in 1 issue.').waitFor();
  await page.tool('Undo').click();
  await expect.poll(notes).toEqual(['all of them', 'all of them', 'all of them']);
  await page.tool('Redo').click();
  await expect.poll(notes).toEqual(['all of them', 'as found', 'all of them']);
  await write('once more');
  await undoLast();
  await question.getByRole('button', { name: 'All 3 issues' }).click();
  await expect.poll(notes).toEqual(['all of them', 'as found', 'all of them']);
  await page.page.keyboard.press('Escape');

  await (await page.cell(1, 'Name')).click();
  await page.tool('Delete rows').click();
  await page.page.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect.poll(() => page.column('Name')).toEqual(['Part 1', 'Part 3']);
  await page.tool('Undo').click();
  await page.page.getByText('Restored 1 issue.').waitFor();
  expect(await valuesOf(api, id, 2)).toMatchObject({ name: 'Part 2', note: 'as found' });
});

test('a deleted project is restored with its issues, at once or from the list of projects', async ({ visit, api }) => {
  const id = await makeProject(api, { name: 'Short life', fields: PARTS, issues: parts(2) });
  const visited = await visit();
  const { page } = visited;
  const restore = () => page.getByRole('button', { name: 'Restore Short life' });
  const deletes = async () => {
    const opened = await ProjectPage.open(visited, id);
    await opened.more('Project settings');
    await page.getByText('Name, states, deletion').click();
    await page.getByRole('button', { name: 'Delete project' }).click();
    await page.getByRole('button', { name: 'Delete project' }).click();
    await page.getByText(/^Deleted “Short life”\. You can restore it until /).waitFor();
  };
  await deletes();
  expect(await findings(page)).toEqual([]);
  await restore().press('Enter');
  await page.getByText('Restored “Short life”.').waitFor();
  const link = page.getByRole('link', { name: `Short life ${id}` });
  await link.waitFor();
  await deletes();
  await page.getByRole('button', { name: 'Close', exact: true }).click();
  await page.getByText('Deleted projects…').click();
  await restore().click();
  await page.getByText(/^Restored “Short life”\. /).waitFor();
  await link.click();
  await expect.poll(() => new ProjectPage(page, id).column('Name')).toEqual(['Part 1', 'Part 2']);
});
