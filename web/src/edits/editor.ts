/**
 * Changes of issues: edits of cells, new issues and deleted ones. The write queue sends them in their order, and
 * waits while the API is not available. Edits are shown at once, and rolled back if they are refused.
 *
 * Each edit names the version that the user saw. If someone else changed only other fields meanwhile, the API applies
 * the edit on top. If they changed the same field, both values are kept as a conflict until the user chooses.
 */
import { signal } from '@preact/signals';
import type { Api } from '../api/client';
import { ApiError, type ProblemDocument } from '../api/problem';
import type { Issue } from '../api/types';
import { textOf } from '../cells/text';
import type { Field } from '../fields/fields';
import { rowOf, sameValue, valueOf, type CellValue, type Row } from '../fields/values';
import { words } from '../words';
import { changeId } from './change-id';
import { byIssue, clashes, fieldOfError, inverse, isEmpty, newNumbers, NO_CHANGE, patchOf, reverted, type CellEdit, type Change, type Kept, type RefusedIssue } from './change';
import { did, NO_HISTORY, redid, redoing, undid, undoing, withNumbers, without, type History } from './history';
import { keyOf, marked, type Mark, type Marks } from './marks';
import { writeQueue as sharedQueue, type WriteQueue } from './write-queue';
import { OpenCells } from './open-cells';
import { WriteOrder, type Turn } from './order';
import { OwnVersions } from './own-versions';
import { placeRows, type Arrangement } from './placing';
import { revert, type UndoRequest } from './revert';
import { laterOf, withAnswer, withEdits } from './rows';
import { drop, UnsentChanges, type Cell, type Unsent } from './unsent';
import { BATCH, baseOf, patchIssue, problemIn, readIssue, versionOf, writeBatch, type Operation, type OperationResult } from './writes';

/** The rows in which an edit is shown. */
export interface HeldRows {
  held(num: number): Row | undefined;
  replace(num: number, change: (row: Row) => Row): void;
  /** A row as it was read, with the changes delivered since. */
  caughtUp?(row: Row): Row;
  /** Show rows where they are being placed. Returns how to show them where the API has them. */
  place?(places: Arrangement): () => void;
}

export interface Progress {
  readonly done: number;
  readonly of: number;
}

/** The outcome of a change. */
export interface Outcome {
  /** The part that the API accepted, with the numbers of new issues. */
  readonly taken: Change;
  /** Why issues were not created or deleted, one for each. A refused edit is marked at its cell. */
  readonly problems: readonly ProblemDocument[];
  /** The number of issues in which the API reverted a change by its id; null if a job did. */
  readonly issues?: number | null;
}

/** More issues than these are written with progress. */
const SHOWN = 50;

/** How often an edit is repeated on top of changes by others. */
const MAX_ROUNDS = 4;

/** The refusals of an undo whose history is no longer kept. */
const FORGOTTEN: ReadonlySet<string> = new Set(['history-disabled', 'history-expired']);

/** How many ids of this tab's changes are remembered, to recognize them in the feed. */
const MAX_OWN = 200;

type IssueEdits = readonly [num: number, edits: readonly CellEdit[]];

type Result = { readonly row: Row } | { readonly version: number } | { readonly problem: ProblemDocument };

export class Editor {
  readonly marks = signal<Marks>(new Map());
  readonly history = signal<History>(NO_HISTORY);
  /** The progress of a write of many issues, while it runs. */
  readonly progress = signal<Progress | null>(null);
  /** The placements of rows without an answer yet. */
  readonly placing = signal(0);
  /** The issues that were not created or deleted. */
  readonly refusedIssues = signal<readonly RefusedIssue[]>([]);
  readonly open = new OpenCells();
  private readonly versions = new OwnVersions();
  /** The ids of the last changes that were made here. */
  private readonly own = new Set<string>();
  private readonly unsent = new UnsentChanges();
  private readonly order = new WriteOrder(this.unsent);
  /** Undos and redos that are not over. Until then the history lacks their steps. */
  readonly turns = this.order.steps;

  constructor(
    private readonly api: Api,
    private readonly project: string,
    private readonly fields: readonly Field[],
    private readonly rows: HeldRows,
    /** Called with each change that was written. */
    private readonly written: (change: Change) => void,
    private readonly writeQueue: WriteQueue = sharedQueue,
  ) {}

