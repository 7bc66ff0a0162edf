/**
 * Edits of cells: shown at once, written in the order in which they were made, rolled back when they are refused.
 *
 * Each edit is made under the version that the user saw. If somebody else changed other fields meanwhile, the edit is made on top of that;
 * if they changed the same field, both values are kept as a conflict until the user has chosen.
 */
import { signal } from '@preact/signals';
import type { Api } from '../api/client';
import { ApiError, type ProblemDocument } from '../api/problem';
import { formatValue } from '../cells/format';
import type { Field } from '../fields/fields';
import { rowOf, sameValue, valueOf, type CellValue, type Row } from '../fields/values';
import { words } from '../words';
import { byIssue, fieldOfError, inverse, patchOf, type CellEdit } from './change';
import { did, NO_HISTORY, redid, undid, type History } from './history';
import { keyOf, marked, type Mark, type Marks } from './marks';
import { BATCH, patchIssue, readIssue, writeBatch } from './writes';

/** Where the rows are that an edit is shown in. */
export interface HeldRows {
  held(num: number): Row | undefined;
  replace(num: number, change: (row: Row) => Row): void;
}

export interface Progress {
  readonly done: number;
  readonly of: number;
}

/** How often an edit is made again on top of what others changed. */
const MAX_ROUNDS = 4;

type IssueEdits = readonly [num: number, edits: readonly CellEdit[]];
type Result = { readonly row: Row } | { readonly version: number } | { readonly problem: ProblemDocument };

