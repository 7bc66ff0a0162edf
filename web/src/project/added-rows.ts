/** Rows at the end of the screen, without a place yet: new issues, and drafts, which are no issues yet. */
import { computed, signal } from '@preact/signals';
import type { Project } from '../api/types';
import type { Kept, Patch } from '../edits/change';
import type { Field } from '../fields/fields';
import { isDraft, rowOf, type Row } from '../fields/values';
import { ADDED, type Run } from '../rows/layout';

export class AddedRows {
  private readonly rows = signal<readonly Row[]>([]);
  readonly isEmpty = computed(() => !this.rows.value.length);
  /** The number of the next draft. */
  private next = 0;
  /** The drafts in which the user has entered a value. */
  private readonly kept = signal<ReadonlySet<number>>(new Set());
  readonly hasKept = computed(() => this.kept.value.size > 0);
  /** The drafts that are becoming issues, by the body with which each is created. */
  private readonly becoming = new Map<Patch, number>();

  constructor(
    private readonly project: Project,
    private readonly fields: readonly Field[],
    /** A row as it is shown, with edits of it. */
    private readonly held: (num: number) => Row | undefined,
    /** Called with the rows when they have changed, to show them. */
    private readonly show: (rows: readonly Row[]) => void,
  ) {}

  get length(): number {
    return this.rows.peek().length;
  }

  /** The drafts, in the order in which they began. */
  get drafts(): readonly number[] {
    return this.rows.peek().flatMap(({ num }) => (isDraft(num) ? [num] : []));
  }

  /** The user has entered a value in a draft: it stays until it is an issue, or is deleted. */
  keep(draft: number): void {
    if (this.has(draft)) this.kept.value = new Set(this.kept.peek()).add(draft);
  }

  isKept(draft: number): boolean {
    return this.kept.peek().has(draft);
  }

  /** Whether there are rows that go to their places once the user moves on: others than drafts with values. */
  get hasPassing(): boolean {
    return this.rows.peek().some(({ num }) => !this.isKept(num));
  }

  /** The rows from an offset on, if the API has none of them. */
  unwritten(offset: number, limit: number): readonly Row[] | null {
    return this.rows.peek().every(({ num }) => isDraft(num)) ? this.rows.peek().slice(offset, offset + limit).map((row) => this.held(row.num) ?? row) : null;
  }

  has(num: number): boolean {
    return this.rows.peek().some((row) => row.num === num);
  }

  /** The run of the layout that shows them. */
  run(): Run {
    return { key: ADDED, filter: { field: 'num', op: 'in', value: this.rows.peek().map(({ num }) => num) }, count: this.length };
  }

  /** Add a draft with these values. Returns its number. */
  draft(body: Patch): number {
    const num = this.next;
    this.next -= 1;
    const { values, ...row } = this.rowOf({ num, version: 0, body });
    this.change([...this.rows.peek(), { ...row, values: { ...values, num: null } }]);
    return num;
  }

  dropDraft(num: number): void {
    this.unkeep(num);
    this.change(this.rows.peek().filter((row) => row.num !== num));
  }

  /** An issue is created from a draft, with this body. Returns how to end that. */
  become(num: number, body: Patch): () => void {
    this.becoming.set(body, num);
    return () => this.becoming.delete(body);
  }

  /**
   * Add issues that were just created, each in the place of its draft. Returns whether they are shown: not those of drafts
   * that the user has left.
   */
  add(issues: readonly Kept[]): boolean {
    const replacing = new Map<number, Row>();
    const others: Row[] = [];
    for (const issue of issues) {
      const draft = this.becoming.get(issue.body);
      if (draft === undefined) others.push(this.rowOf(issue));
      else if (this.has(draft)) {
        replacing.set(draft, this.rowOf(issue));
        this.unkeep(draft);
      } else return false;
    }
    this.change([...this.rows.peek().map((row) => replacing.get(row.num) ?? row), ...others]);
    return true;
  }

  /** These issues were deleted. */
  remove(nums: readonly number[]): void {
    if (nums.some((num) => this.has(num))) this.change(this.rows.peek().filter(({ num }) => !nums.includes(num)));
  }

  /** Forget them: they are read again, in their places. Drafts with values stay. */
  forget(): void {
    if (this.hasKept.peek()) this.change(this.rows.peek().filter(({ num }) => this.isKept(num)));
    else this.rows.value = [];
  }

  private unkeep(draft: number): void {
    this.kept.value = new Set([...this.kept.peek()].filter((one) => one !== draft));
  }

  private change(rows: readonly Row[]): void {
    this.rows.value = rows.map((row) => {
      const held = this.held(row.num);
      return held && held.version >= row.version ? held : row;
    });
    this.show(this.rows.peek());
  }

  private rowOf({ num, version, body }: Kept): Row {
    const state = this.project.states[0]?.value ?? '';
    const defaults = Object.fromEntries(this.fields.flatMap((field) => (field.default === null ? [] : [[field.id, field.default]])));
    const row = rowOf({ state, fields: {}, ...body, num, version });
    // Its computed values are not known yet.
    return { ...row, computedFrom: undefined, values: { ...defaults, ...row.values } };
  }
}
