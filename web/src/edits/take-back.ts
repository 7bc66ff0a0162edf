/** Takes back the writes of a change's id, as far as nobody else has changed them since. */
import type { Api } from '../api/client';
import { patiently } from '../api/patience';
import type { ProblemDocument } from '../api/problem';
import type { BackgroundJob, UndoAnswer } from '../api/types';

export interface TakenBack {
  /** The change that the undo is: its undo is a redo. Null where it wrote nothing. */
  readonly change: string | null;
  /** The versions of the issues of which anything was taken back; null if a job did it, which does not list them. */
  readonly versions: ReadonlyMap<number, number> | null;
  /** Why issues stay as they are, all or in part. */
  readonly refused: ReadonlyMap<number, ProblemDocument>;
}

/** Milliseconds between two looks at a job. */
const LOOK_EACH = 1_000;

/** A change to take back. */
export interface UndoOrder {
  readonly change: string;
  /** The user who made the change; by default the current user. */
  readonly by?: string;
  /** The issues in which to take it back; by default all issues of the change. */
  readonly nums?: readonly number[];
  /** The same order under the same key is carried out once. */
  readonly key?: string;
}

/** Take a change back, and wait for the end. */
export async function takeBack(api: Api, project: string, order: UndoOrder): Promise<TakenBack> {
  const body = await askUndo(api, project, order);
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
 * Ask the API to take a change back. It refuses until the history has all of the change, so the request is repeated.
 *
 * For a large change the API starts a job.
 */
export async function askUndo(api: Api, project: string, order: UndoOrder): Promise<UndoAnswer | BackgroundJob> {
  const { nums, key = crypto.randomUUID(), ...of } = order;
  const headers = { 'Idempotency-Key': key };
  const { body } = await patiently(() =>
    api.call('POST', '/v1/projects/{project}/undo', { path: { project }, body: { ...of, ...(nums && { nums: [...nums] }) }, headers }),
  );
  return body;
}

/** The number of issues of a change; null if it is more than the API takes back at once. */
export async function countTouched(api: Api, project: string, order: UndoOrder): Promise<number | null> {
  const { change, by } = order;
  const { body } = await patiently(() =>
    api.call('POST', '/v1/projects/{project}/undo', { path: { project }, body: { change, ...(by !== undefined && { by }), dry_run: true } }),
  );
  return isJob(body) ? null : (body.issues ?? null);
}

export function isJob(body: UndoAnswer | BackgroundJob): body is BackgroundJob {
  return 'kind' in body;
}

async function ended(api: Api, project: string, job: string): Promise<void> {
  for (;;) {
    const { body } = await patiently(() => api.call('GET', '/v1/projects/{project}/jobs/{job}', { path: { project, job } }));
    if (body.state === 'failed') throw new Error(body.problem?.detail ?? body.problem?.title ?? body.state);
    if (body.state === 'done' || body.state === 'cancelled') return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EACH));
  }
}

async function refusedBy(api: Api, project: string, job: string): Promise<ReadonlyMap<number, ProblemDocument>> {
  const refused = new Map<number, ProblemDocument>();
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: { limit: number; cursor?: string } = { limit: 500, ...(cursor && { cursor }) };
    const { body } = await patiently(() => api.call('GET', '/v1/projects/{project}/jobs/{job}/refused', { path: { project, job }, query }));
    for (const { num, problem } of body.items) refused.set(num, problem);
    cursor = body.next;
  }
  return refused;
}
