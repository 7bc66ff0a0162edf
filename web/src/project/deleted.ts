/**
 * Deleted items that can be restored for a while, or removed permanently: issues, fields, projects. `DeletedCalls`
 * reads and writes them.
 */
import { signal } from '@preact/signals';
import { ApiError } from '../api/problem';
import { Paged, type ListPage } from './paged';

/** The user who deleted an item, the time, and the end of the time in which it can be restored. */
export interface Deletion {
  readonly name: string;
  readonly deleted: string;
  readonly deleted_by: string;
  readonly expires: string;
}

export interface DeletedCalls<T> {
  /** Identifies an item. */
  readonly keyOf: (one: T) => string | number;
  readonly list: (cursor: string | null, signal: AbortSignal) => Promise<ListPage<T>>;
  readonly restore: (one: T, headers: Readonly<Record<'Idempotency-Key', string>>) => Promise<unknown>;
  readonly purge: (one: T) => Promise<unknown>;
  /** Called when an item was restored. */
  readonly restored: () => void;
}

export class Deleted<T extends Deletion> {
  readonly items: Paged<T>;
  /** Why the last one was not restored or removed. */
  readonly refusal = signal<unknown>(null);
  readonly busy = signal(false);
  /** The item that was deleted just now. */
  readonly latest = signal<T | null>(null);

  constructor(private readonly calls: DeletedCalls<T>) {
    this.items = new Paged(calls.list);
  }

  keyOf(one: T): string | number {
    return this.calls.keyOf(one);
  }

  /** Restore an item. Returns whether that succeeded. */
  async restore(one: T): Promise<boolean> {
    const taken = await this.take(one, () => this.calls.restore(one, { 'Idempotency-Key': crypto.randomUUID() }));
    if (taken) this.calls.restored();
    return taken;
  }

  /** Remove an item permanently. Returns whether that succeeded. */
  purge(one: T): Promise<boolean> {
    return this.take(one, () => this.calls.purge(one));
  }

  /** An item was deleted just now: read it from the API, so that its restoration can be offered. */
  async expect(isIt: (one: T) => boolean): Promise<void> {
    this.refusal.value = null;
    await this.items.load();
    this.latest.value = this.items.list.peek()?.find(isIt) ?? null;
  }

  /** Stop offering the item that was deleted just now. */
  dismiss(): void {
    this.latest.value = null;
    this.refusal.value = null;
  }

  private async take(one: T, act: () => Promise<unknown>): Promise<boolean> {
    if (this.busy.peek()) return false;
    this.busy.value = true;
    this.refusal.value = null;
    try {
      await this.items.change(act);
      this.forget(one);
      return true;
    } catch (error) {
      this.refusal.value = error;
      // Someone else was faster, or its time is over: show the present state.
      if (error instanceof ApiError && [404, 409, 412].includes(error.status)) await this.items.load();
      if (error instanceof ApiError && error.status === 404) this.forget(one);
      return false;
    } finally {
      this.busy.value = false;
    }
  }

  private forget(gone: T): void {
    const key = this.keyOf(gone);
    this.items.drop((one) => this.keyOf(one) === key);
    const latest = this.latest.peek();
    if (latest && this.keyOf(latest) === key) this.latest.value = null;
  }
}
