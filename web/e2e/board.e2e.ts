import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Api } from '../src/api/client';
import { findings } from './accessibility';
import { BoardPage } from './board-page';
import { ProjectPage } from './project-page';
import { makeProject, PARTS, valuesOf } from './projects';
import { ADMIN } from './stack';
import { test } from './test';

const VIEWER = { ...ADMIN, user: 'vic', role: 'viewer' } as const;
const STATES = ['open', 'doing', 'done'];
const NAMES = ['Anchor', 'Beam', 'Cable', 'Deck', 'Eye', 'Flange'];

/** Six issues: four open, two in work. */
const bridge = (api: Api): Promise<string> =>
  makeProject(api, {
    name: 'Board',
    states: STATES,
    fields: PARTS,
    issues: NAMES.map((name, at) => ({ name, state: at < 4 ? 'open' : 'doing', fields: { weight: 10 * (at + 1), kind: at % 2 ? 'bolt' : 'beam' } })),
  });

/** Random moves of each window, in a thorough run. */
const MOVES = process.env['GRIDVIEW_THOROUGH'] === undefined ? 0 : 200;

/** Whole numbers below a limit, the same in each run. */
function randomFrom(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7f_ff_ff_ff;
    return (state >> 8) % limit;
  };
}

function isPairOfEquals(text: string): boolean {
  const [one, other] = JSON.parse(text) as readonly unknown[];
  return JSON.stringify(one) === JSON.stringify(other);
}

/** The name of the card in focus. */
const activeCard = (page: Page) =>
  page.evaluate(() => document.getElementById(document.activeElement?.getAttribute('aria-activedescendant') ?? '')?.querySelector('.card-name')?.textContent);

const stateOf = async (api: Api, id: string, num: number) => (await valuesOf(api, id, num))['state'];

