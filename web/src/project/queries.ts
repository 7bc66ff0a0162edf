/** The calls of the grid, with the rows as the page keeps them. */
import type { Answer, Api, Body, CallOptions } from '../api/client';
import { formatJson, isExact } from '../api/json';
import type { Explanation, Filter, GridRequest, GridRow, IndexLag, Project, OrderKey } from '../api/types';
import { rowOf, type GroupValue, type Judged, type Row } from '../fields/values';
import type { Figures } from '../selection/figures';
import { NO_RULING, type Ruling } from '../view/rules';
import { wholePage } from './whole-page';

/** A field to group by, as the API takes it. */
export type By = CallOptions<'POST', '/v1/projects/{project}/groups'>['body']['by'][number];

export async function loadProject(api: Api, project: string, signal: AbortSignal): Promise<Project> {
  const { body } = await api.call('GET', '/v1/projects/{project}', { path: { project }, signal });
  return body;
}

export interface RowsQuery {
  readonly sort: readonly OrderKey[];
  readonly filter: Filter | null;
  readonly columns: readonly string[];
  readonly offset: number;
  readonly limit: number;
  readonly ruling: Ruling;
  /** Also request the keys of the rows. */
  readonly keys?: boolean;
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

/** The figures of a number field in all issues that match a filter; null where no issue has a value. */
export async function fetchFigures(api: Api, project: string, field: string, filter: Filter | null, signal: AbortSignal): Promise<Figures | null> {
  const { body } = await api.call('POST', '/v1/projects/{project}/summary', {
    path: { project },
    body: { fields: [{ field, functions: ['sum', 'avg', 'min', 'max'] }], filter },
    signal,
  });
  const { sum, avg, min, max } = body.summaries[0] ?? {};
  return isExact(sum) && isExact(avg) && isExact(min) && isExact(max) ? { sum, avg, min, max } : null;
}

export interface RowNumber {
  /** Null for an issue that does not match. */
  readonly row_number: number | null;
  /** The matching rows ahead of the issue, also if it does not match. */
  readonly before: number;
}

/** How many rows precede an issue in an order. */
export async function fetchRowNumber(
  api: Api,
  project: string,
  num: number,
  { sort, filter }: Pick<RowsQuery, 'sort' | 'filter'>,
  signal?: AbortSignal,
): Promise<RowNumber> {
  const { body } = await api.call('GET', '/v1/projects/{project}/issues/{num}/row-number', {
    path: { project, num },
    query: { ...(sort.length && { sort: formatJson(sort) }), ...(filter && { filter: formatJson(filter) }) },
    ...(signal && { signal }),
  });
  return body;
}

/** Groups of one request. */
const GROUPS = 500;

/** How many issues of each group match a filter. */
export async function countGroups(
  api: Api,
  project: string,
  by: readonly By[],
  filter: Filter,
  signal: AbortSignal,
): Promise<readonly { readonly values: readonly GroupValue[]; readonly count: number }[]> {
  const groups: { values: readonly GroupValue[]; count: number }[] = [];
  let next: string | null = null;
  do {
    const cursor: { readonly cursor?: string } = next === null ? {} : { cursor: next };
    const { body }: Answer<Body<'POST', '/v1/projects/{project}/groups'>> = await api.call('POST', '/v1/projects/{project}/groups', {
      path: { project },
      body: { by: [...by], filter, limit: GROUPS, ...cursor },
      signal,
    });
    groups.push(...body.groups);
    next = body.next;
  } while (next !== null);
  return groups;
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

/** The rows of a query that has `MAX_VALUES` at most. */
async function allRows(api: Api, project: string, query: GridRequest): Promise<readonly GridRow[]> {
  const read = async (offset: number, limit: number) => {
    const { body } = await api.call('POST', '/v1/projects/{project}/grid', { path: { project }, body: { ...query, offset, limit } });
    return { rows: body.rows, end: body.next === null };
  };
  return (await wholePage(read, 0, MAX_VALUES)).rows;
}

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
    const body = { filter: { and: [filter, some] }, columns: ['num'] };
    for (const { num } of await allRows(api, project, body)) passing.add(num);
  }
  return passing;
}

/** Issues by their numbers with these columns, in no order. Like `issuesThatPass`, this does not lag. Missing ones are left out. */
export async function readRows(
  api: Api,
  project: string,
  nums: readonly number[],
  columns: readonly string[],
  ruling: Ruling = NO_RULING,
): Promise<readonly Row[]> {
  const found: Row[] = [];
  for (let start = 0; start < nums.length; start += MAX_VALUES) {
    const some: Filter = { field: 'num', op: 'in', value: nums.slice(start, start + MAX_VALUES) };
    const rows = await allRows(api, project, { filter: some, columns: [...columns], ...byRules(ruling) });
    found.push(...rows.map((row) => judgedRow(row, ruling)));
  }
  return found;
}

/** Judges issues by rules. Issues that are not found are left out. */
export async function judge(api: Api, project: string, ruling: Ruling, nums: readonly number[]): Promise<ReadonlyMap<number, Judged>> {
  const rows = await readRows(api, project, nums, ['num', ...ruling.fields], ruling);
  return new Map(rows.flatMap(({ num, judged }) => (judged ? [[num, judged] as const] : [])));
}
