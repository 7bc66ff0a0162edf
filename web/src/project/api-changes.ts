/** Changes that the API makes by itself: bulk changes by jobs, and the undo of a change by its id. */
import { ApiError } from '../api/problem';
import { isPassing } from '../api/retry';
import type { BackgroundJob, ChangeEvent } from '../api/types';
import { permits } from '../auth/session';
import type { Change } from '../edits/change';
import { changeId } from '../edits/change-id';
import type { Outcome } from '../edits/editor';
import { stepOfJobs } from '../edits/history';
import { countTouched } from '../edits/revert';
import type { Target } from '../rows/targets';
import { words } from '../words';
import { orderOf } from '../view/view';
import type { BulkEdit } from './jobs';
import type { ProjectModel } from './model';

export class ApiChanges {
  constructor(private readonly model: ProjectModel) {}

  /** Start to change or delete many issues, and show the progress. */
  async begin(order: { readonly targets: readonly Target[] } & (BulkEdit | { readonly set: null })): Promise<boolean> {
    const change = changeId();
    const known = this.model.jobs.list.peek().length;
    const begun = await this.model.jobs.begin({ ...order, sort: orderOf(this.model.view.peek()) }, change);
    if (this.model.jobs.list.peek().length > known) this.model.editor.began(change);
    this.model.panels.window.value = 'jobs';
    return begun;
  }

  /** Undo a step, by default the last. Null for a step of jobs, whose undo the window of jobs shows. */
  undo(step?: Change): Promise<Outcome | null> {
    return this.model.editor.undo(step, (change) => this.undoJobs(change));
  }

  /** Undo a job that the list of jobs shows; if it belongs to a step of this page, the whole step. */
  async undoListed(job: Pick<BackgroundJob, 'change' | 'created_by'>): Promise<void> {
    const isOwn = job.created_by === this.model.user.user;
    const step = isOwn ? stepOfJobs(this.model.editor.history.peek(), job.change) : undefined;
    if (step) await this.undo(step);
    else await this.model.jobs.undo(job);
  }

  /** Undo all jobs of an own change. Returns false if that was refused, and may succeed later. */
  private async undoJobs(change: string): Promise<boolean> {
    this.model.panels.window.value = 'jobs';
    await this.model.jobs.undo({ change, created_by: this.model.user.user });
    return !mayPass(this.model.jobs.refusal.peek());
  }

  /** The number of issues that a change in a history affected; null if the API cannot revert so many at once. */
  async touched({ change, by }: Pick<ChangeEvent, 'change' | 'by'>): Promise<number | null> {
    return countTouched(this.model.api, this.model.project.id, { change: change ?? '', ...(by !== null && { by }) });
  }

  /** Revert a change that a history lists, in all affected issues, or in one. Returns the text to show. */
  async revert({ change, by }: Pick<ChangeEvent, 'change' | 'by'>, num: number | null): Promise<string> {
    if (change === null) return '';
    const { issues = null, problems } = await this.model.editor.revert({ change, ...(by !== null && { by }), ...(num !== null && { nums: [num] }) });
    const [why] = problems;
    return [
      ...(issues === 0 ? [] : [words.history.undone(issues)]),
      ...(why ? [words.history.stays(problems.length, why.detail ?? why.title)] : []),
    ].join(' ');
  }

  /** Whether the user may revert a change by this user. */
  mayRevert({ change, by }: Pick<ChangeEvent, 'change' | 'by'>): boolean {
    return this.model.canEdit && change !== null && by !== null && (by === this.model.user.user || permits(this.model.role, 'admin'));
  }
}

/** Whether a refused undo may succeed later: the API is busy, a job of the change is open yet, or the history lags. */
function mayPass(refusal: unknown): boolean {
  return isPassing(refusal) || (refusal instanceof ApiError && (refusal.kind === 'conflict' || refusal.kind === 'history-not-ready'));
}
