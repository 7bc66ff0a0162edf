/**
 * The background jobs of a project: changes and deletions of any number of issues, their undo, and exports.
 *
 * They run in the API, with or without an open page. A page that is opened later shows all jobs that are still open.
 */
import { computed, signal } from '@preact/signals';
import type { Api } from '../api/client';
import { withRetry } from '../api/retry';
import { isAbort } from '../api/problem';
import type { BackgroundJob, FieldCopy, Filter, RefusedIssue, Replacement, OrderKey, UndoAnswer } from '../api/types';
import type { Patch } from '../edits/change';
import { requestUndo, isJob } from '../edits/revert';
import type { Target } from '../rows/targets';
import { words } from '../words';
import { Paged } from './paged';

/** A change of many issues: one value for all, a text in the place of another, or the values of another field. */
export type BulkEdit = { readonly set: Patch } | { readonly replace: Replacement } | { readonly copy: FieldCopy };

/** The issues of a bulk change, in the order of the view. */
interface Chosen {
  readonly targets: readonly Target[];
  readonly sort: readonly OrderKey[];
}

/** A change of many issues, or their deletion. */
export type BulkRequest = Chosen & (BulkEdit | { readonly set: null });

/** The content of a file. */
export interface ExportRequest {
  readonly sort: readonly OrderKey[];
  readonly filter: Filter | null;
  readonly columns: readonly string[];
  /** Do not guard texts that a spreadsheet would run as formulas. */
  readonly raw: boolean;
}

/** Milliseconds between two polls of open jobs, and after a poll that failed. */
const POLL_INTERVAL = 1_000;
const PAUSE_AFTER_FAILURE = 10_000;

const PAGE = 50;

export function isOpen({ state }: BackgroundJob): boolean {
  return state === 'waiting' || state === 'running';
}

/** Whether a job writes nothing: it finds out what a change would do. */
export function isPreview({ changed }: Pick<BackgroundJob, 'changed'>): boolean {
  return changed !== null;
}

export function nameOfJob(job: Pick<BackgroundJob, 'kind' | 'changed'>): string {
  return isPreview(job) ? words.jobs.preview : words.jobs.kinds[job.kind];
}

function bodyOf({ filter, rows }: Target, sort: readonly OrderKey[]) {
  return { filter, ...(rows && { rows: { ...rows, sort: [...sort] } }) };
}

export class Jobs {
  /** The jobs that the page knows, the latest first. */
  readonly list = signal<readonly BackgroundJob[]>([]);
  readonly open = computed(() => this.list.value.filter(isOpen));
  /** Whether they have been listed. */
  readonly loaded = signal(false);
  /** Whether there are earlier ones. */
  readonly more = signal(false);
  /** Why they could not be read. */
  readonly error = signal<unknown>(null);
  /** Why the last requested job did not start, or did not end. */
  readonly refusal = signal<unknown>(null);
  readonly busy = signal(false);
  /** The outcome of the last job that ended, for screen readers. */
  readonly announcement = signal('');
  /** The outcome, in words, of an undo without a job. */
  readonly undone = signal('');
  private cursor: string | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private readonly closed = new AbortController();

  constructor(
    private readonly api: Api,
    private readonly project: string,
    /** Called when an open job has ended. */
    private readonly ended: (job: BackgroundJob) => void,
  ) {}

  /** List the latest ones. */
  async load(): Promise<void> {
    await this.page(null);
  }

  async next(): Promise<void> {
    if (this.cursor !== null) await this.page(this.cursor);
  }

  /** Start a job for each target, all of them one change. Returns whether all have started. */
  async begin({ targets, sort, ...edit }: BulkRequest, change: string): Promise<boolean> {
    return this.taking(async () => {
      for (const target of targets) {
        const options = { path: { project: this.project }, headers: { 'Idempotency-Key': crypto.randomUUID(), 'X-Change-Id': change } };
        const body = bodyOf(target, sort);
        const answer = await withRetry(() =>
          'set' in edit && edit.set === null
            ? this.api.call('POST', '/v1/projects/{project}/issues/delete-matching', { ...options, body })
            : this.api.call('POST', '/v1/projects/{project}/issues/update-matching', { ...options, body: { ...body, ...edit } }),
        );
        this.watch(answer.body);
      }
    });
  }

  /** Start a job for each target that writes nothing, and finds out what the change would do. Returns their ids. */
  async preview({ targets, sort, ...edit }: Chosen & BulkEdit): Promise<readonly string[]> {
    const begun: string[] = [];
    await this.taking(async () => {
      for (const target of targets) {
        const headers = { 'Idempotency-Key': crypto.randomUUID() };
        const body = { ...bodyOf(target, sort), ...edit, dry_run: true };
        const answer = await withRetry(() =>
          this.api.call('POST', '/v1/projects/{project}/issues/update-matching', { path: { project: this.project }, headers, body }),
        );
        begun.push(answer.body.id);
        this.watch(answer.body);
      }
    });
    return begun;
  }

