/**
 * Offers to undo the last deletion or bulk change of this page, in a toast. An offer ends when its step is no longer one
 * that undo takes back.
 */
import { computed, signal, type ReadonlySignal } from '@preact/signals';
import type { BackgroundJob } from '../api/types';
import type { Change } from '../edits/change';
import { stepOfJobs, type History } from '../edits/history';
import { words } from '../words';
import { isOpen, isPreview } from './jobs';

export interface Offer {
  /** Another one has another number. */
  readonly key: number;
  readonly text: string;
  /** The step that it undoes. */
  readonly step: Change;
}

export class UndoOffer {
  readonly current: ReadonlySignal<Offer | null>;
  private readonly made = signal<Offer | null>(null);
  private count = 0;

  constructor(private readonly history: ReadonlySignal<History>) {
    this.current = computed(() => {
      const offer = this.made.value;
      return offer && history.value.done.includes(offer.step) ? offer : null;
    });
  }

  /** Offer to undo a step that deleted issues. Returns false if it deleted none, or is no step of undo. */
  deleted(step: Change): boolean {
    if (!step.deleted.length || !this.history.peek().done.includes(step)) return false;
    this.make(step, words.actions.deleted(step.deleted.length));
    return true;
  }

  /** A job has ended: offer to undo the step, if that is one of this page, and all of its jobs have ended. */
  jobEnded({ kind, change }: Pick<BackgroundJob, 'kind' | 'change'>, jobs: readonly BackgroundJob[]): void {
    const step = stepOfJobs(this.history.peek(), change);
    const parts = jobs.filter((one) => one.change === change && !isPreview(one));
    const done = parts.reduce((sum, one) => sum + one.done, 0);
    if (!step || !done || parts.some(isOpen)) return;
    this.make(step, kind === 'delete' ? words.actions.deleted(done) : words.actions.changed(done));
  }

  dismiss(): void {
    this.made.value = null;
  }

  private make(step: Change, text: string): void {
    this.count += 1;
    this.made.value = { key: this.count, text, step };
  }
}
