/** The user's actions on the selected cells: edit, copy, paste, fill, clear; add and delete rows. */
import { signal } from '@preact/signals';
import { OfflineError, type ProblemDocument } from '../api/problem';
import type { OpenCell, Typed } from '../cells/editors/editor';
import { formatValue } from '../cells/format';
import { checked, parseText, parseTyped, type Parsed } from '../cells/parse';
import { textOf } from '../cells/text';
import { jsonOf } from '../csv/json';
import { newIssue, patchOf, type CellEdit, type Change, type Kept, type Patch } from '../edits/change';
import type { Outcome } from '../edits/editor';
import { faultsIn, whyRefused } from '../edits/faults';
import { keyOf } from '../edits/marks';
import type { Seen } from '../edits/open-cells';
import { writeQueue } from '../edits/write-queue';
import { withEdits } from '../edits/rows';
import { BATCH, readKept } from '../edits/writes';
import type { Field } from '../fields/fields';
import { isDraft, valueOf, type CellValue, type Row } from '../fields/values';
import { fromTsv, toHtml, toMarkdown, toTsv, type Block } from '../selection/clipboard';
import { countOf, MAX_NAMED, MAX_TARGETS, type Target } from '../rows/targets';
import { joinedOf, rowCount, rowsOf, sourceOf, type Joined, type Rectangle, type Rows } from '../selection/range';
import { seriesOf } from '../selection/series';
import { keysAsLabeled } from '../shortcuts';
import { words } from '../words';
import type { ProjectModel } from './model';
import { ReadOnly } from './read-only';

/** Rows that the clipboard takes at once: the page reads them first. */
const MAX_COPIED = 10_000;

/** Issues that are duplicated at once. */
export const MAX_DUPLICATES = 100;

/** A question to the user before an action. */
export interface Question {
  readonly title: string;
  readonly detail: string;
  readonly confirm: string;
  readonly danger: boolean;
  readonly answer: (yes: boolean) => void;
}

/** Values of fields of one issue. */
type Values = readonly Pick<CellEdit, 'field' | 'after'>[];

export class Actions {
  readonly question = signal<Question | null>(null);
  /** The last outcome, for the status line and for screen readers. */
  readonly outcome = signal('');

  readonly readOnly: ReadOnly;

  /**
   * The number of the issue that a draft becomes, by the number of the draft; null if the API refuses it. It stays once the
   * issue is there: an editor that opened at the draft may still be open.
   */
  private readonly creating = new Map<number, Promise<number | null>>();
  /** The issues that drafts became, as they were created, with the values of later editors. */
  private readonly became = new Map<number, Row>();
  /** The values of each draft, by its number. */
  private readonly drafted = new Map<number, Drafted>();

  constructor(private readonly model: ProjectModel) {
    this.readOnly = new ReadOnly(model);
  }

  /** An editor of an issue opens. Returns how to take its result, and how to end it. */
  open(row: Row, field: Field): OpenCell {
    const { editor, editing } = this.model;
    const [seen, close] = editor.open.open(row, field.id);
    const end = editing.begin(row.num, field.id);
    return {
      take: (typed) => this.commit(row, field, typed, seen),
      end: () => {
        close();
        end();
      },
    };
  }

  /**
   * An editor of an issue was closed; null if it leaves the value as it was. A text that is not valid in the field is
   * marked at the cell. `seen`: the value when the editor opened.
   */
  commit(row: Row, field: Field, typed: Typed | null, seen: Seen = { before: valueOf(row, field.id), version: row.version }): void {
    if (isDraft(row.num)) {
      void this.commitDraft(row.num, field, typed);
      return;
    }
    if (!typed) {
      this.model.editor.forgetRefusal(row.num, field.id);
      return;
    }
    if ('create' in typed) {
      void this.commitNew(row, field, typed, seen);
      return;
    }
    const parsed = parseTyped(field, typed);
    if (parsed.ok) void this.writeOver(seen, { num: row.num, field: field.id, after: parsed.value });
    else this.model.editor.refuse(row.num, field.id, 'text' in typed ? typed.text : '', parsed.message);
  }

  /** Add the options of a value that the field does not have yet, and then write the value. */
  private async commitNew(row: Row, field: Field, typed: Extract<Typed, { value: CellValue }>, seen: Seen): Promise<void> {
    this.model.editor.hold(row.num, field.id);
    if (await this.addOptions(row.num, field, createdBy(typed))) this.commit(row, field, { value: typed.value }, seen);
  }

  /** Returns whether the field has these options now. If not, the cell is marked with the reason. */
  private async addOptions(num: number, field: Field, options: readonly string[]): Promise<boolean> {
    if (!options.length) return true;
    try {
      await this.model.addOptions(field, options);
      this.outcome.value = words.actions.optionsAdded(field.name, options);
      return true;
    } catch (error) {
      this.model.editor.refuse(num, field.id, options.join(', '), messageOf(error));
      return false;
    }
  }

