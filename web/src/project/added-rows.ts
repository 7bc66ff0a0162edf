/** Rows at the end of the screen, without a place yet: new issues, and a draft, which is no issue yet. */
import type { Project } from '../api/types';
import type { Kept, Patch } from '../edits/change';
import type { Field } from '../fields/fields';
import { DRAFT, rowOf, type Row } from '../fields/values';
import { ADDED, type Run } from '../rows/layout';

export class AddedRows {
  private rows: readonly Row[] = [];
  /** Whether the user has left a draft that was becoming an issue. */
  private isLeft = false;

  constructor(
    private readonly project: Project,
    private readonly fields: readonly Field[],
    /** Called with the rows when they have changed, to show them. */
    private readonly show: (rows: readonly Row[]) => void,
  ) {}

  get length(): number {
    return this.rows.length;
  }

  get hasDraft(): boolean {
    return this.has(DRAFT);
  }

  has(num: number): boolean {
    return this.rows.some((row) => row.num === num);
  }

  /** The run of the layout that shows them. */
  run(): Run {
    return { key: ADDED, filter: { field: 'num', op: 'in', value: this.rows.map(({ num }) => num) }, count: this.length };
  }

  /** Add a draft with these values, unless there is one. */
  draft(body: Patch): void {
    if (this.hasDraft) return;
    const { values, ...row } = this.rowOf({ num: DRAFT, version: 0, body });
    this.change([...this.rows, { ...row, values: { ...values, num: null } }]);
  }

  dropDraft(): void {
    this.isLeft = false;
    this.change(this.rows.filter(({ num }) => num !== DRAFT));
  }

  /**
   * Add issues that were just created. The first of them takes the place of a draft. Returns whether they are shown: not
   * those of a draft that the user has left.
   */
  add(issues: readonly Kept[]): boolean {
    const { isLeft } = this;
    this.isLeft = false;
    if (!isLeft) this.change([...this.rows.filter(({ num }) => num !== DRAFT), ...issues.map((issue) => this.rowOf(issue))]);
    return !isLeft;
  }

  /** Forget them: they are read again, in their places. */
  forget(): void {
    this.isLeft ||= this.hasDraft;
    this.rows = [];
  }

  private change(rows: readonly Row[]): void {
    this.rows = rows;
    this.show(rows);
  }

  private rowOf({ num, version, body }: Kept): Row {
    const state = this.project.states[0]?.value ?? '';
    const defaults = Object.fromEntries(this.fields.flatMap((field) => (field.default === null ? [] : [[field.id, field.default]])));
    const row = rowOf({ state, fields: {}, ...body, num, version });
    // Its computed values are not known yet.
    return { ...row, computedFrom: undefined, values: { ...defaults, ...row.values } };
  }
}