  /**
   * Make a change as one step of undo. Resolves when all of it is written or refused. `seen`: the versions of issues in which
   * the user saw the values before; by default those on the page.
   */
  async apply(wanted: Partial<Change>, seen: ReadonlyMap<number, number> = new Map()): Promise<Outcome> {
    const { edits, made, deleted, places } = { ...NO_CHANGE, ...wanted };
    this.unmark(edits);
    const changed = edits.filter(({ before, after }) => !sameValue(before, after));
    const change = { edits: changed, made, deleted, ...(places && { places }) };
    return this.make(change, did, (unsent) => this.write(change, unsent), seen);
  }

  /**
   * Undo a step, by default the last. Restores the issues that it deleted, and deletes the issues that it created. Null if
   * it is no step any more, or a step of jobs. `undoJobs` reverts these by their id, and returns whether the step is over.
   */
  undo(step?: Change, undoJobs: (job: string) => Promise<boolean> = () => Promise.resolve(true)): Promise<Outcome | null> {
    return this.order.step(async (turn) => {
      const [last, rest] = undoing(this.history.peek(), step);
      if (!last) return null;
      this.history.value = rest;
      if (last.job !== undefined) {
        turn.end();
        if (!(await undoJobs(last.job))) this.history.value = redid(this.history.peek(), last);
        return null;
      }
      if (last.undo !== undefined) return this.reverse(turn, last, undid, redid);
      const back = this.unlessChanged(inverse(last), turn.unsent);
      const { id } = last;
      const write = (unsent: Unsent) => (id === undefined ? this.writeAgain(back, unsent) : this.restore(back, id, unsent));
      return this.carryOut(turn, back, (history, taken) => undid(history, inverse(taken)), write);
    });
  }

  /** A job was started: it is the last step. */
  began(job: string): void {
    this.history.value = did(this.history.peek(), { ...NO_CHANGE, job });
  }

  redo(): Promise<Outcome | null> {
    return this.order.step(async (turn) => {
      const [last, rest] = redoing(this.history.peek());
      if (!last) return null;
      this.history.value = rest;
      if (last.undo !== undefined) return this.reverse(turn, last, redid, undid);
      const again = this.unlessChanged(last, turn.unsent);
      return this.carryOut(turn, again, redid, (unsent) => this.writeAgain(again, unsent));
    });
  }

  /**
   * Revert a change that a history lists, as one step of undo. Only the API knows its content. Throws ApiError if it
   * refuses.
   */
  revert(order: UndoRequest): Promise<Outcome> {
    const note = (history: History, taken: Change) => did(isEmpty(taken) || order.nums ? history : without(history, order.change), taken);
    return this.make(NO_CHANGE, note, () => this.byApi(order));
  }

  /** Whether a change was made here, under this id. */
  owns(change: string | null): boolean {
    return change !== null && this.own.has(change);
  }

  /** Mark a text that is not valid in its field. */
  refuse(num: number, field: string, text: string, message: string): void {
    this.mark([{ num, field }], { kind: 'refused', text, message });
  }

  /** Mark a cell whose value cannot be written yet. */
  hold(num: number, field: string): void {
    this.mark([{ num, field }], { kind: 'pending' });
  }

  unmark(cells: readonly { readonly num: number; readonly field: string }[]): void {
    this.mark(cells, null);
  }

  /** The user has chosen between both values of a conflict. */
  async resolve(num: number, field: string, take: 'yours' | 'theirs'): Promise<void> {
    const mark = this.marks.peek().get(keyOf(num, field));
    if (mark?.kind !== 'conflict') return;
    if (take === 'theirs') this.unmark([{ num, field }]);
    else await this.apply({ edits: [{ num, field, before: mark.theirs, after: mark.yours }] }, new Map([[num, mark.version]]));
  }

  /** Show edits, and write the change after the earlier ones; then record it in the history. */
  private make(
    change: Change,
    note: (history: History, taken: Change) => History,
    write: (unsent: Unsent) => Promise<Outcome>,
    seen?: ReadonlyMap<number, number>,
  ): Promise<Outcome> {
    return this.order.change((turn) => this.carryOut(turn, change, note, write, seen));
  }

