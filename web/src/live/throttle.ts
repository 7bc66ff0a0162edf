/** Acts at once, and at most once in so many milliseconds for any number of requests. */
export class Throttle {
  private timer: ReturnType<typeof setTimeout> | null = null;
  private asked = false;

  constructor(
    private readonly milliseconds: number,
    private readonly act: () => void,
  ) {}

  ask(): void {
    if (this.timer !== null) {
      this.asked = true;
      return;
    }
    this.timer = setTimeout(() => {
      this.timer = null;
      if (!this.asked) return;
      this.asked = false;
      this.ask();
    }, this.milliseconds);
    this.act();
  }

  stop(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.asked = false;
  }
}