  /** Report why a cell, by default the one in focus, cannot be edited if it is computed. Returns whether it is. */
  refuseEdit(cell = this.model.selection.peek()?.anchor): boolean {
    const field = cell && this.model.fieldAt(cell.column);
    const why = this.model.canEdit && field ? this.readOnly.skipped([field], cell) : '';
    this.note(why);
    return why !== '';
  }

  /** Toggle the check box in a cell, by default the one in focus. Returns whether there is one. */
  toggle(cell = this.model.selection.peek()?.anchor): boolean {
    const field = cell && this.model.fieldAt(cell.column);
    const slot = cell && this.model.rows.at(cell.row);
    if (!cell || field?.type !== 'bool' || slot?.kind !== 'issue' || !this.model.canEdit) return false;
    if (this.refuseEdit(cell)) return true;
    this.commit(slot.row, field, { value: valueOf(slot.row, field.id) !== true });
    return true;
  }

  async copy(): Promise<void> {
    const block = this.selectedBlock();
    if (block) await this.toClipboard(block, words.actions.copied);
  }

  /** Copy the cells for people or programs: as the grid shows them, as JSON, or as a table of Markdown. */
  async copyAs(form: CopyForm): Promise<void> {
    const block = this.selectedBlock();
    if (!block) return;
    const fields = this.fieldsOf(block.columns);
    const rows = this.issuesOf(block.rows, { drafts: true });
    const written = rows.then((some) => new Blob([FORMS[form](fields, some)], { type: 'text/plain' }));
    await this.put({ 'text/plain': written }, rows, words.actions.copied);
  }

  /**
   * Check the box of a row, or take the check away. `extend`: give all boxes from the last one on its state. Rows that
   * are not loaded are read first.
   */
  async check(index: number, extend: boolean): Promise<void> {
    const { checked, rows } = this.model;
    const slot = rows.at(index);
    if (slot.kind !== 'issue' || isDraft(slot.row.num)) return;
    const origin = checked.origin === null ? undefined : rows.indexOf(checked.origin);
    if (!extend || origin === undefined) {
      this.reportRoom(checked.toggle(slot.row.num));
      return;
    }
    const [first, last] = [Math.min(origin, index), Math.max(origin, index)];
    await this.reporting(async () => {
      // More do not fit, so they are not read.
      const found = await this.model.issuesIn(first, Math.min(last, first + MAX_NAMED));
      this.reportRoom(checked.extend(found.map(({ num }) => num)));
    });
  }

  /** Check all loaded issues; if they are, uncheck all. */
  checkLoaded(): void {
    const { checked, rows } = this.model;
    const loaded = rows.loaded().filter((num) => !isDraft(num));
    if (loaded.every((num) => checked.has(num))) checked.clear();
    else this.reportRoom(checked.set(loaded, true));
  }

  /** Copy issues by their numbers, with all columns of the screen. */
  async copyIssues(nums: readonly number[]): Promise<void> {
    const { columns } = this.model.size;
    await this.putBlock(this.model.issuesOf(nums).then((rows) => blockOf(rows, this.fieldsFrom(0, columns))), words.actions.copied);
  }

  /** Paste what the clipboard has, if the browser lets the page read it. */
  async pasteHere(): Promise<void> {
    const text = await navigator.clipboard.readText().catch(() => null);
    if (text === null) this.outcome.value = keysAsLabeled(words.actions.pasteByKeys);
    else await this.paste(text);
  }

  /**
   * Copy, and then clear the cells at once as one change, which undo takes back. A paste in another program could not
   * clear them later. Cells that could not be copied are not cleared.
   */
  async cut(): Promise<void> {
    const { ranges } = this.model;
    const block = this.model.canEdit ? this.selectedBlock() : null;
    if (!block) return;
    let read: Promise<readonly Row[]> = Promise.resolve([]);
    if (!(await this.toClipboard(block, words.actions.cut, () => (read = this.issuesOf(block.rows, { drafts: true }))))) return;
    // Rows may have come between them meanwhile: the copied ones are cleared.
    if (rowCount(block.rows) > BATCH) await this.clear(ranges);
    else await this.reporting(async () => this.enterInRows('', [{ rows: await read, fields: this.fieldsOf(block.columns) }]));
  }

  /** Paste from the upper left corner of the latest range; one copied cell fills all ranges. */
  async paste(text: string): Promise<void> {
    const range = this.model.range;
    const block = fromTsv(text);
    const width = Math.max(0, ...block.map((row) => row.length));
    if (!range || !this.model.canEdit || !width) return;
    if (block.length === 1 && width === 1) return this.enter(block[0]?.[0] ?? '', this.model.ranges);
    await this.reporting(() => this.pasteBlock(block, range, this.fieldsFrom(range.left, width)));
  }

