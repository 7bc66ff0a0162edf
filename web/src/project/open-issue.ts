/** The issue in the panel, with all its fields: read when it is opened, and edited there as in the grid. */
import { signal } from '@preact/signals';
import type { Api } from '../api/client';
import { isAbort } from '../api/problem';
import type { Issue } from '../api/types';
import type { HeldRows } from '../edits/editor';
import { readIssue } from '../edits/writes';
import { rowOf, type Row } from '../fields/values';

export class OpenIssue implements HeldRows {
  /** The issue on the screen: as it was read, with the user's edits. */
  readonly row = signal<Row | null>(null);
  /** The authors and times of its creation and last change, according to the last read. */
  readonly trail = signal<Issue | null>(null);
  readonly error = signal<unknown>(null);
  private reading = new AbortController();

  constructor(
    private readonly api: Api,
    private readonly project: string,
    /** A row that was read, with the changes that its answer may lack: delivered ones, and the user's unanswered edits. */
    private readonly upToDate: (row: Row) => Row,
  ) {}

  /** Read an issue, unless it has been read in this version or a later one. */
  async show(num: number, version = 0): Promise<void> {
    const trail = this.trail.peek();
    if (this.row.peek()?.num !== num) this.row.value = null;
    else if (trail?.num === num && version && trail.version >= version) return;
    this.reading.abort();
    const reading = new AbortController();
    this.reading = reading;
    this.error.value = null;
    try {
      const issue = await readIssue(this.api, this.project, num, reading.signal);
      if (reading.signal.aborted) return;
      const read = this.upToDate(rowOf(issue));
      const held = this.held(num);
      // The answer may be from before a write that the row shows already.
      if (held && held.version > read.version) return;
      this.trail.value = issue;
      this.row.value = read;
    } catch (error) {
      if (!isAbort(error)) this.error.value = error;
    }
  }

  hide(): void {
    this.reading.abort();
    this.row.value = null;
    this.trail.value = null;
  }

  held(num: number): Row | undefined {
    const row = this.row.peek();
    return row?.num === num ? row : undefined;
  }

  replace(num: number, change: (row: Row) => Row): void {
    const row = this.held(num);
    if (row) this.row.value = change(row);
  }
}
