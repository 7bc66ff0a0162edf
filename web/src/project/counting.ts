/** How many issues the present filter leaves, asked apart from the rows: counting never delays one. */
import { signal } from '@preact/signals';
import type { Api } from '../api/client';
import type { Filter } from '../api/types';
import { unfollowed, type Asks } from './following';
import { fetchCounts, type Counts } from './queries';

export class Counting {
  /** Null until they are known. */
  readonly counts = signal<Counts | null>(null);
  /** Why they could not be told. */
  readonly error = signal<unknown>(null);
  private request = new AbortController();

  constructor(
    private readonly api: Api,
    private readonly project: string,
    private readonly counted: (counts: Counts) => void,
    private readonly asks: Asks = unfollowed,
  ) {}

  /** Count what a filter leaves. What was counted before stays until then, where only the issues may have changed. */
  async ask(filter: Filter | null, { anew = false } = {}): Promise<void> {
    this.stop();
    const request = new AbortController();
    this.request = request;
    this.error.value = null;
    if (!anew) this.counts.value = null;
    const answered = this.asks('places');
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

  /** Show how many there are now, while the rows stay as they are. */
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