  private async pasteBlock(block: Block, range: Rectangle, fields: readonly Field[]): Promise<void> {
    const read = await this.model.issuesFrom(range.top, block.length);
    const textAt = (row: number, column: number) => block[row]?.[column] ?? '';
    const beyond = block.slice(read.length);
    const adds = beyond.length > 0 && (await this.ask(words.actions.addRows(beyond.length), words.actions.addRowsWhy, words.actions.add));
    // Others may have changed them while the user was asked.
    const rows = read.map((row) => this.model.rows.held(row.num) ?? row);
    const edits = rows.flatMap((row, place) => this.read(row, fields, (column) => textAt(place, column)));
    const added = adds ? beyond.map((cells) => this.readNew(fields, cells)) : [];
    this.model.selection.value = {
      anchor: { row: range.top, column: range.left },
      reach: { row: this.model.rows.indexOf(rows.at(-1)?.num ?? 0) ?? range.top + Math.max(1, rows.length) - 1, column: range.left + fields.length - 1 },
    };
    const outcome = await this.model.editor.apply({ edits, made: added.map(({ issue }) => issue) });
    // The new issues have no numbers before this.
    const refusedOf = new Map(added.map(({ issue, refused }) => [issue.body, refused]));
    for (const { num, body } of outcome.taken.made) {
      for (const { field, text, message } of refusedOf.get(body) ?? []) this.model.editor.refuse(num, field, text, message);
    }
    this.report(outcome, words.actions.created, this.readOnly.skipped(fields));
  }

  /**
   * Repeat the cells of the source over another range. If it `continues`, a column whose cells have a constant step goes
   * on with it.
   */
  async fill(source: Rectangle, target: Rectangle, { continues = false } = {}): Promise<void> {
    if (!this.model.canEdit) return;
    await this.reporting(async () => {
      if (source.top === source.bottom && isLarge(target)) await this.fillMany(source, target);
      else await this.writeFills([await this.readFill(source, target)], continues);
    });
  }

  /** Fill each range with its first row, as one step of undo where no job does it. */
  async fillDown(): Promise<void> {
    if (!this.model.canEdit) return;
    const tall = this.model.ranges.filter(({ top, bottom }) => bottom > top);
    const firstOf = (range: Rectangle) => ({ ...range, bottom: range.top });
    await this.reporting(async () => {
      const small = tall.filter((range) => !isLarge(range));
      // All are read before any is filled: a read that fails leaves none half done.
      const fills = await Promise.all(small.map((range) => this.readFill(firstOf(range), range)));
      if (fills.length) await this.writeFills(fills, false);
      for (const range of tall.filter(isLarge)) await this.fillMany(firstOf(range), range);
    });
  }

  private async readFill(source: Rectangle, target: Rectangle): Promise<Fill> {
    const [sources, targets] = await Promise.all([
      this.model.issuesIn(source.top, source.bottom, { drafts: true }),
      this.model.issuesIn(target.top, target.bottom, { drafts: true }),
    ]);
    return { source, target, sources, targets, fields: this.fieldsFrom(target.left, target.right - target.left + 1) };
  }

  private async writeFills(fills: readonly Fill[], continues: boolean): Promise<void> {
    this.note(this.readOnly.skipped(fills.flatMap(({ fields }) => fields)));
    await this.writeOnce(fills.flatMap((fill) => this.editsOf(fill, continues)));
  }

  private editsOf({ source, target, sources, targets, fields }: Fill, continues: boolean): readonly CellEdit[] {
    const isDown = source.left === target.left && source.right === target.right;
    const series = fields.map((field) => (continues && isDown ? seriesOf(field.type, sources.map((row) => valueOf(row, field.id))) : null));
    // Counted in issues: heads of groups may be between the rows.
    const within = targets.findIndex(({ num }) => num === sources[0]?.num);
    const first = within >= 0 ? -within : target.top > source.top ? sources.length : -targets.length;
    return targets.flatMap((row, place) => {
      const entries = fields.flatMap((field, column): Entry[] => {
        const from = sourceOf({ ...source, top: 0, bottom: sources.length - 1 }, { row: first + place, column: target.left + column });
        const origin = sources[from.row];
        const originField = this.model.fieldAt(from.column);
        if (!origin || !originField || !field.editable || (origin === row && originField === field)) return [];
        const next = series[column]?.(first + place);
        const parsed = next === undefined ? carried(origin, originField, field) : checked(field, next);
        return [{ field, text: textOf(originField.type, valueOf(origin, originField.id)), parsed }];
      });
      return this.editsBy(row, entries);
    });
  }

  async clear(ranges = this.model.ranges): Promise<void> {
    await this.enter('', ranges);
  }

