/** The order in which changes are written. */
import { signal } from '@preact/signals';
import type { Unsent, UnsentChanges } from './unsent';

/** The place of a change in the order. */
export interface Turn {
  readonly unsent: Unsent;
  /** Settles after all changes before it. */
  readonly earlier: Promise<unknown>;
  /** Later changes no longer wait for it. */
  readonly end: () => void;
}

export class WriteOrder {
  /** The number of undos and redos that are not over. */
  readonly steps = signal(0);
  private last: Promise<unknown> = Promise.resolve();
  private lastStep: Promise<unknown> = Promise.resolve();

  constructor(private readonly unsent: UnsentChanges) {}

  /** Make a change whose turn comes after all changes on the way, and before later ones. */
  change<T>(make: (turn: Turn) => Promise<T>): Promise<T> {
    const { last: earlier } = this;
    const unsent = this.unsent.begin();
    let ended: () => void = () => undefined;
    this.last = new Promise<void>((resolve) => (ended = resolve));
    const end = () => {
      this.unsent.end(unsent);
      ended();
    };
    return make({ unsent, earlier, end }).finally(end);
  }

  /**
   * Undo or redo a step after all changes on the way, and after earlier calls. Until then the last step and the numbers of
   * its issues are not known. Changes that the user makes meanwhile are written after it, on top.
   */
  step<T>(take: (turn: Turn) => Promise<T>): Promise<T> {
    this.steps.value += 1;
    const { lastStep } = this;
    const step = this.change(async (turn) => {
      await Promise.all([lastStep, turn.earlier]);
      return take(turn);
    }).finally(() => (this.steps.value -= 1));
    this.lastStep = step.catch(() => undefined);
    return step;
  }
}
