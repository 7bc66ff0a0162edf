/**
 * Sends the user's changes. A write without an answer is sent again until the API answers. It is the same request, so
 * that it takes effect once. Later changes wait for their turn.
 */
import { computed, signal } from '@preact/signals';
import { ApiError } from '../api/problem';
import { isPassing } from '../api/retry';

/** Milliseconds before a write is sent again: each wait is twice as long as the one before. */
const LEAST_WAIT = 1_000;
const LONGEST_WAIT = 15_000;

export type WriteQueueState = 'empty' | 'sending' | 'waiting';

export class WriteQueue {
  /** Cells and issues whose change has no answer yet. */
  readonly unsent = signal(0);
  /** Requests that had no answer and will be sent again. */
  private readonly waiting = signal(0);
  /** Whether a request had no answer since the writeQueue was last empty. */
  private readonly delayed = signal(false);
  /** Whether changes wait for the connection; “sending” only once some of them had to. */
  readonly state = computed<WriteQueueState>(() =>
    !this.unsent.value || !this.delayed.value ? 'empty' : this.waiting.value ? 'waiting' : 'sending',
  );
  private readonly wakings = new Set<() => void>();

  /** Count changes until the returned function is called: they have an answer. */
  count(changes: number): () => void {
    this.unsent.value += changes;
    return () => {
      this.unsent.value -= changes;
      if (!this.unsent.peek()) this.delayed.value = false;
    };
  }

  /** Send a request, which is safe to repeat, until it has an answer. Throws a refusal. */
  async send<T>(request: () => Promise<T>): Promise<T> {
    for (let wait = LEAST_WAIT; ; wait = Math.min(2 * wait, LONGEST_WAIT)) {
      try {
        return await request();
      } catch (error) {
        if (!isPassing(error)) throw error;
        await this.pause(Math.max(wait, 1_000 * (error instanceof ApiError ? (error.retryAfter ?? 0) : 0)));
      }
    }
  }

  /** Send everything that waits, now. */
  retry(): void {
    for (const wake of this.wakings) wake();
  }

  private async pause(milliseconds: number): Promise<void> {
    this.delayed.value = true;
    this.waiting.value += 1;
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.wakings.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, milliseconds);
      this.wakings.add(wake);
    });
    this.waiting.value -= 1;
  }
}

/** The write queue of this page. Unsent changes stay in it, even when another project is opened. */
export const writeQueue = new WriteQueue();
