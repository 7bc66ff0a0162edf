/** Reverts the writes under a change id, except values that others have changed since. */
import type { Api } from '../api/client';
import { withRetry } from '../api/retry';
import type { ProblemDocument } from '../api/problem';
import type { BackgroundJob, UndoAnswer } from '../api/types';

export interface Reverted {
  /** The id of the undo as a change, which a redo reverts. Null if it wrote nothing. */
  readonly change: string | null;
  /** The versions of the reverted issues; null if a job reverted them, which does not list them. */
  readonly versions: ReadonlyMap<number, number> | null;
  /** Why issues stay as they are, all or in part. */
  readonly refused: ReadonlyMap<number, ProblemDocument>;
}

/** Milliseconds between two polls of a job. */
const POLL_INTERVAL = 1_000;

/** A change to revert. */
export interface UndoRequest {
  readonly change: string;
  /** The user who made the change; by default the current user. */
  readonly by?: string;
  /** The issues in which to revert it; by default all issues of the change. */
  readonly nums?: readonly number[];
  /** A repeated request with the same key takes effect once. */
  readonly key?: string;
}

/** Revert a change, and wait for the end. */
export async function revert(api: Api, project: string, order: UndoRequest): Promise<Reverted> {
  const body = await requestUndo(api, project, order);
  if (!isJob(body)) {
    return {
      change: body.change,
      versions: new Map(body.undone.map(({ num, version }) => [num, version])),
      refused: new Map(body.refused.map(({ num, problem }) => [num, problem])),
    };
  }
  await ended(api, project, body.id);
  return { change: body.change, versions: null, refused: await refusedBy(api, project, body.id) };
}

/**
 * Ask the API to revert a change. It refuses until the history has all of the change, so the request is repeated.
 *
 * For a large change the API starts a job.
 */
export async function requestUndo(api: Api, project: string, order: UndoRequest): Promise<UndoAnswer | BackgroundJob> {
  const { nums, key = crypto.randomUUID(), ...of } = order;
  const headers = { 'Idempotency-Key': key };
  const { body } = await withRetry(() =>
    api.call('POST', '/v1/projects/{project}/undo', { path: { project }, body: { ...of, ...(nums && { nums: [...nums] }) }, headers }),
  );
  return body;
}

/** The number of issues of a change; null if the API cannot revert so many at once. */
export async function countTouched(api: Api, project: string, order: UndoRequest): Promise<number | null> {
  const { change, by } = order;
  const { body } = await withRetry(() =>
    api.call('POST', '/v1/projects/{project}/undo', { path: { project }, body: { change, ...(by !== undefined && { by }), dry_run: true } }),
  );
  return isJob(body) ? null : (body.issues ?? null);
}

export function isJob(body: UndoAnswer | BackgroundJob): body is BackgroundJob {
  return 'kind' in body;
}

async function ended(api: Api, project: string, job: string): Promise<void> {
  for (;;) {
    const { body } = await withRetry(() => api.call('GET', '/v1/projects/{project}/jobs/{job}', { path: { project, job } }));
    if (body.state === 'failed') throw new Error(body.problem?.detail ?? body.problem?.title ?? body.state);
    if (body.state === 'done' || body.state === 'cancelled') return;
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL));
  }
}

async function refusedBy(api: Api, project: string, job: string): Promise<ReadonlyMap<number, ProblemDocument>> {
  const refused = new Map<number, ProblemDocument>();
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: { limit: number; cursor?: string } = { limit: 500, ...(cursor && { cursor }) };
    const { body } = await withRetry(() => api.call('GET', '/v1/projects/{project}/jobs/{job}/refused', { path: { project, job }, query }));
    for (const { num, problem } of body.items) refused.set(num, problem);
    cursor = body.next;
  }
  return refused;
}