describe('a board', () => {
  test('has its cards in columns by state, and a drag by the mouse changes the value; undo brings it back', async ({ visit, api }) => {
    const id = await bridge(api);
    const visited = await visit();
    const board = await BoardPage.open(visited, id, { card: ['weight', 'kind'], aggregate: { field: 'weight', function: 'sum' } });
    await board.hasCards('open', ['Anchor', 'Beam', 'Cable', 'Deck']);
    expect(await board.columns()).toEqual(['open, 4', 'doing, 2', 'done, 0']);
    await board.column('open').getByText('Sum of Weight 100').waitFor();
    expect(await board.card('Beam').innerText()).toContain('bolt');

    await board.drag('Beam', 'done');
    // At once, and the same from the API.
    expect(await board.cards('done')).toEqual(['Beam']);
    await board.hasCards('open', ['Anchor', 'Cable', 'Deck']);
    await expect.poll(() => stateOf(api, id, 2)).toBe('done');
    await visited.page.getByText('Moved “Beam” to done.').waitFor();
    await board.column('done').getByText('Sum of Weight 20').waitFor();
    await expect.poll(() => board.columns()).toEqual(['open, 3', 'doing, 2', 'done, 1']);

    // In the order of the column, which is that of the numbers.
    await board.drag('Eye', 'open');
    await board.hasCards('open', ['Anchor', 'Cable', 'Deck', 'Eye']);
    await visited.page.keyboard.press('Control+z');
    await board.hasCards('doing', ['Eye', 'Flange']);
    await expect.poll(() => stateOf(api, id, 5)).toBe('doing');
    await visited.page.getByRole('button', { name: 'Undo' }).click();
    await board.hasCards('open', ['Anchor', 'Beam', 'Cable', 'Deck']);
    await expect.poll(() => stateOf(api, id, 2)).toBe('open');

    // Escape cancels a drag.
    await board.drag('Cable', 'done', { drops: false });
    await visited.page.keyboard.press('Escape');
    await visited.page.mouse.up();
    await visited.page.getByText('Cancelled. “Cable” stays in place.').waitFor();
    await board.hasCards('done', []);
  });

  test('moves all chosen cards as one step', async ({ visit, api }) => {
    const id = await bridge(api);
    const { page } = await visit();
    const board = await BoardPage.open({ page }, id);
    await board.card('Anchor').click();
    await board.card('Cable').click({ modifiers: ['Shift'] });
    await board.card('Flange').click({ modifiers: ['Control'] });
    await page.getByRole('group', { name: 'Checked issues' }).getByText('4').first().waitFor();
    await board.drag('Beam', 'done');
    await board.hasCards('done', ['Anchor', 'Beam', 'Cable', 'Flange']);
    await expect.poll(() => Promise.all([1, 2, 3, 4, 5, 6].map((num) => stateOf(api, id, num)))).toEqual(['done', 'done', 'done', 'open', 'doing', 'done']);
    await page.keyboard.press('Control+z');
    await board.hasCards('open', ['Anchor', 'Beam', 'Cable', 'Deck']);
    await board.hasCards('doing', ['Eye', 'Flange']);
    await expect.poll(() => stateOf(api, id, 6)).toBe('doing');
  });

  test('gives the focus to a card that was loading when the focus came, unless the focus has gone on', async ({ visit, api }) => {
    const id = await bridge(api);
    const { page } = await visit();
    const send: (() => void)[] = [];
    let isHeld = true;
    await page.route('**/grid', async (route) => {
      const response = await route.fetch();
      if (isHeld) await new Promise<void>((resolve) => send.push(resolve));
      await route.fulfill({ response });
    });
    const board = await BoardPage.open({ page }, id);
    await board.list('open').focus();
    isHeld = false;
    for (const answer of send.splice(0)) answer();
    await expect.poll(() => activeCard(page)).toBe('Anchor');

    isHeld = true;
    await page.reload();
    await board.list('doing').focus();
    const filter = page.getByRole('toolbar').getByRole('button', { name: 'Filter' });
    await filter.focus();
    isHeld = false;
    for (const answer of send.splice(0)) answer();
    await board.hasCards('doing', ['Eye', 'Flange']);
    await expect.poll(() => filter.evaluate((element) => element === document.activeElement)).toBe(true);
  });

  test('is operated by keys, which are announced', async ({ visit, api }) => {
    const id = await bridge(api);
    const { page } = await visit();
    const board = await BoardPage.open({ page }, id);
    const keys = page.keyboard;
    const announced = (text: string) => page.locator('[aria-live="assertive"]').getByText(text).waitFor();
    const active = () => activeCard(page);
    await board.list('open').focus();
    await expect.poll(active).toBe('Anchor');
    await keys.press('ArrowDown');
    await expect.poll(active).toBe('Beam');
    await keys.press('ArrowRight');
    await expect.poll(active).toBe('Flange');
    await keys.press('ArrowLeft');
    await keys.press('Home');
    await expect.poll(active).toBe('Anchor');

    await keys.press('Space');
    await announced('Picked up “Anchor” from open.');
    await keys.press('ArrowRight');
    await announced('doing, column 2 of 3.');
    await keys.press('ArrowRight');
    await announced('done, column 3 of 3.');
    await keys.press('ArrowLeft');
    await keys.press('Space');
    await page.getByText('Moved “Anchor” to doing.').waitFor();
    await board.hasCards('doing', ['Anchor', 'Eye', 'Flange']);
    // The focus goes along.
    await expect.poll(active).toBe('Anchor');
    await expect.poll(() => stateOf(api, id, 1)).toBe('doing');

    await keys.press('Space');
    await keys.press('ArrowRight');
    await keys.press('Escape');
    await page.getByText('Cancelled. “Anchor” stays in place.').waitFor();
    expect(await board.cards('done')).toEqual([]);

    await keys.press('Enter');
    const panel = page.getByRole('complementary');
    await panel.getByText('No comments yet.').waitFor();
    await panel.getByRole('button', { name: 'Next' }).click();
    await expect.poll(active).toBe(undefined);
    await panel.getByText('Eye', { exact: true }).first().waitFor();
    await panel.getByRole('button', { name: 'Close' }).click();

    // The menu moves a card without a drag.
    await board.card('Deck').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Move to done' }).click();
    await board.hasCards('done', ['Deck']);
    await expect.poll(() => stateOf(api, id, 4)).toBe('done');
  });

  test('returns the focus to the card of the panel, also if that has moved meanwhile', async ({ visit, api }) => {
    const id = await bridge(api);
    const { page } = await visit();
    const board = await BoardPage.open({ page }, id);
    const panel = page.getByRole('complementary');
    const shows = (name: string) => panel.getByText(name, { exact: true }).first().waitFor();
    await board.list('open').focus();
    await expect.poll(() => activeCard(page)).toBe('Anchor');
    await page.keyboard.press('Enter');
    await shows('Anchor');
    await page.keyboard.press('j');
    await shows('Beam');
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'hidden' });
    await expect.poll(() => activeCard(page)).toBe('Beam');

    for (const close of [() => page.keyboard.press('Escape'), () => panel.getByRole('button', { name: 'Close' }).click()]) {
      await page.keyboard.press('Enter');
      await shows('Beam');
      const from = await stateOf(api, id, 2);
      await api.call('PATCH', '/v1/projects/{project}/issues/{num}', { path: { project: id, num: 2 }, body: { state: from === 'open' ? 'done' : 'open' } });
      await board.hasCards('done', from === 'open' ? ['Beam'] : []);
      await close();
      await panel.waitFor({ state: 'hidden' });
      await expect.poll(() => activeCard(page)).toBe('Beam');
    }
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => activeCard(page)).toBe('Cable');
  });

  test('keeps the focus on a card that no column has for a moment', async ({ visit, api }) => {
    const id = await bridge(api);
    const { page } = await visit();
    // The answers wait until the test sends them, and those for the column “open” lack the card while it is late.
    const waiting: (() => void)[] = [];
    let isHeld = false;
    let isLate = false;
    let before: unknown;
    await page.route('**/grid', async (route) => {
      const response = await route.fetch();
      if (isHeld) await new Promise<void>((resolve) => waiting.push(resolve));
      const answer = (await response.json()) as { readonly rows: readonly { readonly num: number }[]; readonly changes_cursor: unknown };
      before ??= answer.changes_cursor;
      const rows = answer.rows.filter(({ num }) => num !== 2);
      await route.fulfill({ response, json: isLate && rows.length === 3 ? { ...answer, rows, changes_cursor: before } : answer });
    });
    const board = await BoardPage.open({ page }, id);
    const panel = page.getByRole('complementary');
    const showsBeam = () => panel.getByText('Beam', { exact: true }).first().waitFor();
    const moveTo = (state: string) => api.call('PATCH', '/v1/projects/{project}/issues/{num}', { path: { project: id, num: 2 }, body: { state } });
    const leave = async () => {
      await moveTo('done');
      await board.hasCards('done', ['Beam']);
      isHeld = isLate = true;
      await moveTo('open');
      await board.hasCards('open', NAMES.slice(0, 4));
      isHeld = false;
      for (const send of waiting.splice(0)) send();
      await board.hasCards('open', ['Anchor', 'Cable', 'Deck', '…']);
    };
    const arrive = async () => {
      isLate = false;
      await board.hasCards('open', NAMES.slice(0, 4));
    };
    await board.card('Beam').click();

    await leave();
    await expect.poll(() => activeCard(page)).toBe('Cable');
    await arrive();
    await expect.poll(() => activeCard(page)).toBe('Beam');

    await page.keyboard.press('Enter');
    await showsBeam();
    await leave();
    await showsBeam();
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'hidden' });
    await expect.poll(() => activeCard(page)).toBe('Cable');
    await arrive();
    await expect.poll(() => activeCard(page)).toBe('Beam');

    // The user has gone on meanwhile.
    await leave();
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => activeCard(page)).toBe('Deck');
    await arrive();
    expect(await activeCard(page)).toBe('Deck');
  });

  test('asks about a card that another user moves while it is carried', async ({ visit, api }) => {
    const id = await bridge(api);
    const visited = await visit();
    const { page } = visited;
    const following = page.waitForEvent('websocket');
    const board = await BoardPage.open(visited, id);
    const socket = await following;
    await board.card('Anchor').click();
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowRight');
    const delivered = socket.waitForEvent('framereceived', ({ payload }) => String(payload).includes('"state"'));
    await api.call('PATCH', '/v1/projects/{project}/issues/{num}', { path: { project: id, num: 1 }, body: { state: 'done' } });
    await delivered;
    await page.keyboard.press('Space');
    await page.getByRole('dialog', { name: 'Someone else changed this' }).getByRole('button', { name: 'Keep Theirs' }).click();
    await board.hasCards('done', ['Anchor']);
    expect(await stateOf(api, id, 1)).toBe('done');
  });

  test('is operated by a finger, at the handle of a card', async ({ visit, api }) => {
    const id = await bridge(api);
    const { page, context } = await visit();
    const session = await context.newCDPSession(page);
    await session.send('Emulation.setEmulatedMedia', { features: [{ name: 'hover', value: 'none' }, { name: 'pointer', value: 'coarse' }] });
    await session.send('Emulation.setTouchEmulationEnabled', { enabled: true });
    const board = await BoardPage.open({ page }, id);
    await board.hasCards('doing', ['Eye', 'Flange']);
    await board.dragByFinger(session, 'Eye', 'done');
    await board.hasCards('done', ['Eye']);
    await expect.poll(() => stateOf(api, id, 5)).toBe('done');
  });

  test('shows limits, and hides, moves and counts columns', async ({ visit, api }) => {
    const id = await bridge(api);
    const { page } = await visit();
    const board = await BoardPage.open({ page }, id);
    await page.getByRole('toolbar').getByRole('button', { name: 'Board', exact: true }).click();
    const panel = page.getByRole('dialog', { name: 'Board', exact: true });
    await panel.getByLabel('Limit of open').fill('3');
    await panel.getByLabel('Limit of doing').fill('5');
    await panel.getByLabel('Limit of doing').blur();
    await board.column('open').getByText('4 / 3').waitFor();
    await board.column('open').getByText('1 card over the limit').waitFor();
    await board.column('doing').getByText('2 / 5').waitFor();
    expect(await board.column('doing').getByText('over the limit').count()).toBe(0);
    // What is typed stays while others change the board.
    await panel.getByLabel('Limit of done').pressSequentially('1');
    await api.call('PATCH', '/v1/projects/{project}/issues/{num}', { path: { project: id, num: 6 }, body: { state: 'done' } });
    await board.hasCards('done', ['Flange']);
    await panel.getByLabel('Limit of done').pressSequentially('2');
    await panel.getByLabel('Limit of done').blur();
    await board.column('done').getByText('1 / 12').waitFor();
    await api.call('PATCH', '/v1/projects/{project}/issues/{num}', { path: { project: id, num: 6 }, body: { state: 'doing' } });
    await board.hasCards('done', []);
    expect(await findings(page)).toEqual([]);

    // By keys, and by a drag in the panel.
    await panel.getByLabel('done', { exact: true }).focus();
    await page.keyboard.press('Alt+ArrowUp');
    await expect.poll(() => board.columns()).toEqual(['open, 4', 'done, 0', 'doing, 2']);
    await panel.getByRole('listitem').filter({ hasText: 'doing' }).locator('.grip').dragTo(panel.getByRole('listitem').filter({ hasText: 'open' }).first(), { targetPosition: { x: 20, y: 2 } });
    await expect.poll(() => board.columns()).toEqual(['doing, 2', 'open, 4', 'done, 0']);
    await panel.getByLabel('Weight').check();
    await page.keyboard.press('Escape');
    await board.card('Deck').getByText('40').waitFor();

    // A card may be dropped into a full column, and into a hidden one.
    await board.columnMenu('open', 'Hide column');
    const hidden = board.board.getByRole('button', { name: /open 4 \/ 3/ });
    await hidden.waitFor();
    expect(await board.columns()).toEqual(['doing, 2', 'done, 0']);
    await hidden.click();
    await expect.poll(() => board.columns()).toEqual(['doing, 2', 'open, 4', 'done, 0']);
    await board.drag('Eye', 'open');
    await board.column('open').getByText('5 / 3').waitFor();
    await expect.poll(() => stateOf(api, id, 5)).toBe('open');
    // All of it is in the address.
    await page.reload();
    await board.column('open').getByText('5 / 3').waitFor();
    await expect.poll(() => board.columns()).toEqual(['doing, 1', 'open, 5', 'done, 0']);
  });

  test('makes a card in a column; an empty name leaves nothing', async ({ visit, api }) => {
    const id = await bridge(api);
    const { page } = await visit();
    const board = await BoardPage.open({ page }, id);
    await board.column('done').getByRole('button', { name: 'New card in done' }).click();
    await page.getByLabel('Name of the new card').press('Escape');
    await page.getByLabel('Name of the new card').waitFor({ state: 'hidden' });
    await board.column('done').getByRole('button', { name: 'New card in done' }).click();
    await page.keyboard.type('Gusset');
    await page.keyboard.press('Enter');
    await board.hasCards('done', ['Gusset']);
    await expect.poll(() => valuesOf(api, id, 7).catch(() => ({}))).toMatchObject({ name: 'Gusset', state: 'done' });
    // Each new card has the focus.
    await board.column('open').getByRole('button', { name: 'New card in open' }).click();
    await page.keyboard.type('Hanger');
    await page.keyboard.press('Enter');
    await expect.poll(() => activeCard(page)).toBe('Hanger');
    await page.keyboard.press('Control+z');
    await expect.poll(() => board.cards('open')).not.toContain('Hanger');
    await board.card('Gusset').click();
    await page.keyboard.press('Space');
    await page.locator('[aria-live="assertive"]').getByText('Picked up “Gusset” from done.').waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Space');
    // It is on top until the focus leaves it.
    await board.hasCards('doing', ['Gusset', 'Eye', 'Flange']);
    await board.card('Eye').click();
    await board.hasCards('doing', ['Eye', 'Flange', 'Gusset']);
    await expect.poll(() => stateOf(api, id, 7)).toBe('doing');
    await page.keyboard.press('Control+z');
    await board.hasCards('done', ['Gusset']);
    await page.keyboard.press('Control+z');
    await board.hasCards('done', []);
  });

  test('asks for the required fields of a new card', async ({ visit, api }) => {
    const id = await makeProject(api, {
      name: 'Required',
      states: STATES,
      fields: [
        { id: 'cost', name: 'Cost', type: 'number', required: true },
        { id: 'safe', name: 'Safe', type: 'bool', required: true },
        { id: 'kind', name: 'Kind', type: 'enum', required: true, options: [{ value: 'beam' }, { value: 'bolt' }] },
        { id: 'site', name: 'Site', type: 'text', required: true, default: 'North' },
      ],
      issues: [],
    });
    const { page } = await visit();
    const board = await BoardPage.open({ page }, id);
    const column = board.column('done');
    await column.getByRole('button', { name: 'New card in done' }).click();
    await page.keyboard.type('Gusset');
    await page.keyboard.press('Enter');
    await column.getByText('Cost needs a value.').waitFor();
    expect(await column.getByLabel('Site').count()).toBe(0);
    await column.getByLabel('Safe').selectOption('No');
    // Asked for elsewhere, it comes along with all that was entered; also when the view changes.
    const open = board.column('open');
    await open.getByRole('button', { name: 'New card in open' }).click();
    await expect.poll(() => open.getByLabel('Name of the new card').inputValue()).toBe('Gusset');
    await page.getByRole('button', { name: 'Show as grid' }).click();
    await page.getByText('Gusset').first().waitFor();
    await page.getByRole('button', { name: 'Show as board' }).click();
    await column.getByRole('button', { name: 'New card in done' }).click();
    await expect.poll(() => column.getByLabel('Name of the new card').inputValue()).toBe('Gusset');
    await expect.poll(() => column.getByLabel('Safe').locator('option:checked').innerText()).toBe('No');
    await column.getByLabel('Cost').fill('dear');
    await column.getByLabel('Safe').selectOption('No');
    await column.getByLabel('Kind').selectOption('bolt');
    await column.getByRole('button', { name: 'Create the card' }).click();
    await column.getByText('Cost needs a value.').waitFor({ state: 'hidden' });
    await expect.poll(() => column.getByLabel('Cost').getAttribute('aria-invalid')).toBe('true');
    await column.getByLabel('Cost').fill('5');
    await column.getByLabel('Cost').press('Enter');
    await board.hasCards('done', ['Gusset']);
    await expect.poll(() => valuesOf(api, id, 1).catch(() => ({}))).toMatchObject({ name: 'Gusset', state: 'done', cost: 5, safe: false, kind: 'bolt', site: 'North' });
    // One undo takes all of it back.
    await page.keyboard.press('Control+z');
    await board.hasCards('done', []);
  });

  test('is only looked at by viewers', async ({ visit, api }) => {
    const id = await bridge(api);
    const { page } = await visit(VIEWER);
    const board = await BoardPage.open({ page }, id);
    await board.hasCards('doing', ['Eye', 'Flange']);
    await board.card('Eye').dragTo(board.column('done'));
    await page.keyboard.press('Space');
    expect(await board.board.getByRole('button', { name: /^New card/ }).count()).toBe(0);
    await board.hasCards('doing', ['Eye', 'Flange']);
    expect(await stateOf(api, id, 5)).toBe('doing');
  });

  test('waits for the connection, and keeps a card that the API refused in its column', async ({ visit, api }) => {
    const id = await bridge(api);
    const { page, context } = await visit();
    const board = await BoardPage.open({ page }, id);
    await board.hasCards('doing', ['Eye', 'Flange']);
    await context.setOffline(true);
    await board.drag('Eye', 'done');
    await board.hasCards('done', ['Eye']);
    expect(await stateOf(api, id, 5)).toBe('doing');
    await context.setOffline(false);
    await expect.poll(() => stateOf(api, id, 5)).toBe('done');
    await page.route('**/issues/6', (route) => (route.request().method() === 'PATCH' ? route.fulfill({ status: 400, contentType: 'application/problem+json', body: '{"type":"x","title":"Not now","status":400}' }) : route.continue()));
    await board.drag('Flange', 'done');
    await page.getByText('1 card could not be moved.').waitFor();
    await board.hasCards('doing', ['Flange']);
    await board.card('Flange').getByText('Not now').waitFor();
  });
});

