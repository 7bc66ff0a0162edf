/** Reads of what the user changes meanwhile: a read that overlaps a change may lack it, and is repeated after the change. */
export class Fresh {
  private changes = 0;
  private readonly open = new Set<Promise<unknown>>();
  /** Ends with the last change that was given in turn. */
  private turn: Promise<unknown> = Promise.resolve();

  /** Make a change. It must not wait for a read. */
  async change<T>(call: () => Promise<T>): Promise<T> {
    this.outdate();
    const change = call();
    this.open.add(change);
    try {
      return await change;
    } finally {
      this.open.delete(change);
    }
  }

  /** Make a change after the earlier ones in turn, even if these fail: the API then has them in the order of the user. */
  changeInTurn<T>(call: () => Promise<T>): Promise<T> {
    return this.change(() => {
      const change = this.turn.then(call, call);
      this.turn = change;
      return change;
    });
  }

  /** Something has changed: repeat the reads that have begun. */
  outdate(): void {
    this.changes += 1;
  }

  async read<T>(read: () => Promise<T>): Promise<T> {
    for (;;) {
      while (this.open.size) await Promise.allSettled(this.open);
      const before = this.changes;
      const answer = await read();
      if (before === this.changes) return answer;
    }
  }
}
