/**
 * The content of the API, in the form in which the page must show it. It shares no code with the page's own formats.
 */
import { expect, vi } from 'vitest';
import type { Api } from '../src/api/client';
import type { FieldType, GridRequest, GridRow } from '../src/api/types';
import { TIMEOUT } from './timeout';
import type { ProjectPage, ShownRow } from './project-page';

const BUILT_IN: readonly Column[] = [
  { id: 'num', name: 'No.', type: 'number' },
  { id: 'name', name: 'Name', type: 'text' },
  { id: 'state', name: 'State', type: 'enum' },
  { id: 'created', name: 'Created', type: 'datetime' },
  { id: 'updated', name: 'Updated', type: 'datetime' },
  { id: 'created_by', name: 'Created by', type: 'user' },
  { id: 'updated_by', name: 'Updated by', type: 'user' },
];

/**
 * Wait until the rows in view, in the columns that are drawn, are equal to the API's rows at the same places.
 *
 * `from` is the row of the screen at which the answer to the query begins; rows before it are ignored.
 */
export async function showsWhatTheApiHas(
  page: ProjectPage,
  api: Api,
  query: GridRequest,
  { from = 0 } = {},
): Promise<readonly ShownRow[]> {
  const columns = await columnsOf(api, page.project);
  return vi.waitFor(async () => {
    const rows = (await page.rows()).filter(({ at }) => at >= from);
    const first = rows[0]?.at ?? from;
    const asked = { ...query, columns: columns.map(({ id }) => id), offset: first - from, limit: rows.length };
    const { body } = await api.call('POST', '/v1/projects/{project}/grid', { path: { project: page.project }, body: asked });
    const truth = body.rows.map((row, place) => ({ at: first + place, cells: cellsOf(row, columns, rows[place]), isLoading: false }));
    expect(rows).toEqual(truth);
    return rows;
  }, TIMEOUT);
}

interface Column {
  readonly id: string;
  readonly name: string;
  readonly type: FieldType;
}

async function columnsOf(api: Api, project: string): Promise<readonly Column[]> {
  const { body } = await api.call('GET', '/v1/projects/{project}', { path: { project } });
  return [...BUILT_IN, ...(body.attributes ?? [])];
}

/** The cells of a row in the columns in which the page shows it. */
function cellsOf(row: Omit<GridRow, 'matches' | 'unavailable'>, columns: readonly Column[], as: ShownRow | undefined): ShownRow['cells'] {
  const { fields, ...builtIn } = row;
  const values: Readonly<Record<string, Value>> = { ...builtIn, ...fields };
  const drawn = columns.filter(({ name }) => name in (as?.cells ?? {}));
  return Object.fromEntries(drawn.map(({ id, name, type }) => [name, shown(type, values[id] ?? null)]));
}

const numbers = new Intl.NumberFormat('en-US', { maximumFractionDigits: 20 });
const days = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' });
const times = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

type Value = GridRow['fields'][string] | null;

function shown(type: FieldType, value: Value): string {
  if (value === null) return '';
  switch (type) {
    case 'number':
      return numbers.format(Number(value));
    case 'date':
      return days.format(new Date(value as string));
    case 'datetime':
      return times.format(new Date(value as string));
    case 'bool':
      return value ? 'Yes' : 'No';
    case 'multi_enum':
      return (value as readonly string[]).join(', ');
    case 'text':
    case 'enum':
    case 'user':
      return value as string;
  }
}
