/**
 * The state of an open project: its fields, the view that the address names, the rows, their number, the selection, and
 * the edits.
 *
 * A change of the view changes the address, and only the address determines the screen; so the back button restores all
 * of it.
 */
import { computed, signal, type ReadonlySignal } from '@preact/signals';
import type { Api } from '../api/client';
import { formatJson, parseJson } from '../api/json';
import { isAbort } from '../api/problem';
import type { Explanation, Filter, IndexLag, Project } from '../api/types';
import { permits, type Person, type Role } from '../auth/session';
import { newIssue, type CellEdit, type Change, type Patch } from '../edits/change';
import { Editor, type HeldRows, type Outcome } from '../edits/editor';
import type { Arrangement } from '../edits/placing';
import type { Field } from '../fields/fields';
import { isDraft, type Row } from '../fields/values';
import { effectOfEdits, type Dependence } from '../live/events';
import type { Feed } from '../live/feed';
import { ADDED, Layout, type Piece, type Run } from '../rows/layout';
import { neighbourRow } from '../rows/neighbours';
import { filterOfNums, targetOfNums, targetsOf, type Target } from '../rows/targets';
import { haveSameRows, layoutOfGroups, toggled } from '../rows/groups';
import { RowStore, type Range, type Window } from '../rows/store';
import {
  at,
  contains,
  rectangleOf,
  rectanglesOf,
  rowsOf,
  wholeColumn,
  withCell,
  withColumns,
  type Cell,
  type Choosing,
  type Rectangle,
  type Rows,
  type Selection,
  type Size,
} from '../selection/range';
import { go } from '../router';
import { arranged, boardOf } from '../view/board';
import { defaultColumns, inScreenOrder } from '../view/columns';
import { ownTimezone } from '../view/relative';
import { withSearch } from '../view/text-search';
import { rulingOf, type Rule, type Ruling } from '../view/rules';
import { orderOf, type Column, type View } from '../view/view';
import { AddedRows } from './added-rows';
import { ApiChanges } from './api-changes';
import { bothOf } from './both';
import { Checked } from './checked';
import { Computing } from './computing';
import { Counting } from './counting';
import { Panels } from './panels';
import { Editing } from './editing';
import { Finding } from './finding';
import { Following } from './following';
import { byOf, Groups, type GroupsQuery } from './groups';
import { OpenIssue } from './open-issue';
import { dependenceOf, figuresOf, queryText } from './inputs';
import { Jobs } from './jobs';
import { Judging } from './judging';
import { Live, type Renewal } from './live';
import { findMisfits } from './misfits';
import { addOptions } from './options';
import { fetchRows, judge, loadProject, readRows } from './queries';
import { People } from './people';
import { showPlaced, type Shown } from './placing';
import { onlyAddsOptions } from './redefinition';
import type { SavedViews } from './saved-views';
import { wholeColumn as summedColumn } from './selected';
import { Summaries } from './summaries';
import { Turning } from './turning';
import { UndoOffer } from './undo-offer';
import { wholePage, type PagePart } from './whole-page';

/** The assumed number of rows of a filter until it is known. */
const GUESS = 100;

/** Rows of one request, if a range is longer than the held rows. */
const FAR_PAGE = 500;

interface PageOptions {
  readonly signal?: AbortSignal;
  readonly explain?: boolean;
}

