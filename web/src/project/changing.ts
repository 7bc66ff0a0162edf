/** The changes of a list by the user: whether one is being made, and why the last one was refused. */
import { signal } from '@preact/signals';
import { ApiError } from '../api/problem';

/** Someone else has changed or deleted the thing meanwhile. */
const OUTDATED: ReadonlySet<number> = new Set([404, 412]);

export class Changing {
  readonly busy = signal(false);
  /** Why the last change was refused; null if it was not. */
  readonly refusal = signal<unknown>(null);

  /** `reload` reads the list again, after a change of something that is no longer as the user saw it. */
  constructor(private readonly reload: () => Promise<void>) {}

  /** Make a change. Returns whether the API accepted it. */
  async make(change: () => Promise<unknown>): Promise<boolean> {
    this.busy.value = true;
    this.refusal.value = null;
    try {
      await change();
      return true;
    } catch (error) {
      if (error instanceof ApiError && OUTDATED.has(error.status)) await this.reload();
      this.refusal.value = error;
      return false;
    } finally {
      this.busy.value = false;
    }
  }
}
