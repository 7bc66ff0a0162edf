/** A project in the browser as its users see it: by roles and labels. */
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Visit } from './browser';
import { boxOf } from './dragging';

/**
 * A row that is in view: its number on the screen, from 0, and the texts of its cells by the names of their columns.
 */
export interface ShownRow {
  readonly at: number;
  readonly cells: Readonly<Record<string, string>>;
  readonly isLoading: boolean;
}

/** Pixels of the arrow at either end of a scroll bar, and a point that is surely on its thumb. */
const ARROW = 15;
const INTO_THUMB = 8;

export class ProjectPage {
  readonly grid: Locator;
  readonly toolbar: Locator;

  constructor(
    readonly page: Page,
    /** Its id. */
    readonly project: string,
  ) {
    this.grid = page.getByRole('grid');
    this.toolbar = page.getByRole('toolbar');
  }

  /** Open a project, with a view in the form of addresses, and wait until its rows are there. */
  static async open({ page }: Pick<Visit, 'page'>, project: string, view = ''): Promise<ProjectPage> {
    await page.goto(`/projects/${project}${view && `?${view}`}`);
    const opened = new ProjectPage(page, project);
    await opened.rows();
    return opened;
  }

  /** The view that the address names. */
  get view(): URLSearchParams {
    return new URL(this.page.url()).searchParams;
  }

  head(column: string): Locator {
    return this.grid.getByRole('columnheader').filter({ has: this.page.getByRole('button', { name: `${column} menu`, exact: true }) });
  }

  async cell(row: number, column: string): Promise<Locator> {
    const place = await this.head(column).getAttribute('aria-colindex');
    return this.row(row).locator(`[role="gridcell"][aria-colindex="${place}"]`);
  }

  /** The button in the head of a group, which opens and closes it. */
  group(label: string): Locator {
    return this.grid.getByRole('button', { name: label, exact: true });
  }

  /** The row of the head of a group. */
  groupRow(label: string): Locator {
    return this.grid.getByRole('row').filter({ has: this.page.getByRole('button', { name: label, exact: true }) });
  }

  /** The figures of a group in a column. */
  async figures(label: string, column: string): Promise<Locator> {
    return this.groupRow(label).locator(`[role="gridcell"][aria-colindex="${await this.head(column).getAttribute('aria-colindex')}"]`);
  }

  /** The heads of groups that stay at the top while their rows scroll. They are hidden from screen readers. */
  get stickyHeads(): Locator {
    return this.page.locator('.sticky-head');
  }

  /** The summary below a column. */
  async footer(column: string): Promise<Locator> {
    const place = await this.head(column).getAttribute('aria-colindex');
    return this.grid.locator(`.footer [role="gridcell"][aria-colindex="${place}"]`);
  }

  /** The button of the toolbar with this name, which may be followed by a number of settings. */
  tool(name: string): Locator {
    return this.toolbar.getByRole('button', { name: new RegExp(`^${name}( \\d+)?$`) });
  }

  /** Open the panel of a button of the toolbar. In a narrow window, the menu “More” has the buttons without room. */
  async open(name: string): Promise<Locator> {
    await this.tool('More').waitFor();
    if (await this.tool(name).isVisible()) await this.tool(name).click();
    else {
      await this.tool('More').click();
      await this.panel('More').getByRole('button', { name: new RegExp(`^${name}( \\d+)?$`) }).click();
    }
    return this.panel(name);
  }

  panel(name: string): Locator {
    return this.page.getByRole('dialog', { name, exact: true });
  }

  /** Choose from the menu “More”. */
  async more(choice: string): Promise<void> {
    const panel = await this.open('More');
    await panel.getByRole('button', { name: choice }).click();
  }

  /** The button of a column's menu. */
  menuButton(column: string): Locator {
    return this.head(column).getByRole('button', { name: `${column} menu`, exact: true });
  }

  async openColumnMenu(column: string): Promise<Locator> {
    await this.head(column).hover();
    await this.menuButton(column).click();
    return this.page.getByRole('menu', { name: `${column} menu`, exact: true });
  }

  /** Sort by the arrow of a column: ascending, then descending, then not. `add`: as one more key. */
  async sort(column: string, { add = false } = {}): Promise<void> {
    await this.head(column).hover();
    await this.sortButton(column).click(add ? { modifiers: ['Shift'] } : {});
  }

  /** The sort arrow of a column, whose name says how the grid is sorted by it. */
  sortButton(column: string): Locator {
    return this.head(column).getByRole('button', { name: `Sort by ${column}` });
  }

  /** The menu of the element that was pressed last. */
  menu(name: string | RegExp): Locator {
    return this.page.getByRole('menu', { name });
  }

  /** A cell of the gutter. */
  gutter(row: number): Locator {
    return this.row(row).locator('[role="gridcell"][col-id="#gutter"]');
  }

  async columnMenu(column: string, entry: string): Promise<void> {
    const menu = await this.openColumnMenu(column);
    await menu.getByRole(/^(Sort (a|de)scending|Empty)/.test(entry) ? 'menuitemcheckbox' : 'menuitem', { name: entry }).click();
  }

  /** Wait until this text is at the left of the status line. */
  async counts(text: string): Promise<void> {
    await this.page.getByRole('main').getByRole('status').getByText(text, { exact: true }).waitFor();
  }

