/** The calls of the grid, with the rows as the page keeps them. */
import type { Api } from '../api/client';
import type { Explanation, Filter, GridRequest, GridRow, IndexLag, Project, SortKey } from '../api/types';
import { rowOf, type Judged, type Row } from '../fields/values';
import type { Ruling } from '../view/rules';

export async function loadProject(api: Api, project: string, signal: AbortSignal): Promise<Project> {
  const { body } = await api.call('GET', '/v1/projects/{project}', { path: { project }, signal });
  return body;
}

export interface RowsQuery {
  readonly sort: readonly SortKey[];
  readonly filter: Filter | null;
  readonly columns: readonly string[];
  readonly offset: number;
  readonly limit: number;
  readonly ruling: Ruling;
  /** Also request the plan, which costs one more read. */
  readonly explain?: boolean;
}

export interface Rows {
  readonly rows: readonly Row[];
  /** Whether these are the last rows of the query. */
  readonly end: boolean;
  /** The lag of the index from which they were read. */
  readonly index: IndexLag;
  readonly explanation: Explanation | null;
  /** The cursor before which are exactly the changes that decided the places of these rows; null if unknown. */
  readonly changes: string | null;
}

/** A page of rows, without a count: counting never delays a row. */
export async function fetchRows(api: Api, project: string, { ruling, ...query }: RowsQuery, signal?: AbortSignal): Promise<Rows> {
  const { body } = await api.call('POST', '/v1/projects/{project}/grid', {
    path: { project },
    body: { ...query, sort: [...query.sort], columns: [...new Set([...query.columns, ...ruling.fields])], ...byRules(ruling) },
    ...(signal && { signal }),
  });
  return { rows: body.rows.map((row) => judgedRow(row, ruling)), end: body.next === null, index: body.index, explanation: body.explain ?? null, changes: body.changes_cursor };
}

/** The part of a request for rows that are judged by rules. */
function byRules({ filters }: Ruling): Pick<GridRequest, 'rules'> {
  return filters.size ? { rules: [...filters.values()] } : {};
}

function judgedRow({ matches = [], ...answered }: GridRow, { filters }: Ruling): Row {
  const row = rowOf(answered);
  if (!filters.size) return row;
  const texts = [...filters.keys()];
  return { ...row, judged: { version: row.version, values: row.values, matches: matches.flatMap((at) => texts[at] ?? []) } };
}

export interface Counts {
  readonly matched: number;
  readonly total: number;
  /** The cursor before which are exactly the changes that were counted; null if unknown. */
  readonly changes: string | null;
}

/** How many issues match a filter, and how many the project has. */
export async function fetchCounts(api: Api, project: string, filter: Filter | null, signal: AbortSignal): Promise<Counts> {
  const { body } = await api.call('POST', '/v1/projects/{project}/grid', {
    path: { project },
    body: { filter, limit: 1, columns: ['num'], count: true },
    signal,
  });
  return { matched: body.matched ?? 0, total: body.total ?? 0, changes: body.changes_cursor };
}

/** How many users are offered. */
const SUGGESTED = 8;

/** Users of the tenant whose names begin with the prefix. */
export async function findUsers(api: Api, prefix: string): Promise<readonly string[]> {
  const { body } = await api.call('GET', '/v1/users', { query: { limit: SUGGESTED, ...(prefix && { prefix }) } });
  return body.items.map(({ id }) => id);
}

/** Values of an `in`. */
const MAX_VALUES = 200;

/** The issues among these that match a filter. The API reads the issues themselves, so this does not lag. */
export async function issuesThatPass(
  api: Api,
  project: string,
  filter: Filter,
  nums: readonly number[],
): Promise<ReadonlySet<number>> {
  const passing = new Set<number>();
  for (let start = 0; start < nums.length; start += MAX_VALUES) {
    const some: Filter = { field: 'num', op: 'in', value: nums.slice(start, start + MAX_VALUES) };
    const { body } = await api.call('POST', '/v1/projects/{project}/grid', {
      path: { project },
      body: { filter: { and: [filter, some] }, columns: ['num'], limit: MAX_VALUES },
    });
    for (const { num } of body.rows) passing.add(num);
  }
  return passing;
}

/** Judges issues by rules. Like `issuesThatPass`, this does not lag. Issues that are not found are left out. */
export async function judge(api: Api, project: string, ruling: Ruling, nums: readonly number[]): Promise<ReadonlyMap<number, Judged>> {
  const found = new Map<number, Judged>();
  for (let start = 0; start < nums.length; start += MAX_VALUES) {
    const some: Filter = { field: 'num', op: 'in', value: nums.slice(start, start + MAX_VALUES) };
    const { body } = await api.call('POST', '/v1/projects/{project}/grid', {
      path: { project },
      body: { filter: some, columns: ['num', ...ruling.fields], limit: MAX_VALUES, ...byRules(ruling) },
    });
    for (const row of body.rows) {
      const { judged } = judgedRow(row, ruling);
      if (judged) found.set(row.num, judged);
    }
  }
  return found;
}
