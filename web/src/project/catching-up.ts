/** Reads a list again until it has the version that was reported: copies of the table differ for moments. */
export class CatchingUp {
  private wanted = 0;
  private reading = new AbortController();

  /** `has`: whether the list that was loaded last has a version. `pauses`: milliseconds before each attempt. */
  constructor(
    private readonly load: () => Promise<void>,
    private readonly has: (version: number) => boolean,
    private readonly pauses: readonly number[],
  ) {}

  /** A version was reported; 0: any may have come. Null: only others changed, and a read in progress continues. */
  report(version: number | null): void {
    if (version === null) return;
    this.wanted = Math.max(this.wanted, version);
    this.close();
    this.reading = new AbortController();
    void this.read(this.reading.signal);
  }

  /** The list must have a version: read it again unless it has. */
  expect(version: number): void {
    if (!this.has(version)) this.report(version);
  }

  close(): void {
    this.reading.abort();
  }

  private async read(signal: AbortSignal): Promise<void> {
    for (const pause of this.pauses) {
      await new Promise((resolve) => setTimeout(resolve, pause));
      if (signal.aborted) return;
      await this.load();
      if (this.has(this.wanted)) return;
    }
  }
}