  private async carryOut(
    { unsent, earlier }: Turn,
    change: Change,
    note: (history: History, taken: Change) => History,
    write: (unsent: Unsent) => Promise<Outcome>,
    seen: ReadonlyMap<number, number> = new Map(),
  ): Promise<Outcome> {
    const { edits, made, deleted, places } = change;
    const placed = places?.forth.reduce((sum, { nums }) => sum + nums.length, 0) ?? 0;
    for (const [num, own] of byIssue(edits)) {
      unsent.edits.set(num, own);
      const version = seen.get(num);
      unsent.bases.set(num, version === undefined ? this.seen(num) : this.versions.since(num, version));
    }
    // The extent of an undo by the API is not known yet.
    const answered = this.writeQueue.count(edits.length + made.length + deleted.length + placed || 1);
    this.show(edits);
    const putBack = places && this.rows.place?.(places);
    if (places) this.placing.value += 1;
    this.mark(edits, { kind: 'pending' });
    for (const edit of edits) this.follow(edit, edit.after, unsent);
    for (const num of unsent.edits.keys()) this.showLater(num, unsent);
    try {
      await earlier;
      const outcome = await write(unsent);
      if (places && !outcome.taken.places) putBack?.();
      this.history.value = note(withNumbers(this.history.peek(), newNumbers(change, outcome.taken)), outcome.taken);
      if (!isEmpty(outcome.taken)) this.written(outcome.taken);
      return outcome;
    } finally {
      this.progress.value = null;
      if (places) this.placing.value -= 1;
      answered();
    }
  }

  /**
   * The change of an undo or redo, without the edits of cells that someone has changed since that step. These are
   * conflicts, so that the user chooses.
   */
  private unlessChanged(change: Change, unsent: Unsent): Change {
    const edits = change.edits.filter((edit) => {
      // The page shows the later value.
      if (this.unsent.isEditedAfter(edit, unsent)) return true;
      const row = this.rows.held(edit.num);
      // A row that the API has reverted may not be read again yet.
      if (!row || row.version < this.versions.last(edit.num)) return true;
      const theirs = valueOf(row, edit.field);
      if (!clashes(edit, theirs)) return true;
      this.mark([edit], { kind: 'conflict', yours: edit.after, theirs, version: row.version, by: null });
      return false;
    });
    return { ...change, edits };
  }

  /**
   * Revert an undo that the API wrote, and `note` the step that reverses this again. `keep` keeps a step that
   * failed.
   */
  private reverse(
    turn: Turn,
    last: Change,
    note: (history: History, taken: Change) => History,
    keep: (history: History, last: Change) => History,
  ): Promise<Outcome> {
    let failed = false;
    const write = async (): Promise<Outcome> => {
      try {
        return await this.byApi({ change: last.undo ?? '' });
      } catch (error) {
        failed = true;
        return { taken: NO_CHANGE, problems: [problemIn(error)] };
      }
    };
    return this.carryOut(turn, NO_CHANGE, (history, taken) => (failed ? keep(history, last) : note(history, taken)), write);
  }

  private async byApi(order: UndoRequest): Promise<Outcome> {
    const key = crypto.randomUUID();
    const { change, versions, refused } = await this.writeQueue.send(() => revert(this.api, this.project, { ...order, key }));
    if (change !== null) this.claim(change);
    for (const [num, version] of versions ?? []) this.versions.wrote(num, version, this.seen(num));
    return { taken: { ...NO_CHANGE, ...(change !== null && { undo: change }) }, problems: [...refused.values()], issues: versions?.size ?? null };
  }

  /**
   * Restore deleted issues under their numbers. If the project keeps no history, they are created again under new numbers.
   */
  private async restore(change: Change, id: string, unsent: Unsent): Promise<Outcome> {
    const key = crypto.randomUUID();
    try {
      const { change: own, versions, refused } = await this.writeQueue.send(() => revert(this.api, this.project, { change: id, key }));
      if (own !== null) this.claim(own);
      const made = change.made.flatMap((issue) => {
        // A delete and a restore each raise the version.
        const version = versions === null ? issue.version + 2 : versions.get(issue.num);
        return refused.has(issue.num) || version === undefined ? [] : [{ ...issue, version }];
      });
      for (const { num, version } of made) this.versions.wrote(num, version);
      return { taken: { ...NO_CHANGE, made }, problems: [...refused.values()] };
    } catch (error) {
      if (error instanceof ApiError && FORGOTTEN.has(error.kind)) return this.write(change, unsent);
      return { taken: NO_CHANGE, problems: [problemIn(error)] };
    }
  }