  /** Start to write a CSV file. Returns the id of the job; null if it was refused. */
  async export({ raw, ...query }: ExportRequest): Promise<string | null> {
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    let begun: string | null = null;
    await this.taking(async () => {
      const { body } = await withRetry(() =>
        this.api.call('POST', '/v1/projects/{project}/export', {
          path: { project: this.project },
          body: { query: { ...query, sort: [...query.sort], columns: [...query.columns] }, format: 'csv', formula_guard: !raw },
          headers,
        }),
      );
      begun = body.id;
      this.watch(body);
    });
    return begun;
  }

  /** Cancel a job. Issues that it has changed stay so. */
  async cancel({ id }: Pick<BackgroundJob, 'id'>): Promise<void> {
    await this.taking(async () => {
      await this.api.call('DELETE', '/v1/projects/{project}/jobs/{job}', { path: { project: this.project, job: id } });
      this.put([await this.read(id)]);
    });
  }

  /** Revert all writes of a job's change. Returns the outcome; null if another job does it, or if it was refused. */
  async undo({ change, created_by: by }: Pick<BackgroundJob, 'change' | 'created_by'>): Promise<UndoAnswer | null> {
    let answer: UndoAnswer | null = null;
    if (change === null) return answer; // it wrote nothing
    this.undone.value = '';
    await this.taking(async () => {
      const body = await requestUndo(this.api, this.project, { change, by });
      if (isJob(body)) this.watch(body);
      else {
        answer = body;
        this.undone.value = undoneOf(body);
      }
    });
    return answer;
  }

  /** A job as it is now; for a finished export, with a new link to its file. */
  async read(job: string): Promise<BackgroundJob> {
    const { body } = await this.api.call('GET', '/v1/projects/{project}/jobs/{job}', {
      path: { project: this.project, job },
      signal: this.closed.signal,
    });
    return body;
  }

  /** The issues that a job could not change, and why. */
  refusedBy(job: string): Paged<RefusedIssue> {
    return new Paged(async (cursor, signal) => {
      const { body } = await this.api.call('GET', '/v1/projects/{project}/jobs/{job}/refused', {
        path: { project: this.project, job },
        query: cursor === null ? {} : { cursor },
        signal,
      });
      return body;
    });
  }

  close(): void {
    this.closed.abort();
    if (this.timer !== null) clearTimeout(this.timer);
  }

  /** Follow a job that has just started. */
  private watch(job: BackgroundJob): void {
    this.put([job]);
    this.pollIn(POLL_INTERVAL);
  }

  private async page(cursor: string | null): Promise<void> {
    const { signal } = this.closed;
    try {
      const query = { limit: PAGE, ...(cursor !== null && { cursor }) };
      const { body } = await this.api.call('GET', '/v1/projects/{project}/jobs', { path: { project: this.project }, query, signal });
      this.cursor = body.next;
      this.more.value = body.next !== null;
      this.put(body.items);
      this.error.value = null;
    } catch (error) {
      if (!isAbort(error)) this.error.value = error;
    }
    this.loaded.value = true;
    this.pollIn(POLL_INTERVAL);
  }

  private pollIn(milliseconds: number): void {
    if (this.timer !== null || this.closed.signal.aborted || !this.open.peek().length) return;
    this.timer = setTimeout(() => void this.poll(), milliseconds);
  }

  private async poll(): Promise<void> {
    const { signal } = this.closed;
    try {
      this.put(await Promise.all(this.open.peek().map(({ id }) => withRetry(() => this.read(id), signal))));
      this.error.value = null;
    } catch (error) {
      if (isAbort(error)) return;
      this.error.value = error;
    }
    this.timer = null;
    this.pollIn(this.error.peek() === null ? POLL_INTERVAL : PAUSE_AFTER_FAILURE);
  }

  /** Show these jobs in their present state. */
  private put(jobs: readonly BackgroundJob[]): void {
    const before = new Map(this.list.peek().map((job) => [job.id, job]));
    this.list.value = merged(this.list.peek(), jobs);
    for (const job of jobs) {
      const known = before.get(job.id);
      if (!known || !isOpen(known) || isOpen(job)) continue;
      this.announcement.value = `${nameOfJob(job)}. ${words.jobs.state(job)}`;
      if (!isPreview(job)) this.ended(job);
    }
  }

  private async taking(act: () => Promise<void>): Promise<boolean> {
    this.busy.value = true;
    this.refusal.value = null;
    try {
      await act();
      return true;
    } catch (error) {
      if (!isAbort(error)) this.refusal.value = error;
      return false;
    } finally {
      this.busy.value = false;
    }
  }
}

function undoneOf({ undone, refused }: UndoAnswer): string {
  const [why] = refused;
  return [words.history.undone(undone.length), ...(why ? [words.history.stays(refused.length, why.problem.detail)] : [])].join(' ');
}

/**
 * The known jobs, updated by newer reports of some of them; the latest first. A finished one stays finished, however
 * late an answer comes.
 */
export function merged(known: readonly BackgroundJob[], listed: readonly BackgroundJob[]): readonly BackgroundJob[] {
  const jobs = new Map(known.map((job) => [job.id, job]));
  for (const job of listed) {
    const before = jobs.get(job.id);
    if (!before || isOpen(before) || !isOpen(job)) jobs.set(job.id, job);
  }
  return [...jobs.values()].sort((a, b) => (a.id < b.id ? 1 : -1));
}