  /** Give all cells of some ranges the value of a text, as one step of undo. */
  private async enter(text: string, ranges: readonly Rectangle[]): Promise<void> {
    if (!ranges.length || !this.model.canEdit) return;
    await this.reporting(async () => {
      if (rowCount(rowsOf(ranges)) > BATCH) await this.enterByJob(text, ranges);
      // All are read before any cell is marked: a read that fails leaves none half done.
      else await this.enterInRows(text, await Promise.all(ranges.map((range) => this.cellsOf(range))));
    });
  }

  private async enterByJob(text: string, ranges: readonly Rectangle[]): Promise<void> {
    const block = joinedOf(ranges);
    // The selection moves along with its rows.
    const rows = () => rowsOf(this.model.ranges);
    if (block) await this.setMany(rows, this.fieldsOf(block.columns).map((field) => [field, parseText(field, text)]));
    else this.outcome.value = words.actions.notOneJob;
  }

  /** The cells of a range, with the issues and drafts of its rows. */
  private async cellsOf({ top, bottom, left, right }: Rectangle): Promise<Cells> {
    return { rows: await this.model.issuesIn(top, bottom, { drafts: true }), fields: this.fieldsFrom(left, right - left + 1) };
  }

  private async enterInRows(text: string, read: readonly Cells[]): Promise<void> {
    this.note(this.readOnly.skipped(read.flatMap(({ fields }) => fields)));
    await this.writeOnce(read.flatMap(({ rows, fields }) => rows.flatMap((row) => this.read(row, fields, () => text))));
  }

  /**
   * Show a new row, at the end until the user moves on, and return its number. It becomes an issue with its first value,
   * so a user who cancels leaves nothing behind. It has these values from the beginning. A new row that is no issue yet
   * is shown again instead.
   */
  draft(values: Values = []): number {
    const [begun] = this.idle();
    if (begun !== undefined) return begun;
    const num = this.model.draft(this.bodyOf(values));
    this.drafted.set(num, { values: new Map(values.map(({ field, after }) => [field, after])), lacking: [] });
    return num;
  }

  /** The drafts that are not becoming issues. */
  private idle(): readonly number[] {
    return this.model.drafts.filter((num) => !this.creating.has(num));
  }

  /** Take away a new row that is no issue yet, unless it is becoming one. */
  drop(draft: number): void {
    if (this.creating.has(draft)) return;
    this.drafted.delete(draft);
    this.model.dropDraft(draft);
  }

  /** An editor of a row that was no issue yet when it opened was closed. */
  private async commitDraft(draft: number, field: Field, typed: Typed | null): Promise<void> {
    const parsed = typed && parseTyped(field, typed);
    if (!parsed) {
      this.leaveDraft(draft, field);
      return;
    }
    if (!parsed.ok) {
      this.model.editor.refuse(await this.numOf(draft), field.id, 'text' in typed ? typed.text : '', parsed.message);
      return;
    }
    const entered = { field, value: parsed.value, options: createdBy(typed) };
    // Values of one draft take turns: the first creates the issue, and the others are edits of it.
    const turn = (this.creating.get(draft) ?? Promise.resolve(null)).then((num) => this.enterDraft(draft, num, entered));
    this.creating.set(draft, turn);
    this.showInDraft(draft, field, parsed.value);
    if ((await turn) === null && this.creating.get(draft) === turn) this.creating.delete(draft);
  }

  /**
   * Create the issue of a draft from these texts, together. If one of them is no value of its field, it is marked, and the
   * draft keeps the others. If the issue is being created already, they are edits of it.
   */
  enterTexts({ num }: Row, texts: readonly FieldText[]): void {
    this.enterInDraft(num, texts.map(({ field, text }) => ({ field, text, parsed: parseText(field, text) })));
  }

  private enterInDraft(draft: number, entries: readonly Entry[]): void {
    const { editor, drafts } = this.model;
    if (this.isCreating(draft)) {
      for (const { field, text, parsed } of entries) void this.commitDraft(draft, field, parsed.ok ? { value: parsed.value } : { text });
      return;
    }
    // It may have been deleted meanwhile.
    if (!entries.length || !drafts.includes(draft)) return;
    editor.unmark(entries.map(({ field }) => ({ num: draft, field: field.id })));
    const values: { readonly field: Field; readonly value: CellValue }[] = [];
    for (const { field, text, parsed } of entries) {
      if (parsed.ok) values.push({ field, value: parsed.value });
      else editor.refuse(draft, field.id, text, parsed.message);
    }
    const last = values.length === entries.length ? values.pop() : undefined;
    this.model.keepDraft(draft);
    this.putInDraft(draft, values.map(({ field, value }) => ({ field: field.id, after: value })));
    if (last) void this.commitDraft(draft, last.field, { value: last.value });
  }

  isCreating(draft: number): boolean {
    return this.creating.has(draft);
  }

