/**
 * The number of issues that match the present filter. It is requested apart from the rows, so that counting never
 * delays one.
 */
import { signal } from '@preact/signals';
import type { Api } from '../api/client';
import type { Filter } from '../api/types';
import { unfollowed, type Requested } from './following';
import { fetchCounts, type Counts } from './queries';

export class Counting {
  /** Null until they are known. */
  readonly counts = signal<Counts | null>(null);
  /** Why they could not be counted. */
  readonly error = signal<unknown>(null);
  private request = new AbortController();

  constructor(
    private readonly api: Api,
    private readonly project: string,
    private readonly counted: (counts: Counts) => void,
    private readonly requested: Requested = unfollowed,
  ) {}

  /** Count the issues that match a filter. If only the issues may have changed, the former count stays until then. */
  async ask(filter: Filter | null, { again = false } = {}): Promise<void> {
    this.stop();
    const request = new AbortController();
    this.request = request;
    this.error.value = null;
    if (!again) this.counts.value = null;
    const answered = this.requested('places');
    try {
      const counts = await fetchCounts(this.api, this.project, filter, request.signal);
      if (request.signal.aborted) return;
      this.counts.value = counts;
      this.counted(counts);
      answered(counts.changes);
    } catch (error) {
      if (request.signal.aborted) return;
      this.counts.value = null;
      this.error.value = error;
    }
  }

  /** Show the present count, while the rows stay as they are. */
  async recount(filter: Filter | null): Promise<void> {
    const { signal } = this.request;
    if (this.counts.peek() === null) return;
    const counts = await fetchCounts(this.api, this.project, filter, signal).catch(() => null);
    if (counts && !signal.aborted) this.counts.value = counts;
  }

  stop(): void {
    this.request.abort();
  }
}
