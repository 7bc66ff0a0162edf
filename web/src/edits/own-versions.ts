/** The last versions of issues that this tab wrote, one directly after the other. */
interface Run {
  /** The version that the first write was made on top of, or itself if that is not the version before it. */
  readonly first: number;
  readonly last: number;
}

export class OwnVersions {
  private readonly runs = new Map<number, Run>();

  /** The last version that is known; 0 for none. An issue may be out of view when it is written again. */
  last(num: number): number {
    return this.runs.get(num)?.last ?? 0;
  }

  /** An issue was written on top of a version, which others may have changed before that. */
  wrote(num: number, version: number, base = version): void {
    const run = this.runs.get(num);
    if (run?.last === version) return;
    const first = run?.last === version - 1 ? run.first : base === version - 1 ? base : version;
    this.runs.set(num, { first, last: version });
  }

  /** Someone else wrote this version. */
  saw(num: number, version: number): void {
    this.runs.set(num, { first: version, last: version });
  }

  /** The last version since the given one, if only this tab wrote all of them; otherwise the given one. */
  since(num: number, version: number): number {
    const run = this.runs.get(num);
    return run && run.first <= version && version <= run.last ? run.last : version;
  }
}
