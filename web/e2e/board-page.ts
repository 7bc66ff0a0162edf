/** A board in the browser as its users see it: by roles and labels. */
import type { CDPSession, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Board } from '../src/view/board';
import type { Visit } from './browser';
import { boxOf } from './dragging';

export class BoardPage {
  readonly board: Locator;

  constructor(readonly page: Page) {
    this.board = page.getByRole('group', { name: /^Board of / });
  }

  /** Open a project as a board, with further parts of its view in the form of addresses. */
  static async open({ page }: Pick<Visit, 'page'>, project: string, board: Partial<Board> = {}, view = ''): Promise<BoardPage> {
    const whole = { by: 'state', columns: [], card: [], aggregate: null, ...board };
    await page.goto(`/projects/${project}?kind=board&board=${encodeURIComponent(JSON.stringify(whole))}${view && `&${view}`}`);
    const opened = new BoardPage(page);
    await opened.board.waitFor();
    return opened;
  }

  /** A column by its name. */
  column(name: string): Locator {
    return this.board.getByRole('group', { name: new RegExp(`^${escaped(name)}, [\\d,]+ cards?$`) });
  }

  list(name: string): Locator {
    return this.column(name).getByRole('listbox');
  }

  card(name: string): Locator {
    return this.board.getByRole('option', { name: new RegExp(`^${escaped(name)} No\\.`) });
  }

  /** The names of the columns, in their order, with the numbers of their cards. */
  columns(): Promise<readonly string[]> {
    return this.board.getByRole('listbox').evaluateAll((lists) => lists.map((list) => (list.getAttribute('aria-label') ?? '').replace(/ cards?$/, '')));
  }

  /** The names of the cards that are drawn in a column, from the top; loading ones are ….  */
  async cards(column: string): Promise<readonly string[]> {
    const shown = await this.list(column)
      .getByRole('option')
      .evaluateAll((cards) => cards.map((card) => [Number(card.getAttribute('aria-posinset')), card.querySelector('.card-name')?.textContent ?? '…'] as const));
    return [...shown].sort(([a], [b]) => a - b).map(([, name]) => name);
  }

  async hasCards(column: string, names: readonly string[]): Promise<void> {
    await expect.poll(() => this.cards(column)).toEqual(names);
  }

  /** Drag a card to a column by the mouse; `drops`: release it there. */
  async drag(card: string, column: string, { drops = true } = {}): Promise<void> {
    const { mouse, keyboard } = this.page;
    const take = async () => {
      // A card that moves meanwhile is drawn again in its new column.
      const from = await centerOf(this.card(card)).catch(() => null);
      if (!from) return undefined;
      await mouse.move(from.x, from.y);
      await mouse.down();
      await mouse.move(from.x + 8, from.y + 8, { steps: 2 });
      return (await this.page.locator('.drag-ghost').allInnerTexts())[0];
    };
    // Changes of others move cards away from under the mouse; several cards have their number beside it.
    for (let taken = await take(); taken !== card && !taken?.endsWith(' cards'); taken = await take()) {
      await keyboard.press('Escape');
      await mouse.up();
    }
    const to = await centerOf(this.column(column));
    await mouse.move(to.x, to.y, { steps: 4 });
    if (drops) await mouse.up();
  }

  /** Drag a card by its handle to a column with a finger. */
  async dragByFinger(session: CDPSession, card: string, column: string): Promise<void> {
    const [from, to] = [await centerOf(this.card(card).locator('.grip')), await centerOf(this.column(column))];
    await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [from] });
    for (const part of [0.1, 0.4, 0.7, 1]) {
      const at = { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
      await session.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: [at] });
    }
    await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  }

  /** Choose from the menu of a column. */
  async columnMenu(column: string, entry: string): Promise<void> {
    await this.column(column).getByRole('button', { name: `${column} column menu` }).click();
    await this.page.getByRole('menu').getByText(entry, { exact: true }).click();
  }
}

async function centerOf(element: Locator): Promise<{ readonly x: number; readonly y: number }> {
  await element.scrollIntoViewIfNeeded();
  const box = await boxOf(element);
  return { x: box.x + box.width / 2, y: box.y + Math.min(box.height / 2, 200) };
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
