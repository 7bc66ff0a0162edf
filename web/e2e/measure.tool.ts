/** Measures how long users wait in the page; `./dev bench --page` calls it and shows the results. */
import { writeFile } from 'node:fs/promises';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { inject } from 'vitest';
import { findings } from './accessibility';
import { boardFigures } from './board-figures';
import { Visit } from './browser';
import { footers } from './footers';
import { TIMEOUT } from './timeout';
import { ProjectPage } from './project-page';
import { makeProject } from './projects';
import type { Stack } from './stack';
import { test } from './test';
import { dropCsv } from './transfer';

/** Visits, of which the median is reported. */
const VISITS = 5;
/** Changes that someone else makes in a row, of which the median is reported. */
const CHANGES = 5;
/** Frames of the long scroll, and rows of each. */
const FRAMES = 1000;
const ROWS_A_FRAME = 10;
const ROW_HEIGHT = 32;
/** Rows and columns of the CSV file that is imported. */
const CSV_ROWS = 10_000;
const CSV_COLUMNS = 13;

test('the page is measured', async ({ browser, stack }) => {
  const summaries = await footers(browser, stack);
  const cookies = await stack.cookiesOf({ tenant: inject('tenant'), user: 'ada', role: 'viewer' });
  const address = `/projects/${inject('project')}`;
  const cold: number[] = [];
  const warm: number[] = [];
  const ends: number[] = [];
  let weight = { script: 0, requests: 0 };
  for (let count = 0; count < VISITS; count += 1) {
    // Each visit has an empty cache.
    const { context, page } = await Visit.begin(browser, stack.origin, cookies);
    await noteFirstRows(page);
    await page.goto(address);
    cold.push(await firstRows(page));
    weight = await weightOf(page);
    await page.goto('about:blank');
    await page.goto(address);
    warm.push(await firstRows(page));
    await counted(page);
    ends.push(await page.evaluate(jumpToTheEnd));
    await context.close();
  }
  const { context, page } = await Visit.begin(browser, stack.origin, cookies);
  await noteFirstRows(page);
  await page.goto(address);
  await firstRows(page);
  await counted(page);
  const frames = (await page.evaluate(scroll, { frames: FRAMES, pixels: ROWS_A_FRAME * ROW_HEIGHT })).sort((a, b) => a - b);
  const heap = await heapOf(await context.newCDPSession(page));
  const axe = await findings(page);
  await context.close();
  const board = await boardFigures(browser, stack);
  const live = await changeElsewhere(browser, stack);
  const stored = await imported(browser, stack);
  const figures = {
    cold: median(cold),
    warm: median(warm),
    ...summaries,
    ...weight,
    end: median(ends),
    longest: frames.at(-1),
    p99: frames[Math.floor(frames.length * 0.99)],
    median: median(frames),
    heap,
    axe,
    ...board,
    live,
    stored,
  };
  await writeFile(inject('output'), JSON.stringify(figures));
});

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

/** Let the page record the frame in which its first row appears. */
async function noteFirstRows(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const look = () => {
      const [number] = document.querySelectorAll('[role="row"][aria-rowindex="2"] [col-id="num"]');
      if (number?.textContent) performance.mark('rows');
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
}

/** Milliseconds from the navigation to that frame. */
async function firstRows(page: Page): Promise<number> {
  await page.waitForFunction(() => performance.getEntriesByName('rows').length > 0, null, { timeout: TIMEOUT });
  return page.evaluate(() => performance.getEntriesByName('rows')[0]?.startTime ?? NaN);
}

/** Until the count is there, the length of the grid is a guess. */
async function counted(page: Page): Promise<void> {
  await page.getByText(/^[\d,]+ issues$/).waitFor({ timeout: TIMEOUT });
}

/** Bytes of JavaScript as they were transferred, and the number of requests so far. */
function weightOf(page: Page): Promise<{ script: number; requests: number }> {
  return page.evaluate(() => {
    const asked = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
    const scripts = asked.filter(({ name }) => name.endsWith('.js'));
    return { script: scripts.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0), requests: asked.length + 1 };
  });
}

/**
 * Scroll to the end. Returns the milliseconds until the last row and all others in view are drawn. Runs in the page.
 */