  /** Remember a change as made here, to recognize it in the feed. */
  private claim(id: string): void {
    this.own.add(id);
    for (const oldest of this.own) {
      if (this.own.size <= MAX_OWN) break;
      this.own.delete(oldest);
    }
  }

  /** Write an undo or redo. It deletes only issues that others have not changed since this tab wrote them. */
  private writeAgain(change: Change, unsent: Unsent): Promise<Outcome> {
    return this.write(change, unsent, ({ num, version }) => this.versions.since(num, version));
  }

  private async write(change: Change, unsent: Unsent, deletedAt = ({ num, version }: Kept) => this.seen(num) || version): Promise<Outcome> {
    const id = changeId();
    this.claim(id);
    const edits = await this.writeEdits(unsent, id);
    const made = await this.writeIssues(change.made, ({ body }) => ({ create: body }), id);
    const placed = await this.place(change.places, id);
    const deleted = await this.writeIssues(change.deleted, (issue) => ({ delete: { num: issue.num, ...versionOf(deletedAt(issue)) } }), id);
    const only = deleted.taken.length > 0 && !edits.length && !made.taken.length && !placed.places;
    const taken = { edits, made: made.taken, deleted: deleted.taken, ...(placed.places && { places: placed.places }), ...(only && { id }) };
    return { taken, problems: [...made.problems, ...placed.problems, ...deleted.problems] };
  }

  private async writeEdits(unsent: Unsent, change: string): Promise<readonly CellEdit[]> {
    const taken: CellEdit[] = [];
    let open: readonly CellEdit[] = [...unsent.edits.values()].flat();
    for (let round = 0; open.length && round < MAX_ROUNDS; round += 1) open = await this.round(open, unsent, change, taken);
    if (open.length) this.rollBack(open, words.edit.busy, unsent);
    return taken;
  }

  /** Create or delete issues. Returns the accepted ones with their numbers, and the reasons for the others. */
  private async writeIssues(
    issues: readonly Kept[],
    operationOf: (issue: Kept) => Operation,
    change: string,
  ): Promise<{ readonly taken: readonly Kept[]; readonly problems: readonly ProblemDocument[] }> {
    const taken: Kept[] = [];
    const refused: RefusedIssue[] = [];
    for (let start = 0; start < issues.length; start += BATCH) {
      if (issues.length > SHOWN) this.progress.value = { done: start, of: issues.length };
      const part = issues.slice(start, start + BATCH);
      const results = await this.batch(part.map(operationOf), change);
      for (const [place, issue] of part.entries()) {
        const { num, version, problem } = results[place] ?? { num: null, version: null, problem: problemIn(null) };
        if (problem) refused.push({ issue, problem });
        else {
          taken.push({ ...issue, num: num ?? issue.num, version: version ?? issue.version });
          if (num !== null && version !== null) this.versions.wrote(num, version);
        }
      }
    }
    if (refused.length) this.refusedIssues.value = [...this.refusedIssues.peek(), ...refused];
    return { taken, problems: refused.map(({ problem }) => problem) };
  }

  /** Place rows in a manual order. After a refusal, the rest is not placed. */
  private async place(
    places: Arrangement | undefined,
    change: string,
  ): Promise<{ readonly places?: Arrangement; readonly problems: readonly ProblemDocument[] }> {
    if (!places) return { problems: [] };
    try {
      for (const placing of places.forth) {
        const key = crypto.randomUUID();
        const placed = await this.writeQueue.send(() => placeRows(this.api, this.project, places.view, placing, { change, key }));
        for (const { num, key: place, version } of placed) {
          const before = this.seen(num);
          this.rows.replace(num, (row) => ({ ...row, key: place, version: row.version === version - 1 ? version : row.version }));
          if (before !== version - 1) continue;
          this.versions.wrote(num, version, before);
          this.unsent.rebase(num, before, version);
        }
      }
      return { places, problems: [] };
    } catch (error) {
      return { problems: [problemIn(error)] };
    }
  }

  private async batch(operations: readonly Operation[], change: string): Promise<readonly OperationResult[]> {
    const key = crypto.randomUUID();
    try {
      return await this.writeQueue.send(() => writeBatch(this.api, this.project, operations, { change, key }));
    } catch (error) {
      const problem = problemIn(error);
      return operations.map(() => ({ num: null, version: null, problem }));
    }
  }