export class ProjectModel {
  readonly fields: readonly Field[];
  readonly view: ReadonlySignal<View>;
  /** The view as its rows are requested: a board as groups by its field. */
  readonly arranged: ReadonlySignal<View>;
  readonly columns: ReadonlySignal<readonly Column[]>;
  readonly rows: RowStore;
  /** The rules of the view. Rows are judged by them when they are read, and when they have changed. */
  readonly ruling: ReadonlySignal<Ruling>;
  private readonly judging: Judging;
  readonly computing: Computing;
  /** The rules by which all rows are judged that are held. */
  private ruled: Ruling['filters'] = new Map();
  readonly editor: Editor;
  readonly counting: Counting;
  /** Why the rows could not be shown. */
  readonly refusal = signal<unknown>(null);
  /** How the first page of the present query was answered, and its cost. */
  readonly explanation = signal<Explanation | null>(null);
  /** The lag of the index from which the last rows were read. */
  readonly index = signal<IndexLag | null>(null);
  readonly issue: OpenIssue;
  readonly groups: Groups;
  readonly summaries: Summaries;
  /** How often the figures were read again. Those of a selected column are read along with them. */
  readonly figuresRead = signal(0);
  /** The figures of groups: the summaries of number fields, without the one that orders the groups. */
  private readonly figures: ReadonlySignal<GroupsQuery['aggregates']>;
  readonly selection = signal<Selection | null>(null);
  /** Whether a range that the keyboard adds is being begun: it goes along with the focus. */
  readonly adding = signal(false);
  readonly checked = new Checked();
  /** Issues that were edited and no longer fit the filter or the sort. They stay until the user moves on. */
  readonly misfits = signal<ReadonlySet<number>>(new Set());
  readonly user: Person;
  readonly role: Role;
  readonly people: People;
  readonly live: Live;
  private readonly following: Following;
  private readonly turning = new Turning(() => this.live.rereadPlaces());
  readonly jobs: Jobs;
  readonly undoOffer: UndoOffer;
  /** Bulk changes and their undo. */
  readonly changes = new ApiChanges(this);
  readonly finding: Finding;
  readonly canEdit: boolean;
  readonly editing: Editing;
  private readonly added: AddedRows;
  /** Ends when the options that were asked for are added. */
  private defining: Promise<void> = Promise.resolve();
  private length = 0;
  /** Returns the row of the card before or after one in its column, while a board is shown. */
  cardBeside: ((num: number, by: -1 | 1) => number | undefined) | null = null;
  private explained = false;
  /** By how many drags rows are held in their places. */
  private holds = 0;
  /** What waits until rows are no longer held in their places. */
  private waiting: 'nothing' | 'layout' | 'settling' = 'nothing';
  private readonly stop: () => void;

  constructor(
    readonly api: Api,
    readonly project: Project,
    readonly views: SavedViews,
    feed?: Feed,
    readonly panels = new Panels(),
  ) {
    this.user = views.user;
    this.role = this.user.role;
    this.people = new People(api);
    this.canEdit = permits(this.role, 'editor');
    this.fields = views.fields;
    this.view = views.view;
    this.arranged = computed(() => arranged(this.view.value));
    this.columns = computed(() => inScreenOrder(this.arranged.value.columns ?? defaultColumns(this.fields)));
    this.following = new Following({
      follow: (from) => this.follow(from, feed),
      changesAfter: (since) => feed?.changesAfter(since) ?? Promise.resolve([]),
      addMissing: (part, events) => this.live.addMissing(part, events),
      reread: (part) => this.live.reread(part),
    });
    this.rows = new RowStore((run, offset, limit, signal) => this.fetch(run, offset, limit, signal), { areHeld: () => this.areHeld });
    // As text: the view is created again with each change of the address.
    const rules = computed(() => formatJson(this.view.value.rules));
    this.ruling = computed(() => rulingOf(parseJson(rules.value) as readonly Rule[], this.fields));
    this.judging = new Judging(this.rows, () => this.ruling.peek(), (ruling, nums) => judge(api, project.id, ruling, nums));
    this.computing = new Computing(this.rows, this.fields, {
      columns: () => this.requested(),
      isWriting: (num) => this.editor.isWriting(num),
      read: (nums, columns) => readRows(api, project.id, nums, columns),
    });
    this.issue = new OpenIssue(api, project.id, (row) => this.upToDate([row])[0] ?? row);
    const held: HeldRows = {
      ...bothOf(this.rows, this.issue),
      caughtUp: (row) => this.live.caughtUp([row])[0] ?? row,
      place: (places) => this.showPlaced(places),
    };
    this.editor = new Editor(api, project.id, this.fields, held, (change) => this.written(change));
    this.editing = new Editing(this.editor, () => this.letMove());
    this.added = new AddedRows(project, this.fields, (num) => this.rows.held(num), (rows) => {
      this.relayout();
      if (rows.length) this.rows.seed(this.added.run(), rows);
    });
    this.undoOffer = new UndoOffer(this.editor.history);
    this.figures = computed(() => figuresOf(this.view.value, this.fields));
    this.counting = new Counting(api, project.id, ({ matched }) => {
      this.length = matched;
      this.relayout();
    }, this.following.requested);
    this.groups = new Groups(api, project.id, this.following.requested);
    this.summaries = new Summaries(api, project.id, this.following.requested);
    this.live = new Live({
      user: this.user.user,
      holders: [this.rows, this.issue],
      isBusy: (num, field) => this.editing.isBusy(num, field),
      changed: (num, field, by) => {
        if (this.editing.isOpen(num, field)) this.editor.noticeChange(num, field, by);
      },
      isOwn: (change) => this.editor.owns(change),
      dependence: () => this.dependence(),
      missed: () => this.readOpenIssue(),
      mayMove: () => this.mayMove(),
      renew: () => this.renew(),
      summarize: () => this.renewFiguresInPlace(),
      isRedefined: () => this.isRedefined(),
    });
    this.jobs = new Jobs(api, project.id, (job) => {
      this.live.rereadPlaces();
      this.undoOffer.jobEnded(job, this.jobs.list.peek());
    });
    this.finding = new Finding(this);
    feed?.listen(this.live);
    let fields: readonly string[] = [];
    const query = computed(() => queryText(this.arranged.value, this.columns.value, this.figures.value));
    const stopping = [
      // Before the grid shows the columns.
      this.columns.subscribe((columns) => {
        const before = fields;
        fields = columns.map(({ field }) => field);
        const selection = this.selection.peek();
        if (selection) this.selection.value = withColumns(selection, before, fields);
      }),
      query.subscribe(() => this.restart()),
      this.ruling.subscribe(() => this.rule()),
      this.groups.levels.subscribe(() => this.relayout()),
      this.groups.error.subscribe((error) => {
        if (error !== null) this.refusal.value = error;
      }),
      computed(() => JSON.stringify(this.arranged.value.footers)).subscribe(() => this.summarize()),
      computed(() => this.arranged.value.closed.join()).subscribe(() => this.relayout()),
      this.editing.stop,
      this.editor.marks.subscribe(() => this.live.release()),
      this.editor.placing.subscribe(() => this.letMove()),
      this.misfits.subscribe(() => this.live.release()),
      this.selection.subscribe((selection) => {
        if (!selection?.others) this.adding.value = false;
      }),
      this.selection.subscribe(() => feed?.look(this.issueInFocus()?.num ?? null)),
      () => feed?.stop(),
      () => this.live.stop(),
      () => this.turning.stop(),
      () => this.judging.stop(),
      () => this.computing.stop(),
      () => this.jobs.close(),
      () => this.finding.end(),
    ];
    this.stop = () => {
      for (const stop of stopping) stop();
    };
  }

