/** The preview of a bulk change: jobs that write nothing, one for each target. */
import { computed, signal } from '@preact/signals';
import { formatJson } from '../api/json';
import type { BackgroundJob, PreviewedValue } from '../api/types';
import type { Target } from '../rows/targets';
import { orderOf } from '../view/view';
import { isOpen, type BulkEdit, type Jobs } from './jobs';
import type { ProjectModel } from './model';

/** The outcome of the jobs together, as far as they are. */
export interface Outlook {
  readonly state: 'open' | 'done' | 'failed';
  readonly jobs: readonly BackgroundJob[];
  readonly done: number;
  /** Null until all issues are counted. */
  readonly total: number | null;
  readonly changed: number;
  readonly refused: number;
  readonly examples: readonly PreviewedValue[];
}

/** Values that are shown. */
const EXAMPLES = 10;

export type Previewed = { readonly targets: readonly Target[] } & BulkEdit;

export class Preview {
  /** The outcome for the last request; null without one. */
  readonly outlook = computed(() => {
    const begun = this.begun.value;
    return begun && outlookOf(this.jobs.list.value.filter(({ id }) => begun.ids.includes(id)));
  });
  private readonly begun = signal<{ readonly of: string; readonly ids: readonly string[] } | null>(null);
  private readonly jobs: Jobs;

  constructor(private readonly model: Pick<ProjectModel, 'jobs' | 'view'>) {
    this.jobs = model.jobs;
  }

  /** Find out what a change would do. */
  async begin(request: Previewed): Promise<void> {
    this.end();
    const sort = orderOf(this.model.view.peek());
    const of = this.textOf(request);
    const ids = await this.jobs.preview({ ...request, sort });
    if (this.jobs.refusal.peek() === null) this.begun.value = { of, ids };
  }

  /** Whether the outcome is that of this change. */
  isOf(request: Previewed | null): boolean {
    return request !== null && this.begun.value?.of === this.textOf(request);
  }

  /** Nobody waits for the outcome any more. */
  end(): void {
    for (const job of this.outlook.peek()?.jobs ?? []) if (isOpen(job)) void this.jobs.cancel(job);
    this.begun.value = null;
  }

  /** The request as text, without the numbers of issues: these may change while others work. */
  private textOf({ targets, ...edit }: Previewed): string {
    return formatJson([targets.map(({ filter, rows }) => [filter, rows]), orderOf(this.model.view.value), edit]);
  }
}

export function outlookOf(jobs: readonly BackgroundJob[]): Outlook {
  const sumOf = (count: (job: BackgroundJob) => number) => jobs.reduce((sum, job) => sum + count(job), 0);
  return {
    state: jobs.some(({ state }) => state === 'failed' || state === 'cancelled') ? 'failed' : jobs.some(isOpen) ? 'open' : 'done',
    jobs,
    done: sumOf(({ done, refused }) => done + refused),
    total: jobs.some(({ total }) => total === null) ? null : sumOf(({ total }) => total ?? 0),
    changed: sumOf(({ changed }) => changed ?? 0),
    refused: sumOf(({ refused }) => refused),
    examples: jobs.flatMap(({ examples }) => examples ?? []).slice(0, EXAMPLES),
  };
}