describe('two windows on one board', () => {
  test('end equal after each has moved cards', async ({ visit, api }) => {
    const id = await bridge(api);
    const [one, other] = [await BoardPage.open(await visit(), id), await BoardPage.open(await visit(), id)];
    await one.hasCards('open', ['Anchor', 'Beam', 'Cable', 'Deck']);
    await other.hasCards('doing', ['Eye', 'Flange']);
    const moves = [[one, 'Anchor', 'done'], [other, 'Flange', 'open'], [one, 'Beam', 'doing'], [other, 'Eye', 'done'], [one, 'Cable', 'done'], [other, 'Deck', 'doing']] as const;
    for (const [board, card, column] of moves) await board.drag(card, column);
    const shown = (board: BoardPage) => Promise.all(STATES.map((state) => board.cards(state)));
    const wanted = [['Flange'], ['Beam', 'Deck'], ['Anchor', 'Cable', 'Eye']];
    for (const board of [one, other]) {
      await expect.poll(() => shown(board)).toEqual(wanted);
      await expect.poll(() => board.columns()).toEqual(['open, 1', 'doing, 2', 'done, 3']);
    }
  });

  test.runIf(MOVES > 0)('end equal after many random moves in each', async ({ visit, api }) => {
    const id = await bridge(api);
    const boards = [await BoardPage.open(await visit(), id), await BoardPage.open(await visit(), id)];
    const shown = (board: BoardPage) => Promise.all(STATES.map((state) => board.cards(state)));
    for (const board of boards) await board.hasCards('doing', ['Eye', 'Flange']);
    const random = randomFrom(33);
    // Each moves cards of its own, at the same time: both would ask the user about a card that both have moved.
    const sequences = boards.map((board, at) => ({ board, names: NAMES.filter((_, place) => place % 2 === at) }));
    await Promise.all(
      sequences.map(async ({ board, names }) => {
        for (let count = 0; count < MOVES; count += 1) await board.drag(names[random(names.length)] ?? '', STATES[random(STATES.length)] ?? '');
      }),
    );
    const states = () => Promise.all(NAMES.map((_, at) => stateOf(api, id, at + 1)));
    const wanted = async () => {
      const values = await states();
      return STATES.map((state) => NAMES.filter((_, at) => values[at] === state));
    };
    for (const board of boards) await expect.poll(async () => JSON.stringify([await shown(board), await wanted()])).toSatisfy(isPairOfEquals);
  }, 20 * 60_000);
});