  field(id: string): Field | undefined {
    return this.fields.find((field) => field.id === id);
  }

  /** The field of a column of the screen. */
  fieldAt(column: number): Field | undefined {
    return this.field(this.columns.peek()[column]?.field ?? '');
  }

  get size(): Size {
    return { rows: this.rows.layout.length, columns: this.columns.peek().length };
  }

  /** The latest of the selected ranges. */
  get range(): Rectangle | null {
    const selection = this.selection.value;
    return selection && rectangleOf(selection);
  }

  /** The selected ranges, the latest last. */
  get ranges(): readonly Rectangle[] {
    const selection = this.selection.value;
    return selection ? rectanglesOf(selection) : [];
  }

  /** Show another view. `replace` is for changes that are no step of their own, such as the width of a column. */
  change(change: Partial<View>, { replace = false } = {}): void {
    // Another sort replaces a manual order.
    go(this.views.addressOf({ ...this.view.peek(), ...(change.sort && { manual: null }), ...change }), { replace });
  }

  /** The issues in some rows of the screen, in order, on request with the drafts. Issues that are not held are requested. */
  async issuesIn(first: number, last: number, { most = Infinity, drafts = false } = {}): Promise<readonly Row[]> {
    const found: Row[] = [];
    for (let index = first; index <= Math.min(last, this.size.rows - 1) && found.length < most; ) {
      const slot = this.rows.at(index);
      if (slot.kind === 'issue') {
        if (drafts || !isDraft(slot.row.num)) found.push(slot.row);
        index += 1;
        continue;
      }
      const place = this.rows.layout.at(index);
      if (place?.kind !== 'issue' || slot.kind === 'gone') {
        index += 1;
        continue;
      }
      const limit = Math.min(FAR_PAGE, last - index + 1, place.run.count - place.offset, most - found.length);
      const { rows } = await wholePage((...part) => this.page(place.run, ...part), place.offset, limit);
      found.push(...this.upToDate(rows));
      index += limit;
    }
    return found;
  }

