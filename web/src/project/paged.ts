/** A list that the API returns page by page. */
import { signal } from '@preact/signals';
import { isAbort } from '../api/problem';
import { Fresh } from './fresh';

export interface ListPage<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

export class Paged<T> {
  /** Null before the first page is there. */
  readonly list = signal<readonly T[] | null>(null);
  readonly more = signal(false);
  readonly error = signal<unknown>(null);
  /** Whether no page after the first one was read. */
  isAtStart = true;
  private cursor: string | null = null;
  private request = new AbortController();
  private readonly fresh = new Fresh();

  constructor(private readonly page: (cursor: string | null, signal: AbortSignal) => Promise<ListPage<T>>) {}

  /** Read from the beginning. The former list stays until then. */
  async load(): Promise<void> {
    await this.read(null);
  }

  async next(): Promise<void> {
    if (this.cursor !== null) await this.read(this.cursor);
  }

  /** Make a change of the list in the API. */
  change<R>(call: () => Promise<R>): Promise<R> {
    return this.fresh.change(call);
  }

  /** Remove deleted entries. */
  drop(isGone: (one: T) => boolean): void {
    this.list.value = (this.list.peek() ?? []).filter((one) => !isGone(one));
  }

  close(): void {
    this.request.abort();
  }

  private async read(cursor: string | null): Promise<void> {
    this.request.abort();
    const { signal } = (this.request = new AbortController());
    this.error.value = null;
    try {
      const { items, next } = await this.fresh.read(() => this.page(cursor, signal));
      if (signal.aborted) return;
      this.isAtStart = cursor === null;
      this.cursor = next;
      this.more.value = next !== null;
      this.list.value = cursor === null ? items : [...(this.list.peek() ?? []), ...items];
    } catch (error) {
      if (!isAbort(error)) this.error.value = error;
    }
  }
}
