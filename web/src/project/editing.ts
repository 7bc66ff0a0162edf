/** The cells that the user is editing: those with an open editor, and the edits and placements without an answer yet. */
import { computed, signal } from '@preact/signals';
import type { Editor } from '../edits/editor';
import { keyOf } from '../edits/marks';

export class Editing {
  /** The cells whose editor is open. */
  private readonly open = signal<ReadonlySet<string>>(new Set());
  /** Whether the user is editing, or an edit is being written. */
  readonly isActive = computed(() => this.open.value.size > 0 || this.editor.placing.value > 0 || [...this.editor.marks.value.values()].some(({ kind }) => kind === 'pending'));
  /** How often the user has begun to edit. */
  begun = 0;
  /** Stop counting. */
  readonly stop: () => void;

  constructor(
    private readonly editor: Editor,
    /** Called when an editor is closed, and the entered value is on its way. */
    private readonly closed: () => void,
  ) {
    this.stop = this.isActive.subscribe((isActive) => {
      if (isActive) this.begun += 1;
    });
  }

  get hasOpenEditor(): boolean {
    return this.open.value.size > 0;
  }

  /** The same, for what must not be called again when it changes. */
  get isAnyOpen(): boolean {
    return this.open.peek().size > 0;
  }

  isOpen(num: number, field: string): boolean {
    return this.open.peek().has(keyOf(num, field));
  }

  /** Whether the user is editing a cell, or its value is on the way. */
  isBusy(num: number, field: string): boolean {
    return this.isOpen(num, field) || this.editor.marks.peek().get(keyOf(num, field))?.kind === 'pending';
  }

  /** An editor of a cell opens. Until it closes, changes of the cell by others wait. Returns how to end it. */
  begin(num: number, field: string): () => void {
    const key = keyOf(num, field);
    this.open.value = new Set(this.open.peek()).add(key);
    return () => {
      // The entered value is written first.
      setTimeout(() => {
        this.open.value = new Set([...this.open.peek()].filter((one) => one !== key));
        this.editor.forgetChange(num, field);
        this.closed();
      });
    };
  }

  /** Settles once no editor of a cell is open and no edit is on the way. */
  rest(): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.isActive.subscribe((isActive) => {
        if (isActive) return;
        resolve();
        queueMicrotask(() => stop());
      });
    });
  }
}