  /** So many issues and drafts from a row on, or as many as there are. Heads of groups may be between them. */
  issuesFrom(first: number, count: number): Promise<readonly Row[]> {
    return this.issuesIn(first, this.size.rows - 1, { most: count, drafts: true });
  }

  /** Issues by their numbers, in the order of the view, with the columns of the screen. */
  async issuesOf(nums: readonly number[]): Promise<readonly Row[]> {
    const run = { key: '', filter: filterOfNums(nums), count: nums.length };
    const found: Row[] = [];
    for (let offset = 0; offset < nums.length; offset += FAR_PAGE) {
      const { rows } = await wholePage((...part) => this.page(run, ...part), offset, FAR_PAGE);
      found.push(...this.upToDate(rows));
    }
    return found;
  }

  /** The numbers of the issues that the check boxes of the user mean. */
  get checkedNums(): readonly number[] {
    return [...this.checked.nums.value];
  }

  /** The target of a job for these issues. */
  targetsOf(nums: readonly number[]): readonly Target[] {
    return nums.length ? [targetOfNums(nums)] : [];
  }

  /** Select a column: only it, also the columns between it and the selected ones, or also the selected ranges. */
  selectColumn(field: string, how: Choosing): void {
    const column = this.columns.peek().findIndex((one) => one.field === field);
    if (column < 0 || !this.size.rows) return;
    const selection = this.selection.peek();
    const whole = wholeColumn(column, this.size, how === 'extend' ? selection : null);
    this.selection.value = how === 'add' && selection ? { ...whole, others: rectanglesOf(selection) } : whole;
  }

  isSelected(cell: Cell): boolean {
    const selection = this.selection.peek();
    return selection !== null && rectanglesOf(selection).some((range) => contains(range, cell));
  }

  /** Begin one more range, at a cell. By default at the one in focus: it then goes along with the focus. */
  addRange(cell?: Cell): void {
    const selection = this.selection.peek();
    if (!selection) return;
    this.selection.value = withCell(selection, cell ?? selection.anchor);
    this.adding.value = !cell;
    if (cell) this.leaveRow(cell.row);
  }

  /** The targets of a job for the selected rows. */
  selectedTargets(): readonly Target[] {
    return rowsOf(this.ranges).flatMap((rows) => this.targets(rows));
  }

  /** The targets of a job for these rows of the screen; null: for all matching issues. */
  targets(rows: Rows | null): readonly Target[] {
    if (rows) return targetsOf(this.rows.layout, rows.first, rows.last);
    const { matched = this.project.issues ?? 0 } = this.counting.counts.peek() ?? {};
    return [{ filter: this.filter, rows: null, count: matched }];
  }

  /** Whether the user may place rows by hand. */
  get canPlace(): boolean {
    return this.canEdit && this.view.value.manual !== null;
  }

  private written({ edits, made, deleted, places: placed, undo }: Change): void {
    if (undo !== undefined) {
      this.settle();
      const shown = this.issue.row.peek();
      if (shown) void this.issue.show(shown.num);
    }
    const drawer = this.panels.drawer.peek();
    if (drawer?.kind === 'issue' && deleted.some(({ num }) => num === drawer.num)) this.panels.close();
    if (deleted.length) {
      const gone = deleted.map(({ num }) => num);
      this.checked.set(gone, false);
      // Otherwise a new card in focus would stay, and keep all others in their places.
      this.added.remove(gone);
      this.settle();
    }
    if (made.length) {
      const isAtTheEnd = this.added.add(made);
      // The new rows are at the end until the user moves on; the count and the summaries include them at once.
      void this.counting.recount(this.filter);
      this.summarize({ again: true });
      if (!isAtTheEnd) this.live.rereadPlaces();
    }
    void this.showMisfits(edits, this.isBoard || placed !== undefined);
    this.finding.changed();
  }