  /** Send edits once. Returns the edits to send again on top of changes by others. */
  private async round(edits: readonly CellEdit[], unsent: Unsent, change: string, taken: CellEdit[]): Promise<readonly CellEdit[]> {
    const again: CellEdit[] = [];
    const issues = [...byIssue(edits)];
    for (let start = 0; start < issues.length; start += BATCH) {
      if (issues.length > SHOWN) this.progress.value = { done: start, of: issues.length };
      const part = issues.slice(start, start + BATCH);
      const { bases } = unsent;
      const results = await this.send(part, bases, change);
      for (const [place, [num, own]] of part.entries()) {
        const result = results[place];
        if (!result) continue;
        if ('problem' in result) {
          again.push(...(await this.refused(num, own, result.problem, unsent)));
          continue;
        }
        // A value that was typed back while the edit before it was refused changes nothing.
        const changed = own.filter(({ before, after }) => !sameValue(before, after));
        // The API may write a value in another form, which undo compares with the row.
        const written = changed.map((edit) => ('row' in result ? { ...edit, after: valueOf(result.row, edit.field) } : edit));
        for (const edit of written) this.follow(edit, edit.after, unsent);
        taken.push(...written);
        const base = bases.get(num) ?? 0;
        const version = 'row' in result ? result.row.version : result.version;
        const isNext = !base || version === base + 1;
        if ('row' in result) this.take(result.row);
        else if (isNext) this.rows.replace(num, (row) => ({ ...row, version: Math.max(row.version, version) }));
        // Otherwise the API has merged the edit with changes of others. If the row does not show these yet, the version
        // that was seen stays.
        if ('row' in result || isNext) this.versions.wrote(num, version, base);
        if (isNext) this.unsent.rebase(num, base, version);
        this.unmark(own);
        this.showLater(num, unsent);
      }
    }
    return again;
  }

  /** A change gives a cell another value than the user saw: the next edit of the cell, or its open editor, replaces that. */
  private follow(cell: Cell, before: CellValue, unsent: Unsent): void {
    if (!this.unsent.follow(cell, before, unsent)) this.open.follow(cell, before);
  }

  /** Show again the changes made after one that was answered. */
  private showLater(num: number, answered: Unsent): void {
    const later = this.unsent.laterEdits(num, answered);
    this.show(later);
    this.mark(later, { kind: 'pending' });
  }

  /** Whether all changes have an answer. */
  get isIdle(): boolean {
    return this.unsent.isEmpty;
  }

  /** Whether edits of an issue have no answer yet. */
  isWriting(num: number): boolean {
    return this.unsent.editsOf(num).length > 0;
  }

  /** A row with the user's unanswered edits. */
  onTop(row: Row): Row {
    const own = this.unsent.editsOf(row.num);
    return own.length ? withEdits(row, own) : row;
  }

  private async send(part: readonly IssueEdits[], bases: ReadonlyMap<number, number>, change: string): Promise<readonly Result[]> {
    const [only] = part;
    if (part.length === 1 && only) return [await this.sendOne(only, baseOf(bases.get(only[0])), change)];
    const operations = part.map(([num, edits]) => ({ update: { num, ...baseOf(bases.get(num)), ...patchOf(edits, this.fields) } }));
    const results = await this.batch(operations, change);
    return results.map(({ problem, version }) => (problem ? { problem } : { version: version ?? 0 }));
  }

  /** Only a request for a single issue returns the whole issue. */
  private async sendOne([num, edits]: IssueEdits, base: { readonly base?: number }, change: string): Promise<Result> {
    try {
      const patch = patchOf(edits, this.fields);
      return { row: rowOf(await this.writeQueue.send(() => patchIssue(this.api, this.project, { num, ...base }, patch, change))) };
    } catch (error) {
      return { problem: problemIn(error) };
    }
  }

  /** An answer may come after later changes: the issue with these, as far as the page has them. */
  private latest(answer: Row, row = this.rows.held(answer.num)): Row {
    const known = laterOf(answer, row);
    return this.rows.caughtUp?.(known) ?? known;
  }

  /** Show an issue as the API answered it. */
  private take(answer: Row): void {
    this.rows.replace(answer.num, (row) => withAnswer(row, this.latest(answer, row)));
  }

  /** The version of an issue that the user saw, or wrote since; 0 if both are unknown. */
  private seen(num: number): number {
    const row = this.rows.held(num);
    return row ? this.versions.since(num, row.version) : this.versions.last(num);
  }