  /** Give a draft these values. They do not create its issue. */
  putInDraft(draft: number, values: Values): void {
    for (const { field, after } of values) this.drafted.get(draft)?.values.set(field, after);
    this.showValues(draft, values);
  }

  private showValues(draft: number, values: Values): void {
    const shown = Object.fromEntries(values.map(({ field, after }) => [field, after]));
    this.model.rows.replace(draft, (row) => ({ ...row, values: { ...row.values, ...shown } }));
  }

  /** An editor of a draft was closed without a value. A draft without any is gone, with its refused texts. */
  private leaveDraft(draft: number, field: Field): void {
    const { lacking = [] } = this.drafted.get(draft) ?? {};
    if (this.model.isKept(draft) || this.creating.has(draft)) {
      if (!lacking.includes(field.id)) this.model.editor.forgetRefusal(draft, field.id);
    } else this.drop(draft);
  }

  /** The number of the issue that a draft has become; its own if it has not. */
  private async numOf(draft: number): Promise<number> {
    return (await this.creating.get(draft)) ?? draft;
  }

  /** Show a value in a draft, as one that is being written. */
  private showInDraft(draft: number, field: Field, after: CellValue): void {
    this.model.keepDraft(draft);
    this.showValues(draft, [{ field: field.id, after }]);
    if (this.model.drafts.includes(draft)) this.model.editor.hold(draft, field.id);
  }

  /**
   * Take a value into a draft, and create its issue from all of its values. If the draft is the issue `num` by now, write
   * only the value. Returns the number of the issue; null if the API refused it.
   */
  private async enterDraft(draft: number, num: number | null, { field, value, options }: Entered): Promise<number | null> {
    if (!(await this.addOptions(num ?? draft, field, options))) return num;
    this.model.editor.unmark([{ num: draft, field: field.id }]);
    if (num === null) return this.createFrom(draft, field, value);
    const row = this.became.get(num) ?? { num, version: 0, values: {} };
    const { taken } = await this.writeOver({ before: valueOf(row, field.id), version: row.version }, { num, field: field.id, after: value });
    this.became.set(num, withEdits(row, taken.edits));
    return num;
  }

  /** Create the issue of a draft, after this value was entered. Returns its number; null if the API refused it. */
  private async createFrom(draft: number, field: Field, after: CellValue): Promise<number | null> {
    const { values, lacking } = this.drafted.get(draft) ?? { values: new Map<string, CellValue>(), lacking: [] };
    values.set(field.id, after);
    this.model.editor.unmark(lacking.map((id) => ({ num: draft, field: id })));
    this.model.editor.hold(draft, field.id);
    const outcome = await this.model.createFrom(draft, this.bodyOf([...values].map(([id, value]) => ({ field: id, after: value }))));
    this.model.editor.unmark([{ num: draft, field: field.id }]);
    const [issue] = outcome.taken.made;
    const [problem] = outcome.problems;
    this.report(problem ? { ...outcome, problems: [{ ...problem, detail: whyRefused(problem, this.model.fields) }] } : outcome);
    if (issue) {
      this.drafted.delete(draft);
      this.became.set(issue.num, this.model.rows.held(issue.num) ?? { ...issue, values: {} });
    } else if (problem) this.drafted.set(draft, { values, lacking: this.markRefused(draft, field, problem) });
    return issue?.num ?? null;
  }

  /**
   * Mark the fields of a draft that the API refused, such as required ones without a value; without any, the field that was
   * entered. Returns their ids.
   */
  private markRefused(draft: number, entered: Field, problem: ProblemDocument): readonly string[] {
    const { fields, rows, editor, drafts } = this.model;
    // The user may have left it for another view.
    if (!drafts.includes(draft)) return [];
    const faulty = faultsIn(problem, fields);
    const marked = faulty.length ? faulty : [{ field: entered, message: problem.detail ?? problem.title }];
    for (const { field, message } of marked) editor.refuse(draft, field.id, textOf(field.type, rows.held(draft)?.values[field.id] ?? null), message);
    return marked.map(({ field }) => field.id);
  }

  /** Create issues with the editable values of others, as one step of undo. */
  async duplicate(nums: readonly number[]): Promise<void> {
    if (!this.model.canEdit || nums.length > MAX_DUPLICATES) return;
    await this.reporting(async () => {
      const kept = await readKept(this.model.api, this.model.project.id, nums, this.model.fields);
      this.report(await this.model.editor.apply({ made: kept.map(({ body }) => newIssue(editableOf(body, this.model.fields))) }));
    });
  }

  /** Ask, and then delete the issues of the ranges. */
  async remove(): Promise<void> {
    const selected = rowsOf(this.model.ranges);
    if (!selected.length || !this.model.canEdit) return;
    this.dropDrafts(selected);
    if (rowCount(selected) > BATCH) {
      await this.removeMany(() => this.model.selectedTargets());
      return;
    }
    await this.reporting(async () => {
      const rows = await this.issuesOf(selected);
      await this.removeIssues(rows.map(({ num }) => num));
    });
  }