  /**
   * Mark the issues that no longer fit after these edits, then read again what else the edits have altered. `isMoved`: the
   * edits also moved rows.
   */
  private async showMisfits(edits: readonly CellEdit[], isMoved: boolean): Promise<void> {
    const versionOf = (num: number) => this.rows.held(num)?.version;
    const before = new Map(edits.map(({ num }) => [num, versionOf(num)]));
    try {
      const found = await findMisfits(this, edits);
      // The answer may already know a later edit or an undo, which is looked at by itself.
      const present = [...found].filter((num) => !this.editor.isWriting(num) && versionOf(num) === before.get(num));
      if (present.length) this.misfits.value = new Set([...this.misfits.peek(), ...present]);
      const altered = effectOfEdits(edits, this.dependence(), (num) => this.rows.indexOf(num) !== undefined);
      if (altered.figures) this.live.rereadFigures();
      // The cards of a board go to their places at once; misfits stay.
      if (isMoved || altered.places) this.live.rereadPlaces();
    } catch {
      // It is not known which ones fit, so all rows are read again, which is repeated until it succeeds.
      this.live.rereadPlaces();
    }
  }

  /** Show a row at the end that is no issue yet, with these values. Returns its number. */
  draft(body: Patch): number {
    const num = this.added.draft(body);
    // It is asked for, and its editor opens next, even if another one is just being closed.
    this.rows.relayout(this.layout());
    return num;
  }

  /** The user has entered a value in a draft: it stays until it is an issue, or is deleted. */
  keepDraft(num: number): void {
    this.added.keep(num);
  }

  isKept(draft: number): boolean {
    return this.added.isKept(draft);
  }

  /** Take away a row that is no issue yet. */
  dropDraft(num: number): void {
    this.unmarkDraft(num);
    this.added.dropDraft(num);
    // Its own editor is just being closed, and holds no rows any more.
    this.rows.relayout(this.layout());
  }

  private unmarkDraft(num: number): void {
    for (const { id } of this.fields) this.editor.forgetRefusal(num, id);
  }

  /** Forget the rows at the end: they are read again, in their places. Drafts without a value are gone. */
  private forgetAdded(): void {
    for (const draft of this.added.drafts) if (!this.added.isKept(draft)) this.unmarkDraft(draft);
    this.added.forget();
  }

  /** Create the issue of a draft, with this body. Texts that were refused stay marked, at the issue. */
  async createFrom(draft: number, body: Patch): Promise<Outcome> {
    const end = this.added.become(draft, body);
    try {
      const outcome = await this.editor.apply({ made: [newIssue(body)] });
      const [issue] = outcome.taken.made;
      if (issue) {
        this.editor.moveRefusals(draft, issue.num);
        this.leaveDraft();
      }
      return outcome;
    } finally {
      end();
    }
  }

  /** A draft has become an issue. It goes to its place now if the user has moved on from it meanwhile. */
  private leaveDraft(): void {
    const row = this.selection.peek()?.anchor.row;
    if (row !== undefined && !this.isBoard) this.leaveRow(row);
  }

  /** Whether there are rows at the end that have no place yet. */
  get hasAdded(): boolean {
    return !this.added.isEmpty.value;
  }

  /** The numbers of the rows that are no issues yet. */
  get drafts(): readonly number[] {
    return this.added.drafts;
  }

  /** Show rows where they are being placed. Returns how to show them where the API has them. */
  private showPlaced({ view, forth }: Arrangement): () => void {
    if (view !== this.view.peek().manual) return () => undefined;
    const shown: Shown = {
      rows: this.rows,
      levels: () => this.groups.levels.peek(),
      layout: (levels) => this.layout(levels),
      recount: (levels) => this.groups.recount(levels),
      fixed: ADDED,
    };
    for (const placing of forth) showPlaced(shown, placing);
    return () => this.settle();
  }

  /** The focus moved to a cell. Rows that no longer fit go to their places once another row has the focus. */
  moveTo(cell: Cell): void {
    const others = this.adding.peek() ? this.selection.peek()?.others : undefined;
    this.selection.value = { ...at(cell), ...(others && { others }) };
    this.leaveRow(cell.row);
  }

  /** The focus is in this row. */
  private leaveRow(row: number): void {
    const slot = this.rows.at(row);
    const stays = slot.kind === 'issue' && (this.misfits.peek().has(slot.row.num) || this.added.has(slot.row.num));
    if (!stays && (this.misfits.peek().size || this.added.hasPassing)) this.settle();
  }

  /** Read everything on the screen again: at once, or as soon as rows are no longer held in their places or placed. */
  settle(): void {
    // Until a placement is written, the API has the rows where they were before.
    if (this.areHeld || this.editor.placing.peek() > 0) {
      this.waiting = 'settling';
      return;
    }
    if (this.isBoard) {
      this.misfits.value = new Set();
      this.live.rereadPlaces();
      return;
    }
    this.following.begin();
    this.misfits.value = new Set();
    this.forgetAdded();
    this.rows.refresh();
    void this.renewFigures();
    void this.counting.ask(this.filter, { again: true });
  }