  /** The rows in view, once none of them is still being loaded. */
  async rows(): Promise<readonly ShownRow[]> {
    let rows: readonly ShownRow[] = [];
    const shown = async () => ({
      rows: (rows = await this.grid.evaluate(readRows)),
      lines: await this.grid.getAttribute('aria-rowcount'),
      hasNotice: await this.page.locator('.over-grid').isVisible(),
    });
    await expect.poll(shown).toSatisfy(areLoaded, 'rows that are loaded');
    return rows;
  }

  /** The texts of one column in the rows in view. */
  async column(name: string): Promise<readonly string[]> {
    return (await this.rows()).map(({ cells }) => cells[name] ?? '');
  }

  /** Drag the scroll bar to a part of its way, from 0 to 1. */
  async dragScrollBar(part: number): Promise<void> {
    const bar = this.page.locator('.ag-body-vertical-scroll-viewport');
    const box = await boxOf(bar);
    const way = () => bar.evaluate(({ scrollTop, scrollHeight }) => scrollTop / scrollHeight);
    const now = await way();
    const x = box.x + box.width / 2;
    const thumb = box.y + ARROW + (box.height - 2 * ARROW) * now + INTO_THUMB;
    await this.page.mouse.move(x, thumb);
    await this.page.mouse.down();
    const to = part === 1 ? box.y + box.height + 40 : box.y + box.height * part;
    await this.page.mouse.move(x, to, { steps: 4 });
    // The browser scrolls later, in one of its next frames, by the last of the steps: then the thumb is under the
    // mouse.
    const end = await bar.evaluate(({ clientHeight, scrollHeight }) => 1 - clientHeight / scrollHeight);
    const wanted = Math.min(end, (to - box.y - ARROW - INTO_THUMB) / (box.height - 2 * ARROW));
    // If a late event of the rows has moved the bar back, the next move of the mouse corrects that. A hand is never
    // still.
    let tremor = 0;
    const off = async () => {
      tremor = 1 - tremor;
      await this.page.mouse.move(x, to + tremor);
      return Math.abs((await way()) - wanted);
    };
    await expect.poll(off).toBeLessThan(0.04);
    await this.page.mouse.up();
    // The rows follow the bar, on a busy machine some frames later.
    const lag = async () => (await bar.evaluate(topOf)) - (await this.page.locator('.ag-grid-viewport').evaluate(topOf));
    await expect.poll(async () => Math.abs(await lag())).toBeLessThan(2);
    await bar.evaluate(() => new Promise((rested) => requestAnimationFrame(() => requestAnimationFrame(rested))));
  }

  async scrollSideways(pixels: number): Promise<void> {
    await this.grid.hover();
    await this.page.mouse.wheel(pixels, 0);
  }

  private row(at: number): Locator {
    return this.grid.locator(`[role="row"][aria-rowindex="${at + 2}"]`);
  }
}

/** Runs in the browser. */
function topOf({ scrollTop }: Element): number {
  return scrollTop;
}

interface ShownRows {
  readonly rows: readonly ShownRow[];
  readonly lines: string | null;
  readonly hasNotice: boolean;
}

/**
 * Whether the shown rows are loaded and drawn, or the grid has only its heads and its summaries, and a notice why. An issue
 * has a number; heads of groups have no values. Before its groups or its number of issues are known, a grid has no rows.
 */
function areLoaded({ rows, lines, hasNotice }: ShownRows): boolean {
  return rows.length > 0 ? rows.every(({ cells, isLoading }) => !isLoading && cells['No.'] !== '') : lines === '2' && hasNotice;
}

/** The rows between the heads of the columns and their summaries. Runs in the browser. */
function readRows(grid: Element): ShownRow[] {
  const textOf = (cell: Element) => {
    const label = cell.querySelector('[role="img"]')?.getAttribute('aria-label');
    if (label && !cell.querySelector('.cell-more')) return label;
    const parts = cell.firstElementChild?.children.length ? [...cell.firstElementChild.children] : [cell];
    return parts.flatMap((part) => (part.classList.contains('cell-more') ? [] : [part.textContent])).join(', ');
  };
  const heads = [...grid.querySelectorAll('[role="columnheader"]')];
  const names = new Map(
    heads.map((head) => [head.getAttribute('aria-colindex'), head.querySelector('.head-menu')?.getAttribute('aria-label')?.replace(/ menu$/, '') ?? '']),
  );
  const top = heads[0]?.getBoundingClientRect().bottom ?? 0;
  const rows = [...grid.querySelectorAll('[role="row"]')].filter((row) => !row.querySelector('[role="columnheader"]'));
  const last = grid.getAttribute('aria-rowcount');
  const footer = rows.find((row) => row.getAttribute('aria-rowindex') === last);
  const bottom = footer?.getBoundingClientRect().top ?? Infinity;
  return rows
    .filter((row) => {
      const box = row.getBoundingClientRect();
      return row !== footer && box.top >= top - 1 && box.bottom <= bottom + 1;
    })
    .map((row) => ({
      at: Number(row.getAttribute('aria-rowindex')) - 2,
      cells: Object.fromEntries(
        (row.querySelector('.group-toggle') ? [] : [...row.querySelectorAll('[role="gridcell"][aria-colindex]:not([col-id^="#"])')]).map((cell) => [names.get(cell.getAttribute('aria-colindex')) ?? '', textOf(cell)]),
      ),
      isLoading: row.classList.contains('is-loading'),
    }))
    .sort((a, b) => a.at - b.at);
}