  /** Roll back the refused cells. Returns the other edits, to be written. */
  private async refused(num: number, edits: readonly CellEdit[], problem: ProblemDocument, unsent: Unsent): Promise<readonly CellEdit[]> {
    if (problem.conflicts || problem.status === 412) return this.reconcile(num, edits, problem, unsent);
    const messages = new Map((problem.errors ?? []).map(({ field, message }) => [fieldOfError(field), message]));
    const faulty = edits.filter(({ field }) => messages.has(field));
    for (const edit of faulty) this.rollBack([edit], messages.get(edit.field) ?? problem.title, unsent);
    if (faulty.length) return edits.filter((edit) => !faulty.includes(edit));
    this.rollBack(edits, problem.detail ?? problem.title, unsent);
    return [];
  }

  /** Someone else changed the issue. Edits of other fields are written on top; the same fields are conflicts. */
  private async reconcile(
    num: number,
    edits: readonly CellEdit[],
    { current: given, conflicts }: ProblemDocument,
    unsent: Unsent,
  ): Promise<readonly CellEdit[]> {
    let current: Row;
    let by: string;
    try {
      // The refusal of a large issue does not contain it.
      const issue = (given as Issue | undefined) ?? (await this.writeQueue.send(() => readIssue(this.api, this.project, num)));
      current = this.latest(rowOf(issue));
      by = issue.updated_by;
    } catch (error) {
      this.rollBack(edits, error instanceof Error ? error.message : String(error), unsent);
      return [];
    }
    const clash = edits.filter((edit) => clashes(edit, valueOf(current, edit.field)));
    const rest = edits.filter((edit) => !clash.includes(edit));
    this.versions.saw(num, current.version);
    unsent.bases.set(num, current.version);
    drop(unsent, clash);
    this.take(current);
    this.show(rest);
    for (const edit of clash) {
      const { field } = edit;
      const theirs = valueOf(current, field);
      // The user made the later edits of the cell without seeing the other value, so there is one choice for all of them.
      const yours = this.unsent.takeLatest(edit, unsent);
      if (sameValue(yours, theirs)) {
        this.unmark([edit]);
        continue;
      }
      const changedBy = conflicts?.find((one) => one.field === field)?.by ?? by;
      this.mark([edit], { kind: 'conflict', yours, theirs, version: current.version, by: changedBy });
    }
    this.showLater(num, unsent);
    return rest;
  }

  private rollBack(edits: readonly CellEdit[], message: string, unsent: Unsent): void {
    drop(unsent, edits);
    for (const edit of edits) this.follow(edit, edit.before, unsent);
    this.show(reverted(edits));
    for (const edit of edits) {
      const type = this.fields.find(({ id }) => id === edit.field)?.type ?? 'text';
      this.mark([edit], { kind: 'refused', text: textOf(type, edit.after), message });
    }
    for (const num of byIssue(edits).keys()) this.showLater(num, unsent);
  }

  /** Put the values into the rows that are held. */
  private show(edits: readonly CellEdit[]): void {
    for (const [num, own] of byIssue(edits)) this.rows.replace(num, (row) => withEdits(row, own));
  }

  /** Someone else has changed a cell that the user is editing. */
  noticeChange(num: number, field: string, by: string | null): void {
    this.mark([{ num, field }], { kind: 'changed', by });
  }

  /** The user has given up a text that was refused. */
  forgetRefusal(num: number, field: string): void {
    if (this.marks.peek().get(keyOf(num, field))?.kind === 'refused') this.unmark([{ num, field }]);
  }

  /** A draft has become an issue: marks of refused texts go along. */
  moveRefusals(draft: number, num: number): void {
    for (const { id } of this.fields) {
      const mark = this.marks.peek().get(keyOf(draft, id));
      if (mark?.kind !== 'refused') continue;
      this.unmark([{ num: draft, field: id }]);
      this.mark([{ num, field: id }], mark);
    }
  }

  /** A cell is not being edited any more. */
  forgetChange(num: number, field: string): void {
    if (this.marks.peek().get(keyOf(num, field))?.kind === 'changed') this.unmark([{ num, field }]);
  }

  private mark(cells: readonly { readonly num: number; readonly field: string }[], mark: Mark | null): void {
    if (cells.length) this.marks.value = marked(this.marks.peek(), cells, mark);
  }
}