  /** Whether a new read of the project would discard some work of the user. */
  get holdsWork(): boolean {
    const { done, undone } = this.editor.history.value;
    const kept = done.length + undone.length + this.editor.turns.value + this.editor.marks.value.size + this.checked.nums.value.size;
    return kept > 0 || this.added.hasKept.value || this.editing.hasOpenEditor || this.finding.isOpen.value;
  }

  /** Whether a new read of the project would disturb the user: it discards work, or something is open over it. */
  get isInUse(): boolean {
    return this.holdsWork || this.panels.window.value !== null || this.panels.drawer.value !== null;
  }

  /** Show all fields of the issue in focus, beside the grid. */
  openIssue(): void {
    const row = this.issueInFocus();
    if (row) this.panels.open({ kind: 'issue', num: row.num });
  }

  /** The row of the issue before (-1) or after (1) an issue; undefined if the grid does not have either. */
  rowBeside(num: number, by: -1 | 1): number | undefined {
    if (this.cardBeside) return this.cardBeside(num, by);
    const row = this.rows.indexOf(num);
    return row === undefined ? undefined : neighbourRow((at) => this.rows.at(at).kind, this.rows.layout.length, row, by);
  }

  /** The issue that has the focus of the grid. */
  issueInFocus(): Row | null {
    const row = this.selection.peek()?.anchor.row;
    const slot = row === undefined ? undefined : this.rows.at(row);
    return slot?.kind === 'issue' && !isDraft(slot.row.num) ? slot.row : null;
  }

  /** Open a group that is closed, or close it. */
  toggleGroup(key: string): void {
    this.change({ closed: toggled(this.view.peek().closed, key) }, { replace: true });
  }

  close(): void {
    this.stop();
    this.groups.stop();
    this.summaries.stop();
    this.counting.stop();
    this.rows.close();
    this.panels.unwritten.follow(this.project.name, this.fields, this.editor);
  }

  /** These rows are in view: of the screen, or of the columns of a board. */
  show(shown: Range | readonly Window[]): void {
    this.rows.show(shown);
    this.judging.look();
    this.computing.look();
  }

  /** The filter and the search words, as one. */
  get filter(): Filter | null {
    const { filter, search } = this.view.peek();
    return withSearch(filter, search, this.project.issues ?? 0, this.fields);
  }

  /** Keep rows in their places while the user drags some of them, or across them. Returns how to end that. */
  hold(): () => void {
    this.holds += 1;
    return () => {
      this.holds -= 1;
      this.letMove();
    };
  }

  /** Whether rows keep their places: below an open editor, and while they are dragged. */
  private get areHeld(): boolean {
    return this.holds > 0 || this.editing.isAnyOpen;
  }

  /** An editor was closed, or a drag or a placement has ended: do what waited for that. */
  private letMove(): void {
    const { waiting } = this;
    if (!this.areHeld) {
      this.waiting = 'nothing';
      if (waiting === 'settling') this.settle();
      else if (waiting === 'layout') this.relayout();
      this.rows.readStale();
    }
    this.live.release();
  }

  private dependence(): Dependence {
    const summed = summedColumn(this, this.ranges)?.id;
    return dependenceOf(this.arranged.peek(), this.filter, this.figures.peek(), this.fields, summed);
  }

  private mayMove(): boolean {
    return !this.holds && !this.editing.isActive.peek() && !this.misfits.peek().size && !this.hasStaying() && this.refusal.peek() === null;
  }

  get isBoard(): boolean {
    return boardOf(this.view.peek()) !== null;
  }

  /** Whether new issues are not to go to their places yet: on a board, the draft and the card in focus. */
  private hasStaying(): boolean {
    if (!this.isBoard) return this.added.hasPassing;
    const focus = this.issueInFocus();
    return this.drafts.length > 0 || (focus !== null && this.added.has(focus.num));
  }

