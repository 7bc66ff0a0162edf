/** Runs tasks beside each other, at most a number of them at once. */
export class Flight {
  private readonly running = new Set<Promise<void>>();
  private failure: { readonly error: unknown } | null = null;

  constructor(private readonly most: number) {}

  /** Begin a task when there is room for it. Rejects with the error of a task that has failed; then none begins. */
  async begin(task: () => Promise<void>): Promise<void> {
    while (this.running.size >= this.most) await Promise.race(this.running);
    this.check();
    const one: Promise<void> = task()
      .catch((error: unknown) => void (this.failure ??= { error }))
      .finally(() => this.running.delete(one));
    this.running.add(one);
  }

  /** Settle when no task runs any more; reject if one has failed. */
  async end(): Promise<void> {
    await this.settled();
    this.check();
  }

  async settled(): Promise<void> {
    await Promise.all(this.running);
  }

  private check(): void {
    if (this.failure) throw this.failure.error;
  }
}