export class Editor {
  readonly marks = signal<Marks>(new Map());
  readonly history = signal<History>(NO_HISTORY);
  /** Of a write of many issues, while it goes on. */
  readonly progress = signal<Progress | null>(null);
  private queue: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly api: Api,
    private readonly project: string,
    private readonly fields: readonly Field[],
    private readonly rows: HeldRows,
    /** Hears of edits that have been written. */
    private readonly written: (edits: readonly CellEdit[]) => void,
  ) {}

  /** Make edits as one step of undo. Resolves when all are written or refused. */
  async apply(wanted: readonly CellEdit[]): Promise<void> {
    const changed = wanted.filter(({ before, after }) => !sameValue(before, after));
    this.unmark(wanted);
    const edits = await this.make(changed);
    this.history.value = did(this.history.peek(), { edits });
  }

  async undo(): Promise<void> {
    const last = this.history.peek().done.at(-1);
    if (!last) return;
    this.history.value = undid(this.history.peek());
    await this.make(inverse(last.edits));
  }

  async redo(): Promise<void> {
    const last = this.history.peek().undone.at(-1);
    if (!last) return;
    this.history.value = redid(this.history.peek());
    await this.make(last.edits);
  }

  /** Mark a text that is no value of its field. */
  refuse(num: number, field: string, text: string, message: string): void {
    this.mark([{ num, field }], { kind: 'refused', text, message });
  }

  unmark(cells: readonly { readonly num: number; readonly field: string }[]): void {
    this.mark(cells, null);
  }

  /** The user has chosen between both values of a conflict. */
  async resolve(num: number, field: string, take: 'yours' | 'theirs'): Promise<void> {
    const mark = this.marks.peek().get(keyOf(num, field));
    if (mark?.kind !== 'conflict') return;
    if (take === 'theirs') this.unmark([{ num, field }]);
    else await this.apply([{ num, field, before: mark.theirs, after: mark.yours }]);
  }

  /** Show edits, and write them behind those that are being written. Answers those that the API took. */
  private make(edits: readonly CellEdit[]): Promise<readonly CellEdit[]> {
    this.show(edits);
    this.mark(edits, { kind: 'pending' });
    const turn = this.queue.then(() => this.write(edits));
    this.queue = turn.catch(() => undefined);
    return turn;
  }

  private async write(edits: readonly CellEdit[]): Promise<readonly CellEdit[]> {
    const taken: CellEdit[] = [];
    const change = crypto.randomUUID();
    let open = edits;
    for (let round = 0; open.length && round < MAX_ROUNDS; round += 1) open = await this.round(open, change, taken);
    if (open.length) this.rollBack(open, words.edit.busy);
    this.progress.value = null;
    if (taken.length) this.written(taken);
    return taken;
  }

  /** Send edits once. Answers those that may be sent again on top of what others changed. */
  private async round(edits: readonly CellEdit[], change: string, taken: CellEdit[]): Promise<readonly CellEdit[]> {
    const again: CellEdit[] = [];
    const issues = [...byIssue(edits)];
    for (let start = 0; start < issues.length; start += BATCH) {
      if (issues.length > BATCH / 10) this.progress.value = { done: start, of: issues.length };
      const part = issues.slice(start, start + BATCH);
      const results = await this.send(part, change);
      for (const [place, [num, own]] of part.entries()) {
        const result = results[place];
        if (!result) continue;
        if ('problem' in result) {
          again.push(...(await this.refused(num, own, result.problem)));
          continue;
        }
        taken.push(...own);
        this.rows.replace(num, (row) => ('row' in result ? merged(row, result.row) : { ...row, version: result.version }));
        this.unmark(own);
      }
    }
    return again;
  }

  private async send(part: readonly IssueEdits[], change: string): Promise<readonly Result[]> {
    try {
      const [only] = part;
      const row = only && this.rows.held(only[0]);
      if (part.length === 1 && only && row) {
        const issue = await patchIssue(this.api, this.project, row, patchOf(only[1], this.fields), change);
        return [{ row: rowOf(issue) }];
      }
      const operations = part.map(([num, edits]) => {
        const held = this.rows.held(num);
        return { update: { num, ...(held && { version: held.version }), ...patchOf(edits, this.fields) } };
      });
      const outcomes = await writeBatch(this.api, this.project, operations, change);
      return outcomes.map(({ problem, version }) => (problem ? { problem } : { version: version ?? 0 }));
    } catch (error) {
      const problem = error instanceof ApiError ? error.problem : unreachable(error);
      return part.map(() => ({ problem }));
    }
  }

  /** Roll back what a refusal is about. Answers what may be written all the same. */
  private async refused(num: number, edits: readonly CellEdit[], problem: ProblemDocument): Promise<readonly CellEdit[]> {
    if (problem.status === 412) return this.reconcile(num, edits);
    const messages = new Map((problem.errors ?? []).map(({ field, message }) => [fieldOfError(field), message]));
    const faulty = edits.filter(({ field }) => messages.has(field));
    for (const edit of faulty) this.rollBack([edit], messages.get(edit.field) ?? problem.title);
    if (faulty.length) return edits.filter((edit) => !faulty.includes(edit));
    this.rollBack(edits, problem.detail ?? problem.title);
    return [];
  }

  /** Somebody else changed the issue. What they left alone is written on top; the same fields are conflicts. */
  private async reconcile(num: number, edits: readonly CellEdit[]): Promise<readonly CellEdit[]> {
    let current: Row;
    let by: string;
    try {
      const issue = await readIssue(this.api, this.project, num);
      current = rowOf(issue);
      by = issue.updated_by;
    } catch (error) {
      this.rollBack(edits, error instanceof Error ? error.message : String(error));
      return [];
    }
    const clash = edits.filter(({ field, before, after }) => {
      const theirs = valueOf(current, field);
      return !sameValue(theirs, before) && !sameValue(theirs, after);
    });
    const rest = edits.filter((edit) => !clash.includes(edit));
    this.rows.replace(num, (row) => merged(row, current));
    this.show(rest);
    for (const { field, after } of clash) {
      const theirs = valueOf(current, field);
      this.mark([{ num, field }], { kind: 'conflict', yours: after, theirs, version: current.version, by });
    }
    return rest;
  }

  private rollBack(edits: readonly CellEdit[], message: string): void {
    this.show(inverse(edits));
    for (const edit of edits) {
      const type = this.fields.find(({ id }) => id === edit.field)?.type ?? 'text';
      this.mark([edit], { kind: 'refused', text: formatValue(type, edit.after), message });
    }
  }

  /** Put the values into the rows that are held. */
  private show(edits: readonly CellEdit[]): void {
    for (const [num, own] of byIssue(edits)) {
      const values: Record<string, CellValue> = Object.fromEntries(own.map(({ field, after }) => [field, after]));
      this.rows.replace(num, (row) => ({ ...row, values: { ...row.values, ...values } }));
    }
  }

  private mark(cells: readonly { readonly num: number; readonly field: string }[], mark: Mark | null): void {
    if (cells.length) this.marks.value = marked(this.marks.peek(), cells, mark);
  }
}

/** A row with what the API now has of it. A field that it does not have is empty. */
function merged(row: Row, current: Row): Row {
  const cleared = Object.fromEntries(Object.keys(row.values).map((field) => [field, null]));
  return { num: row.num, version: current.version, values: { ...cleared, ...current.values } };
}

function unreachable(error: unknown): ProblemDocument {
  return { type: 'about:blank', title: words.edit.offline, status: 0, detail: error instanceof Error ? words.edit.offline : String(error) };
}