  /** Read rows, groups and counts again. An edit that begins meanwhile outdates them: its effect is on the screen already. */
  private async renew(): Promise<Renewal> {
    const { begun } = this.editing;
    const shown = this.following.beginHeld();
    this.summarize({ again: true });
    void this.counting.ask(this.filter, { again: true });
    const isGrouped = this.arranged.peek().groups.length > 0;
    const groups = isGrouped ? await this.groups.read() : null;
    if (isGrouped && !groups) return 'failed';
    const areLatest = () => begun === this.editing.begun && (groups?.areLatest() ?? true);
    const may = () => areLatest() && this.mayMove();
    if (!may()) return 'outdated';
    const quietly = async (run: Run, offset: number, limit: number, signal: AbortSignal) => {
      const unwritten = this.unwrittenIn(run, offset, limit);
      if (unwritten) return unwritten;
      const { rows } = await wholePage((...part) => this.followedPage(run, ...part, { signal }), offset, limit);
      return this.upToDate(rows);
    };
    // Groups are shown together with their rows.
    if (!(await this.rows.renew(may, quietly, groups ? this.layout(groups.levels, { withAdded: !this.added.hasPassing }) : undefined))) return may() ? 'failed' : 'outdated';
    this.forgetAdded();
    groups?.show();
    shown();
    return 'shown';
  }

  /**
   * Let the feed continue from the last read. Changes that it then leaves out are in the rows, but not in the parts
   * beside them.
   */
  private follow(from: string | null, feed: Feed | undefined): void {
    const leavesOut = feed?.continueFrom(from) ?? false;
    if (from !== null) {
      this.live.continued();
      // Nor may a read use an older copy.
      this.api.continueFrom(this.project.id, from);
    }
    if (leavesOut) this.live.missed();
  }

  /** Read the issue in the panel again, unless an edit is about to do so. */
  private readOpenIssue(): void {
    const shown = this.issue.row.peek();
    if (shown && !this.editing.isActive.peek()) void this.issue.show(shown.num);
  }

  private async renewFigures(): Promise<void> {
    this.summarize({ again: true });
    if (this.arranged.peek().groups.length && !(await this.groups.renew())) this.live.rereadPlaces();
  }

  /** Read the figures again. Groups that fail, or would move rows which may not move, are read again with the rows. */
  private async renewFiguresInPlace(): Promise<void> {
    this.summarize({ again: true });
    if (!this.arranged.peek().groups.length) return;
    const isShown = await this.groups.renew((levels) => this.mayMove() || haveSameRows(levels, this.groups.levels.peek()));
    if (!isShown) this.live.rereadPlaces();
  }

  private async isRedefined(): Promise<boolean> {
    return !this.adopt(await loadProject(this.api, this.project.id, new AbortController().signal));
  }

  /**
   * Take over this state of the project if the page has the same definitions, or only lacks options at the ends of their
   * lists. Returns false if the page must be built again.
   */
  adopt(now: Project): boolean {
    if (!onlyAddsOptions(this.project, now)) return false;
    Object.assign(this.project, { version: now.version, states: now.states, attributes: now.attributes });
    const options = new Map((now.attributes ?? []).map((attribute) => [attribute.id, attribute.options ?? []]));
    for (const field of this.fields) field.options = field.id === 'state' ? now.states : (options.get(field.id) ?? []);
    return true;
  }

  /** Add options to a field, as an administrator. Throws ApiError if the API refuses, OfflineError without an answer. */
  addOptions(field: Field, values: readonly string[]): Promise<void> {
    const added = this.defining.then(async () => {
      const now = await addOptions(this.api, this.project, field, values);
      if (!this.adopt(now)) this.live.redefined.value = true;
    });
    this.defining = added.catch(() => undefined);
    return added;
  }

  /** Request everything again. */
  restart(): void {
    this.live.reads();
    this.following.begin();
    this.waiting = 'nothing';
    this.length = this.filter ? GUESS : (this.project.issues ?? GUESS);
    this.forgetAdded();
    this.misfits.value = new Set();
    this.refusal.value = null;
    this.explained = false;
    void this.counting.ask(this.filter);
    const { groups, groupOrder } = this.arranged.peek();
    this.watchClock();
    this.ruled = this.ruling.peek().filters;
    this.groups.start({
      by: byOf(groups, this.fields, ownTimezone()),
      filter: this.filter,
      aggregates: groups.length ? this.figures.peek() : [],
      order: groupOrder,
    });
    this.rows.reset(this.layout());
    // The feed continues from these reads: it does not deliver earlier changes, which the present footers may lack.
    this.summarize({ again: true });
  }