describe('a saved board', () => {
  test('is made beside the other views, and is a grid when its field is gone', async ({ visit, api }) => {
    const id = await bridge(api);
    const project = await ProjectPage.open(await visit(), id);
    const { page } = project;
    await page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: 'New board' }).click();
    const window = page.getByRole('dialog', { name: 'New board' });
    await window.getByLabel('View name').fill('By kind');
    await window.getByLabel('Columns by').selectOption('Kind');
    await window.getByLabel('Everyone', { exact: true }).check();
    await window.getByRole('button', { name: 'Save' }).click();
    const board = new BoardPage(page);
    await board.hasCards('bolt', ['Beam', 'Deck', 'Flange']);
    expect(await board.columns()).toEqual(['beam, 3', 'bolt, 3', 'plate, 0', '(Empty), 0']);
    expect(project.view.toString()).toBe('view=v1');
    expect(await findings(page)).toEqual([]);

    // As a grid and back.
    await page.getByRole('button', { name: 'Show as grid' }).click();
    await expect.poll(() => project.column('Name')).toEqual(NAMES);
    await page.getByRole('button', { name: 'Show as board' }).click();
    await board.hasCards('bolt', ['Beam', 'Deck', 'Flange']);
    await expect.poll(() => project.view.toString()).toBe('view=v1');

    // Search, filter and sort are those of the view.
    await page.getByLabel('Search issues').fill('e');
    await page.keyboard.press('Enter');
    await board.hasCards('bolt', ['Beam', 'Deck', 'Flange']);
    await board.hasCards('beam', ['Cable', 'Eye']);

    await api.call('DELETE', '/v1/projects/{project}/attributes/{attribute}', { path: { project: id, attribute: 'kind' } });
    await page.goto(`/projects/${id}?view=v1`);
    await page.getByText('The field of this board no longer exists, so the view opens as a grid.').waitFor();
    await expect.poll(() => project.column('Name')).toEqual(NAMES);
  });

  test('is the demo’s “Work by state”, in light and dark', async ({ visit }) => {
    for (const scheme of ['light', 'dark'] as const) {
      const { page } = await visit(ADMIN, { scheme });
      await page.goto('/projects/demo');
      await page.getByRole('link', { name: /^Work by state/ }).click();
      const board = new BoardPage(page);
      await board.column('in progress').getByText('over the limit').waitFor();
      await board.board.getByRole('option', { name: /No\. \d/ }).first().waitFor();
      expect(await findings(page)).toEqual([]);
    }
  });
});
