/**
 * Keeps computed values up to date. Events, and the answers to writes of many issues, contain only inputs; so rows in view
 * whose inputs have changed are read again.
 */
import { inputsOf, isOutdated, withComputed, withInputs, type Inputs } from '../fields/computed';
import type { Field } from '../fields/fields';
import { isDraft, type Row } from '../fields/values';
import { Renewing, type RenewedRows } from './renewing';

/** Reads these columns of issues. Issues that it does not find are left out. */
export type ReadRows = (nums: readonly number[], columns: readonly string[]) => Promise<readonly Row[]>;

interface ComputedRows {
  /** The ids of the fields that rows are requested with. */
  readonly columns: () => readonly string[];
  /** Whether an edit of an issue has no answer yet. The answer has its computed values. */
  readonly isWriting: (num: number) => boolean;
  readonly read: ReadRows;
}

export class Computing {
  private readonly inputs: Inputs;
  private readonly renewing: Renewing;

  constructor(
    private readonly rows: RenewedRows,
    private readonly fields: readonly Field[],
    private readonly computed: ComputedRows,
  ) {
    this.inputs = inputsOf(fields);
    this.renewing = new Renewing(rows, {
      isNeeded: () => this.inputs.size > 0,
      isOutdated: (row) => !isDraft(row.num) && !computed.isWriting(row.num) && this.hasOutdated(row),
      read: (nums) => this.readAgain(nums),
    });
  }

  /** Whether the value of a field in a row was computed from other inputs than the row has now. */
  isOutdated(row: Row, field: string): boolean {
    return isOutdated(row, field, this.inputs);
  }

  /** The columns to request, so that changes of what computed ones read are seen. */
  columnsFor(ids: readonly string[]): readonly string[] {
    return [...withInputs(ids, this.fields)];
  }

  /** Read the outdated rows among these at once. */
  async renew(rows: readonly Row[]): Promise<void> {
    const outdated = rows.filter((row) => this.hasOutdated(row));
    if (!outdated.length) return;
    for (const [num, change] of await this.readAgain(outdated.map(({ num }) => num))) this.rows.replace(num, change);
  }

  look(): void {
    this.renewing.look();
  }

  stop(): void {
    this.renewing.stop();
  }

  private hasOutdated(row: Row): boolean {
    return this.computed.columns().some((id) => this.isOutdated(row, id));
  }

  private async readAgain(nums: readonly number[]): Promise<ReadonlyMap<number, (row: Row) => Row>> {
    const columns = this.columnsFor(this.computed.columns());
    const shown = columns.filter((id) => this.inputs.has(id));
    const read = await this.computed.read(nums, columns);
    return new Map(read.map((found) => [found.num, (row) => withComputed(row, found, shown)]));
  }
}