  /** Other rules: rows that were not judged by all of them are read again. */
  private rule(): void {
    const { filters } = this.ruling.peek();
    const isJudged = [...filters.keys()].every((filter) => this.ruled.has(filter));
    this.ruled = filters;
    this.watchClock();
    // The rules may be what the API refused.
    if (this.refusal.peek() !== null) this.restart();
    else if (isJudged) return;
    else if (this.areHeld || this.misfits.peek().size || this.added.hasPassing) this.settle();
    else this.rows.refresh();
  }

  private watchClock(): void {
    const filters = [this.filter, ...this.ruling.peek().filters.values()];
    this.turning.watch({ and: filters.flatMap((filter) => filter ?? []) });
  }

  private summarize(how: { readonly again?: boolean } = {}): void {
    if (how.again) this.figuresRead.value += 1;
    this.summaries.ask(this.view.peek().footers, this.filter, this.fields, how);
  }

  private layout(levels = this.groups.levels.peek(), { withAdded = true } = {}): Layout {
    const { groups, closed } = this.arranged.peek();
    const pieces: Piece[] = groups.length
      ? [...layoutOfGroups(levels, groups.map(({ field }) => field), new Set(closed)).pieces]
      : [{ kind: 'run', run: { key: '', filter: this.filter, count: this.length } }];
    if (withAdded && this.added.length) pieces.push({ kind: 'run', run: this.added.run() });
    return new Layout(pieces);
  }

  /** The runs of issues on the screen, without new issues that are not yet in their places. */
  runs(): readonly Run[] {
    return this.rows.layout.pieces.flatMap((piece) => (piece.kind === 'run' && piece.run.key !== ADDED ? [piece.run] : []));
  }

  /** Show the rows that there are by now: at once, or as soon as rows are no longer held in their places. */
  private relayout(): void {
    if (!this.areHeld) this.rows.relayout(this.layout());
    else if (this.waiting === 'nothing') this.waiting = 'layout';
  }

  /** Rows of a run that the API does not have; null for others. */
  private unwrittenIn(run: Run, offset: number, limit: number): readonly Row[] | null {
    return run.key === ADDED ? this.added.unwritten(offset, limit) : null;
  }

  private async fetch(run: Run, offset: number, limit: number, signal: AbortSignal): Promise<readonly Row[]> {
    const unwritten = this.unwrittenIn(run, offset, limit);
    if (unwritten) return unwritten;
    const explain = !this.explained;
    this.explained = true;
    const read = (from: number, most: number) => this.followedPage(run, from, most, { signal, explain: explain && from === offset });
    const { rows, end } = await wholePage(read, offset, limit).catch((error: unknown) => {
      this.explained &&= !explain;
      if (!isAbort(error)) this.refusal.value = error;
      throw error;
    });
    // The last page shows how many rows there are, if the count has not come yet.
    if (end && run.key === '' && this.counting.counts.peek() === null) {
      this.length = offset + rows.length;
      this.relayout();
    }
    return this.upToDate(rows);
  }

  /** Rows that were read, with the changes that were delivered meanwhile, and the user's unanswered edits. */
  private upToDate(rows: readonly Row[]): readonly Row[] {
    return this.live.caughtUp(rows).map((row) => this.editor.onTop(row));
  }

  /** Rows for the screen: the feed continues from their answer. */
  private async followedPage(run: Run, offset: number, limit: number, options: PageOptions): Promise<PagePart<Row>> {
    const answered = this.following.requested('places');
    const { rows, end, index, explanation, changes } = await this.page(run, offset, limit, options);
    answered(changes);
    this.index.value = index;
    if (explanation) this.explanation.value = explanation;
    return { rows, end };
  }

  private page(run: Run, offset: number, limit: number, { signal, explain = false }: PageOptions = {}) {
    const columns = this.computing.columnsFor(this.requested());
    const view = this.view.peek();
    const query = { sort: orderOf(view), filter: run.filter, columns, offset, limit, ruling: this.ruling.peek(), keys: view.manual !== null, explain };
    return fetchRows(this.api, this.project.id, query, signal);
  }

  /** The ids of the fields that rows are requested with. */
  private requested(): readonly string[] {
    const { color, kind, board } = this.view.peek();
    const columns = this.columns.peek().map(({ field }) => field);
    return [...columns, color, kind === 'board' && board ? board.by : null].flatMap((id) => id ?? []);
  }
}
