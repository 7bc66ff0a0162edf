/** How late the index is. While it lacks changes, it is looked at again, so that the page does not show them as pending when they no longer are. */
import { signal } from '@preact/signals';
import { isAbort } from '../api/problem';
import type { IndexAge } from '../api/types';

/** Milliseconds until the first look; each further look waits twice as long as the one before, up to the longest. */
const FIRST_WAIT = 4_000;
const LONGEST_WAIT = 60_000;

export class IndexLag {
  /** As the last answer has it; null before there is one. */
  readonly age = signal<IndexAge | null>(null);
  private wait = FIRST_WAIT;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly closed = new AbortController();

  constructor(
    private readonly look: (signal: AbortSignal) => Promise<IndexAge>,
    private readonly isHidden: () => boolean = () => document.hidden,
  ) {}

  /** An answer that was read from the index has this age. */
  take(age: IndexAge): void {
    this.age.value = age;
    clearTimeout(this.timer);
    if (age.pending) this.timer = setTimeout(() => void this.lookAgain(), this.wait);
    else this.wait = FIRST_WAIT;
  }

  close(): void {
    clearTimeout(this.timer);
    this.closed.abort();
  }

  private async lookAgain(): Promise<void> {
    this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
    const present = this.age.peek();
    const read = this.isHidden() ? present : await this.look(this.closed.signal).catch((error: unknown) => (isAbort(error) ? null : present));
    // Another answer came meanwhile, and waits for the next look.
    if (read && present === this.age.peek()) this.take(read);
  }
}