  /** Take away the drafts in these rows, and all without a value. */
  private dropDrafts(selected: readonly Rows[]): void {
    for (const draft of this.idle()) {
      const row = this.model.rows.indexOf(draft) ?? -1;
      if (!this.model.isKept(draft) || selected.some(({ first, last }) => row >= first && row <= last)) this.drop(draft);
    }
  }

  /** Ask, and then delete issues by their numbers, many of them by a job. Drafts are gone at once. */
  async removeIssues(chosen: readonly number[]): Promise<void> {
    for (const draft of chosen.filter(isDraft)) this.drop(draft);
    const nums = chosen.filter((num) => !isDraft(num));
    const [first] = nums;
    if (first === undefined || !this.model.canEdit) return;
    if (nums.length > BATCH) {
      if (await this.removeMany(() => this.model.targetsOf(nums))) this.model.checked.set(nums, false);
      return;
    }
    const name = this.model.rows.held(first)?.values['name'];
    const title = nums.length === 1 ? words.actions.deleteOne(String(name ?? first)) : words.actions.deleteMany(nums.length);
    if (!(await this.ask(title, words.actions.deleteWhy, words.actions.delete, true))) return;
    await this.reporting(async () => {
      const deleted = await readKept(this.model.api, this.model.project.id, nums, this.model.fields);
      this.report(await this.model.editor.apply({ deleted }));
    });
  }

  /**
   * Ask, and then have a job delete the issues of these targets. Returns whether it has begun. Rows may move while the user
   * is asked, so the targets are looked up again after that.
   */
  async removeMany(targets: () => readonly Target[]): Promise<boolean> {
    if (!this.fitJobs(targets())) return false;
    const title = words.actions.deleteMany(countOf(targets()));
    return (await this.ask(title, words.jobs.deleteWhy, words.actions.delete, true)) && this.model.changes.begin({ targets: targets(), set: null });
  }

  /** Undo a step, by default the last. */
  async undo(step?: Change): Promise<void> {
    if (writeQueue.state.peek() !== 'empty') this.outcome.value = words.edit.undoWaits;
    this.report(await this.model.changes.undo(step), words.actions.restored);
  }

  async redo(): Promise<void> {
    this.report(await this.model.editor.redo(), words.actions.restored);
  }

  /** Fill a range that is too large to be read with the cells of a row. */
  private async fillMany(source: Rectangle, target: Rectangle): Promise<void> {
    const [origin] = await this.model.issuesIn(source.top, source.bottom, { drafts: true });
    if (!origin) return;
    const values = this.fieldsFrom(target.left, target.right - target.left + 1).flatMap((field, column) => {
      const from = this.model.fieldAt(sourceOf(source, { row: source.top, column: target.left + column }).column);
      return from ? [[field, carried(origin, from, field)] as const] : [];
    });
    await this.setMany(() => [{ first: target.top, last: target.bottom }], values);
  }

  /** Ask, and then have a job give all issues of some rows these values. Rows may move while the user is asked. */
  private async setMany(rows: () => readonly Rows[], values: readonly (readonly [Field, Parsed])[]): Promise<void> {
    const targetsNow = () => rows().flatMap((some) => this.model.targets(some));
    const targets = targetsNow();
    const editable = values.filter(([field]) => field.editable);
    const refused = editable.flatMap(([, parsed]) => (parsed.ok ? [] : [parsed.message]));
    this.note([this.readOnly.skipped(values.map(([field]) => field)), ...refused].join(' ').trim());
    if (refused.length || !editable.length || !this.fitJobs(targets)) return;
    const edits = editable.flatMap(([{ id }, parsed]) => (parsed.ok ? [{ field: id, after: parsed.value }] : []));
    const detail = words.jobs.changeWhy(editable.map(([{ name }]) => name));
    if (!(await this.ask(words.jobs.changeMany(countOf(targets)), detail, words.jobs.change))) return;
    await this.model.changes.begin({ targets: targetsNow(), set: patchOf(edits, this.model.fields) });
  }

  private note(text: string): void {
    if (text) this.outcome.value = text;
  }

  private reportRoom(isRoom: boolean): void {
    if (!isRoom) this.note(words.checked.full(MAX_NAMED));
  }

  private fitJobs(targets: readonly Target[]): boolean {
    if (targets.length > MAX_TARGETS) this.outcome.value = words.jobs.tooManyRuns(MAX_TARGETS);
    return targets.length > 0 && targets.length <= MAX_TARGETS;
  }

