/** What was deleted and can be restored for a while, or removed for good: issues, fields. What brings and takes them is behind `DeletedCalls`. */
import { signal } from '@preact/signals';
import { ApiError } from '../api/problem';
import { Paged, type ListPage } from './paged';

/** By whom something was deleted, when, and until when it can be restored. */
export interface Deletion {
  readonly name: string;
  readonly deleted: string;
  readonly deleted_by: string;
  readonly expires: string;
}

export interface DeletedCalls<T> {
  /** What tells one from the others. */
  readonly keyOf: (one: T) => string | number;
  readonly list: (cursor: string | null, signal: AbortSignal) => Promise<ListPage<T>>;
  readonly restore: (one: T, headers: Readonly<Record<'Idempotency-Key', string>>) => Promise<unknown>;
  readonly purge: (one: T) => Promise<unknown>;
  /** Hears that something has come back. */
  readonly restored: () => void;
}

export class Deleted<T extends Deletion> {
  readonly things: Paged<T>;
  /** Why the last one was not restored or removed. */
  readonly refusal = signal<unknown>(null);
  readonly busy = signal(false);
  /** What was deleted just now. */
  readonly latest = signal<T | null>(null);

  constructor(private readonly calls: DeletedCalls<T>) {
    this.things = new Paged(calls.list);
  }

  keyOf(one: T): string | number {
    return this.calls.keyOf(one);
  }

  /** Bring one back. Answers whether it is. */
  async restore(one: T): Promise<boolean> {
    const taken = await this.take(one, () => this.calls.restore(one, { 'Idempotency-Key': crypto.randomUUID() }));
    if (taken) this.calls.restored();
    return taken;
  }

  /** Remove one for good. Answers whether it is. */
  purge(one: T): Promise<boolean> {
    return this.take(one, () => this.calls.purge(one));
  }

  /** Something was deleted just now: read what the API tells of it, so that it can be offered. */
  async expect(isIt: (one: T) => boolean): Promise<void> {
    this.refusal.value = null;
    await this.things.load();
    this.latest.value = this.things.list.peek()?.find(isIt) ?? null;
  }

  /** Offer what was deleted just now no more. */
  dismiss(): void {
    this.latest.value = null;
    this.refusal.value = null;
  }

  private async take(one: T, act: () => Promise<unknown>): Promise<boolean> {
    if (this.busy.peek()) return false;
    this.busy.value = true;
    this.refusal.value = null;
    try {
      await act();
      this.forget(one);
      return true;
    } catch (error) {
      this.refusal.value = error;
      // Somebody else was faster, or its time is over: show what is there.
      if (error instanceof ApiError && [404, 409, 412].includes(error.status)) await this.things.load();
      if (error instanceof ApiError && error.status === 404) this.forget(one);
      return false;
    } finally {
      this.busy.value = false;
    }
  }

  private forget(gone: T): void {
    const key = this.keyOf(gone);
    this.things.drop((one) => this.keyOf(one) === key);
    const latest = this.latest.peek();
    if (latest && this.keyOf(latest) === key) this.latest.value = null;
  }
}