function jumpToTheEnd(): Promise<number> {
  const grid = document.querySelector('[role="grid"]');
  const viewport = document.querySelector('.ag-grid-viewport');
  // The row of summaries is below the last issue.
  const last = Number(grid?.getAttribute('aria-rowcount')) - 1;
  const isDrawn = () => {
    const rows = [...document.querySelectorAll('[role="row"][aria-rowindex]')].filter((row) => {
      const index = Number(row.getAttribute('aria-rowindex'));
      return index > 1 && index <= last;
    });
    const loading = rows.some((row) => row.querySelector('.cell-loading'));
    return !loading && rows.some((row) => row.getAttribute('aria-rowindex') === String(last) && row.querySelector('[col-id="num"]')?.textContent);
  };
  return new Promise((resolve) => {
    const began = performance.now();
    if (viewport) viewport.scrollTop = viewport.scrollHeight;
    const look = () => {
      if (isDrawn()) resolve(performance.now() - began);
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
}

/** Scroll by so many pixels in each frame. Returns the milliseconds of each. Runs in the page. */
function scroll({ frames, pixels }: { readonly frames: number; readonly pixels: number }): Promise<number[]> {
  const viewport = document.querySelector('.ag-grid-viewport');
  return new Promise((resolve) => {
    const taken: number[] = [];
    let before: number | null = null;
    const step = (now: number) => {
      if (before !== null) taken.push(now - before);
      before = now;
      if (taken.length === frames) {
        resolve(taken);
        return;
      }
      viewport?.scrollBy(0, pixels);
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
}

/** Bytes of objects that are in use. */
async function heapOf(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  return (await session.send('Runtime.getHeapUsage')).usedSize;
}

/** Milliseconds from another user's request until an open page shows its change. */
async function changeElsewhere(browser: Browser, stack: Stack): Promise<number> {
  const project = inject('project');
  const user = { tenant: inject('tenant'), user: 'ada', role: 'viewer' } as const;
  const api = await stack.api({ ...user, user: 'grace', role: 'editor' });
  const visit = await Visit.begin(browser, stack.origin, await stack.cookiesOf(user));
  const shown = await ProjectPage.open(visit, project);
  const [first] = await shown.column('No.');
  const cell = await shown.cell(0, 'Name');
  const taken: number[] = [];
  // The first change also waits until the page follows changes, so it does not count.
  for (let count = 0; count <= CHANGES; count += 1) {
    const name = `Changed elsewhere, ${count}`;
    const began = performance.now();
    await api.call('PATCH', '/v1/projects/{project}/issues/{num}', { path: { project, num: Number(first) }, body: { name } });
    await cell.getByText(name).waitFor({ timeout: TIMEOUT });
    taken.push(performance.now() - began);
  }
  await visit.context.close();
  return median(taken.slice(1));
}

/** Milliseconds in which the page stores a CSV file in a new project, from the press of the button on. */
async function imported(browser: Browser, stack: Stack): Promise<number> {
  const user = { tenant: inject('tenant'), user: 'ada', role: 'admin' } as const;
  const id = await makeProject(await stack.api(user), { name: 'Imported' });
  const { context, page } = await Visit.begin(browser, stack.origin, await stack.cookiesOf(user));
  await page.goto(`/projects/${id}`);
  await page.getByText('This project has no issues yet').waitFor();
  await dropCsv(page, 'rows.csv', csv());
  await page.getByLabel('Field for Name').waitFor();
  const began = performance.now();
  await page.getByRole('button', { name: `Import ${CSV_ROWS.toLocaleString('en-US')} rows` }).click();
  await page.getByText(/^(Written|Done): 10,000 issues created\.$/).waitFor({ timeout: 5 * TIMEOUT });
  const taken = performance.now() - began;
  await context.close();
  return taken;
}

/** Numbers, dates, options and texts; the first column is the name. */
function csv(): string {
  const columns = Array.from({ length: CSV_COLUMNS - 1 }, (_, column) => column);
  const kinds = ['open', 'waiting', 'done'];
  const value = (row: number, column: number) =>
    [String(row * (column + 1)), `2024-${String((row % 12) + 1).padStart(2, '0')}-11`, kinds[(row + column) % 3] ?? '', `note ${row} of ${column}`][column % 4];
  const rows = Array.from({ length: CSV_ROWS }, (_, row) => [`Row ${row}`, ...columns.map((column) => value(row, column))].join());
  return [['Name', ...columns.map((column) => `Column ${column}`)].join(), ...rows].join('\r\n');
}