  /** Report how many issues were created and deleted. Edits of cells are visible anyway. */
  private report(outcome: Outcome | null, made: (issues: number) => string = words.actions.created, also = ''): void {
    if (!outcome) return;
    const { taken, problems, issues } = outcome;
    // The offer to undo the deletion reports it too.
    const isOffered = this.model.undoOffer.deleted(taken);
    const parts = [
      ...(taken.undo === undefined ? [] : [words.actions.undone(issues ?? null)]),
      ...(taken.made.length ? [made(taken.made.length)] : []),
      ...(taken.deleted.length && !isOffered ? [words.actions.deleted(taken.deleted.length)] : []),
      ...problems.slice(0, 1).map(({ title, detail }) => words.actions.refused(problems.length, detail ?? title)),
      ...(also ? [also] : []),
    ];
    if (parts.length || isOffered) this.outcome.value = parts.join(' ');
  }

  private ask(title: string, detail: string, confirm: string, danger = false): Promise<boolean> {
    return new Promise((resolve) => {
      const question: Question = {
        title,
        detail,
        confirm,
        danger,
        answer: (yes) => {
          if (this.question.peek() === question) this.question.value = null;
          resolve(yes);
        },
      };
      this.question.value = question;
    });
  }

  /** Write the value of a cell over the one that the user saw. */
  private writeOver({ before, version }: Seen, edit: Omit<CellEdit, 'before'>): Promise<Outcome> {
    return this.model.editor.apply({ edits: [{ ...edit, before }] }, new Map([[edit.num, version]]));
  }

  private async write(edits: readonly CellEdit[]): Promise<void> {
    await this.model.editor.apply({ edits });
  }

  /** Write edits, of each cell only the last: ranges may overlap. */
  private async writeOnce(edits: readonly CellEdit[]): Promise<void> {
    await this.write([...new Map(edits.map((edit) => [keyOf(edit.num, edit.field), edit])).values()]);
  }

  /** Edits of a row by texts. */
  private read(row: Row, fields: readonly Field[], text: (column: number) => string): readonly CellEdit[] {
    const entries = fields.map((field, column) => ({ field, text: text(column) })).filter(({ field }) => field.editable);
    return this.editsBy(row, entries.map((entry) => ({ ...entry, parsed: parseText(entry.field, entry.text) })));
  }

  /** Edits of a row. What is not valid in its field is marked, and the others become edits. A draft takes its own at once. */
  private editsBy(row: Row, entries: readonly Entry[]): readonly CellEdit[] {
    if (isDraft(row.num)) {
      this.enterInDraft(row.num, entries);
      return [];
    }
    return entries.flatMap(({ field, text, parsed }) => {
      if (parsed.ok) return [{ num: row.num, field: field.id, before: valueOf(row, field.id), after: parsed.value }];
      this.model.editor.refuse(row.num, field.id, text, parsed.message);
      return [];
    });
  }

  /**
   * A new issue by texts, and the texts that are not valid in their fields. An issue needs a name, so an empty one is
   * replaced.
   */
  private readNew(fields: readonly Field[], cells: readonly string[]): NewRow {
    const refused: RefusedText[] = [];
    const values = fields.flatMap((field, column) => {
      const text = cells[column] ?? '';
      if (!field.editable || !text.trim()) return [];
      const parsed = parseText(field, text);
      if (parsed.ok) return [{ field: field.id, after: parsed.value }];
      refused.push({ field: field.id, text, message: parsed.message });
      return [];
    });
    return { issue: newIssue({ name: words.actions.newName, ...patchOf(values, this.model.fields) }), refused };
  }

  private fieldsFrom(left: number, count: number): readonly Field[] {
    return this.fieldsOf(Array.from({ length: count }, (_, place) => left + place));
  }

  private fieldsOf(columns: readonly number[]): readonly Field[] {
    return columns.flatMap((column) => this.model.fieldAt(column) ?? []);
  }

  /** The issues in some rows of the screen, in order, on request with the drafts. */
  private async issuesOf(rows: readonly Rows[], { drafts = false } = {}): Promise<readonly Row[]> {
    const found: Row[] = [];
    for (const { first, last } of rows) found.push(...(await this.model.issuesIn(first, last, { drafts })));
    return found;
  }

  /** The selected ranges as one block. Null if they are none, with a message. */
  private selectedBlock(): Joined | null {
    const { ranges } = this.model;
    const block = joinedOf(ranges);
    if (!block && ranges.length) this.outcome.value = words.actions.notOneBlock;
    return block;
  }

  /** Put cells into the clipboard. Returns whether they are there. */
  private async toClipboard(block: Joined, done: (rows: number) => string, read = () => this.issuesOf(block.rows, { drafts: true })): Promise<boolean> {
    if (rowCount(block.rows) > MAX_COPIED) {
      this.outcome.value = words.actions.tooManyToCopy(MAX_COPIED);
      return false;
    }
    return this.putBlock(read().then((rows) => blockOf(rows, this.fieldsOf(block.columns))), done);
  }

