import { describe, expect } from 'vitest';
import type { Api } from '../src/api/client';
import type { GridRow } from '../src/api/types';
import { ProjectPage } from './project-page';
import { test } from './test';

const ROWS = 1_000;
/** Rows of one answer. */
const PAGE = 500;

const COLUMNS = ['cost', 'due', 'priority', 'asset', 'safety_critical'] as const;
type Column = (typeof COLUMNS)[number];
type Cells = Readonly<Partial<Record<Column, unknown>>>;

const PRIORITIES = ['Low', 'Medium', 'High', 'Critical'];

/** The expected content of the rows. */
const wanted = Array.from({ length: ROWS }, (_, at): Required<Cells> => ({
  cost: at + 0.5,
  due: `2024-${String((at % 12) + 1).padStart(2, '0')}-15`,
  priority: PRIORITIES[at % 4],
  asset: `"Bay" ${at},\tnorth`,
  safety_critical: at % 2 === 1,
}));

/** Pasted texts that are no values of their columns. */
const WRONG: readonly { readonly row: number; readonly column: Column; readonly text: string }[] = [
  { row: 10, column: 'cost', text: 'dear' },
  { row: 500, column: 'priority', text: 'Urgent' },
  { row: 999, column: 'due', text: 'some day' },
];

/** The cells as a spreadsheet copies them. */
function copied(): string {
  const text = (value: unknown) => (typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value));
  const quoted = (cell: string) => (/["\t\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const cellAt = (row: number, column: Column) =>
    WRONG.find((wrong) => wrong.row === row && wrong.column === column)?.text ?? text(wanted[row]?.[column]);
  return wanted.map((_, row) => COLUMNS.map((column) => quoted(cellAt(row, column))).join('\t')).join('\r\n');
}

/** The values of the first rows in these columns; null for none. */
async function stored(api: Api): Promise<readonly Required<Cells>[]> {
  const pages = await Promise.all(
    Array.from({ length: ROWS / PAGE }, (_, page) =>
      api.call('POST', '/v1/projects/{project}/grid', {
        path: { project: 'demo' },
        body: { offset: page * PAGE, limit: PAGE, columns: [...COLUMNS] },
      }),
    ),
  );
  return pages.flatMap(({ body }) => body.rows.map(cellsOf));
}

function cellsOf({ fields }: GridRow): Required<Cells> {
  return Object.fromEntries(COLUMNS.map((column) => [column, fields[column] ?? null])) as Required<Cells>;
}

describe('a paste of 1,000 rows', () => {
  test('is written except refused cells, and is undone and redone as one step', async ({ visit, api }) => {
    const before = await stored(api);
    const visited = await visit();
    const { page } = visited;
    const demo = await ProjectPage.open(visited, 'demo', 'columns=num:72!,name:160!,cost:130,due:130,priority:110,asset:160,safety_critical:130');
    await demo.counts('2,000 issues');

    await page.evaluate((text) => navigator.clipboard.writeText(text), copied());
    await (await demo.cell(0, 'Cost')).click();
    await page.keyboard.press('Control+v');
    await page.getByText('5,000 cells selected').waitFor();
    const refused = ({ row, column }: { readonly row: number; readonly column: Column }) =>
      WRONG.some((wrong) => wrong.row === row && wrong.column === column);
    const pasted = wanted.map((cells, row) =>
      Object.fromEntries(COLUMNS.map((column) => [column, refused({ row, column }) ? before[row]?.[column] : cells[column]])),
    );
    await expect.poll(() => stored(api)).toEqual(pasted);
    await page.getByText('3 cells were refused').waitFor();
    await expect.poll(async () => (await demo.cell(10, 'Cost')).getAttribute('class')).toContain('is-refused');

    await page.keyboard.press('Control+z');
    await expect.poll(() => stored(api)).toEqual(before);
    await page.keyboard.press('Control+Shift+z');
    await expect.poll(() => stored(api)).toEqual(pasted);
    await expect.poll(async () => (await demo.column('Asset')).slice(0, 2)).toEqual(['"Bay" 0,\tnorth', '"Bay" 1,\tnorth']);
  });
});
