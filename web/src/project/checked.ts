/**
 * The issues whose boxes are checked, by their numbers: they stay so in another order, under another filter, and when
 * rows move.
 */
import { signal } from '@preact/signals';
import { MAX_NAMED } from '../rows/targets';

export class Checked {
  readonly nums = signal<ReadonlySet<number>>(new Set());
  /** The box that was clicked last, from which Shift extends. */
  private last: { readonly num: number; readonly on: boolean } | null = null;

  has(num: number): boolean {
    return this.nums.peek().has(num);
  }

  /** Check a box, or take the check away. Returns whether there was room. */
  toggle(num: number): boolean {
    const on = !this.has(num);
    this.last = { num, on };
    return this.set([num], on);
  }

  /** The issue of the box that was clicked last; null if there is none. */
  get origin(): number | null {
    return this.last?.num ?? null;
  }

  /** Give these boxes the state of the one that was clicked last. Returns whether there was room for all of them. */
  extend(nums: readonly number[]): boolean {
    return this.set(nums, this.last?.on ?? true);
  }

  /** Check these boxes, as far as there is room. Returns whether there was room for all of them. */
  set(nums: readonly number[], on: boolean): boolean {
    const next = new Set(this.nums.peek());
    let fit = true;
    for (const num of nums) {
      if (!on) next.delete(num);
      else if (next.size < MAX_NAMED) next.add(num);
      else fit &&= next.has(num);
    }
    this.nums.value = next;
    return fit;
  }

  clear(): void {
    this.last = null;
    if (this.nums.peek().size) this.nums.value = new Set();
  }
}
