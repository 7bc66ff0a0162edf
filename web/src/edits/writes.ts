/** The calls that write issues. */
import type { Api } from '../api/client';
import { ApiError, problemOf, type ProblemDocument } from '../api/problem';
import { passes } from '../api/retry';
import type { Issue } from '../api/types';
import type { Field } from '../fields/fields';
import { words } from '../words';
import { keptOf, type Kept, type Patch } from './change';

/** Operations of one batch. */
export const BATCH = 500;

/** One of them, as the API has it. */
export type Operation =
  | { readonly create: Patch }
  | { readonly update: { readonly num: number; readonly base?: number } & Patch }
  | { readonly delete: { readonly num: number; readonly version?: number } };

/** The member that names the version that the user saw; 0 if it is unknown. */
export function baseOf(version = 0): { readonly base?: number } {
  return version ? { base: version } : {};
}

/** The same, for a delete. */
export function versionOf(version: number): { readonly version?: number } {
  return version ? { version } : {};
}

export interface OperationResult {
  readonly num: number | null;
  readonly version: number | null;
  /** Why the operation was refused; null when it was carried out. */
  readonly problem: ProblemDocument | null;
}

/**
 * Change one issue on top of the version that the user saw; later changes of others stay. Returns the whole issue. The
 * same patch sent again changes nothing.
 */
export async function patchIssue(
  api: Api,
  project: string,
  { num, base }: { readonly num: number; readonly base?: number },
  patch: Patch,
  change: string,
): Promise<Issue> {
  const { body } = await api.call('PATCH', '/v1/projects/{project}/issues/{num}', {
    path: { project, num },
    body: { ...patch, ...(base !== undefined && { base }) },
    headers: { 'X-Change-Id': change },
  });
  return body;
}

export async function readIssue(api: Api, project: string, num: number, signal?: AbortSignal): Promise<Issue> {
  const { body } = await api.call('GET', '/v1/projects/{project}/issues/{num}', { path: { project, num }, ...(signal && { signal }) });
  return body;
}

/** Values of an `in`. */
const MAX_VALUES = 200;

/**
 * The values to create issues again. A new or large issue may be missing in a page, and is then read by itself.
 * Missing issues are left out.
 */
export async function readKept(
  api: Api,
  project: string,
  nums: readonly number[],
  fields: readonly Field[] = [],
): Promise<readonly Kept[]> {
  const found = new Map<number, Kept>();
  for (let start = 0; start < nums.length; start += MAX_VALUES) {
    const some = nums.slice(start, start + MAX_VALUES);
    const { body } = await api.call('POST', '/v1/projects/{project}/grid', {
      path: { project },
      body: { filter: { field: 'num', op: 'in', value: some }, limit: MAX_VALUES },
    });
    for (const row of body.rows) found.set(row.num, keptOf(row, fields));
    for (const num of some) {
      const issue = found.has(num) ? null : await readIssue(api, project, num).catch(noneIfAbsent);
      if (issue) found.set(num, keptOf(issue, fields));
    }
  }
  return nums.flatMap((num) => found.get(num) ?? []);
}

function noneIfAbsent(error: unknown): null {
  if (error instanceof ApiError && error.status === 404) return null;
  throw error;
}

/**
 * Carry out up to 500 operations. Sent again under the same key, they are carried out once.
 *
 * Throws ApiError while the API is too busy for some of them: it remembers the others, so the same batch completes it.
 */
export async function writeBatch(
  api: Api,
  project: string,
  operations: readonly Operation[],
  { change, key }: { readonly change: string; readonly key: string },
): Promise<readonly OperationResult[]> {
  const { body } = await api.call('POST', '/v1/projects/{project}/issues/batch', {
    path: { project },
    body: { operations: operations as never[], return: 'minimal' },
    headers: { 'Idempotency-Key': key, 'X-Change-Id': change },
  });
  const busy = body.results.find(({ status }) => passes(status));
  if (busy) throw new ApiError(problemOf(busy.status, '', busy.problem));
  return body.results.map(({ num, version, problem }) => ({ num: num ?? null, version: version ?? null, problem: problem ?? null }));
}

/** Why a write failed, as the API would refuse it. */
export function problemIn(error: unknown): ProblemDocument {
  if (error instanceof ApiError) return error.problem;
  return { type: 'about:blank', title: words.refusal.failed, status: 0, detail: error instanceof Error ? error.message : words.refusal.failed };
}