  /** Put cells into the clipboard, and report the number of rows, or why it failed. Returns whether they are there. */
  private async putBlock(block: Promise<Block>, done: (rows: number) => string): Promise<boolean> {
    const text = (block: Block, form: (block: Block) => string, type: string) => new Blob([form(block)], { type });
    return this.put(
      {
        'text/plain': block.then((cells) => text(cells, toTsv, 'text/plain')),
        'text/html': block.then((cells) => text(cells, toHtml, 'text/html')),
      },
      block,
      done,
    );
  }

  private async put(forms: Record<string, Promise<Blob>>, rows: Promise<readonly unknown[]>, done: (rows: number) => string): Promise<boolean> {
    // A clipboard that refuses at once does not wait for them, and the reason is read from the rows.
    for (const form of Object.values(forms)) form.catch(() => undefined);
    try {
      // The clipboard already waits while distant rows are requested.
      await navigator.clipboard.write([new ClipboardItem(forms)]);
      this.outcome.value = done((await rows).length);
      return true;
    } catch {
      const unread = await rows.then(() => null, messageOf);
      this.outcome.value = unread ?? words.actions.notCopied;
      return false;
    }
  }

  /** A new issue with these values. */
  private bodyOf(values: Values): Patch {
    return { name: words.actions.newName, ...patchOf(values, this.model.fields) };
  }

  /** Do something, and report why it failed: rows that must be read first may be out of reach. */
  async reporting(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.outcome.value = messageOf(error);
    }
  }
}

/** The options of a value that the field does not have yet. */
function createdBy(typed: Typed): readonly string[] {
  return ('create' in typed && typed.create) || [];
}

function messageOf(error: unknown): string {
  if (error instanceof OfflineError) return words.refusal.offlineWhy;
  return error instanceof Error ? error.message : String(error);
}

function blockOf(rows: readonly Row[], fields: readonly Field[]): Block {
  return rows.map((row) => fields.map((field) => textOf(field.type, valueOf(row, field.id))));
}

/** The part of an issue's values that users may write. */
export function editableOf({ fields: values, ...builtIn }: Patch, fields: readonly Field[]): Patch {
  const editable = new Set(fields.flatMap(({ id, editable }) => (editable ? [id] : [])));
  const kept = Object.entries((values ?? {}) as Patch).filter(([id]) => editable.has(id));
  return { ...builtIn, fields: Object.fromEntries(kept) };
}

export type CopyForm = 'text' | 'json' | 'markdown';

/** Rows as a text, by the name of its form. */
const FORMS: Readonly<Record<CopyForm, (fields: readonly Field[], rows: readonly Row[]) => string>> = {
  text: (fields, rows) => toTsv(shownCells(fields, rows)),
  json: jsonOf,
  markdown: (fields, rows) => toMarkdown(fields.map(({ name }) => name), shownCells(fields, rows)),
};

function shownCells(fields: readonly Field[], rows: readonly Row[]): Block {
  return rows.map((row) => fields.map((field) => formatValue(field, valueOf(row, field.id))));
}

/** A text that is not valid in its field. */
interface RefusedText {
  readonly field: string;
  readonly text: string;
  readonly message: string;
}

/** Cells of some issues that were read. */
interface Cells {
  readonly rows: readonly Row[];
  readonly fields: readonly Field[];
}

/** A text that was entered for a field. */
export interface FieldText {
  readonly field: Field;
  readonly text: string;
}

/** A text that was entered for a field, and its value there if it has one. */
interface Entry extends FieldText {
  readonly parsed: Parsed;
}

/** A draft, which is no issue yet. */
interface Drafted {
  /** By field id: from the beginning, and as the user entered them. A try that the API refused keeps them. */
  readonly values: Map<string, CellValue>;
  /** The ids of the fields for which the API refused it. */
  readonly lacking: readonly string[];
}

/** A value that was entered in a draft, with its options that the field does not have yet. */
interface Entered {
  readonly field: Field;
  readonly value: CellValue;
  readonly options: readonly string[];
}

/** A fill whose rows are read. */
interface Fill {
  readonly source: Rectangle;
  readonly target: Rectangle;
  readonly sources: readonly Row[];
  readonly targets: readonly Row[];
  readonly fields: readonly Field[];
}

interface NewRow {
  readonly issue: Kept;
  readonly refused: readonly RefusedText[];
}

/** More rows than a request may write. They are not read: a job changes them. */
function isLarge({ top, bottom }: Rectangle): boolean {
  return bottom - top + 1 > BATCH;
}

/** The value that a cell passes to another one when it is filled. */
function carried(row: Row, from: Field, to: Field): Parsed {
  const value = valueOf(row, from.id);
  const isCopied = from === to || (from.type === to.type && !to.options.length);
  return isCopied ? checked(to, value) : parseText(to, textOf(from.type, value));
}
