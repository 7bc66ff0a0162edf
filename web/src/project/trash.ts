/** The trash of a project: what was deleted in the last 30 days, to be restored, or removed for good. */
import { signal } from '@preact/signals';
import type { Api } from '../api/client';
import { ApiError } from '../api/problem';
import type { TrashedIssue } from '../api/types';
import { Paged } from './paged';

export class Trash {
  readonly issues: Paged<TrashedIssue>;
  /** Why the last issue was not restored or removed. */
  readonly refusal = signal<unknown>(null);
  readonly busy = signal(false);

  constructor(
    private readonly api: Api,
    private readonly project: string,
    /** Hears that an issue has come back. */
    private readonly restored: () => void,
  ) {
    this.issues = new Paged(async (cursor, signal) => {
      const { body } = await api.call('GET', '/v1/projects/{project}/trash', {
        path: { project },
        query: cursor === null ? {} : { cursor },
        signal,
      });
      return body;
    });
  }

  async restore(num: number): Promise<void> {
    await this.take(num, async () => {
      await this.api.call('POST', '/v1/projects/{project}/trash/{num}/restore', {
        path: { project: this.project, num },
        headers: { 'Idempotency-Key': crypto.randomUUID() },
      });
      this.restored();
    });
  }

  async purge(num: number): Promise<void> {
    await this.take(num, () => this.api.call('DELETE', '/v1/projects/{project}/trash/{num}', { path: { project: this.project, num } }));
  }

  private async take(num: number, act: () => Promise<unknown>): Promise<void> {
    this.busy.value = true;
    this.refusal.value = null;
    try {
      await act();
      this.issues.drop((issue) => issue.num === num);
    } catch (error) {
      this.refusal.value = error;
      // Somebody else was faster.
      if (error instanceof ApiError && error.status === 404) await this.issues.load();
    } finally {
      this.busy.value = false;
    }
  }
}
