/**
 * Finds a text in the cells of the view, in all rows.
 *
 * Loaded rows are searched in the page, where cells also match by the text that they show. For other rows, the API counts
 * the matches before the issue in focus (`before`). It returns the match of that number, and then its row number in the
 * view. In a grouped view it also counts the matches of each group, and the rest happens within one group.
 */
import { batch, computed, signal, type ReadonlySignal } from '@preact/signals';
import { isAbort } from '../api/problem';
import type { Filter } from '../api/types';
import { formatValue } from '../cells/format';
import type { Field } from '../fields/fields';
import { valueOf, type Row } from '../fields/values';
import { Throttle } from '../live/throttle';
import { keyOfGroup } from '../rows/groups';
import type { Run } from '../rows/layout';
import type { Slot } from '../rows/store';
import { beforeAll, indexOfMatch, nextCell, nextMatch, runsBefore, type AmongMatches, type SearchedRows, type Step } from '../selection/find';
import type { Cell } from '../selection/range';
import { filterOfSought, soughtIn, withText, type Sought } from '../selection/sought';
import { toAddress } from '../view/address';
import { narrowedBy } from '../view/filters';
import { ownTimezone } from '../view/relative';
import { NO_RULING } from '../view/rules';
import { textMatchFor, type TextMatch } from '../view/text-search';
import { DEFAULT_VIEW, orderOf } from '../view/view';
import { words } from '../words';
import { byOf } from './groups';
import type { ProjectModel } from './model';
import { countGroups, fetchCounts, fetchRowNumber, fetchRows } from './queries';

/** Milliseconds without a key before the matches of a typed text are counted, or without a move before a place is. */
const PAUSE = 250;
/** Milliseconds between two counts while issues change. */
const COUNT_AGAIN = 1_000;
/** Steps that wait while a key is held down. */
const MAX_WAITING = 3;
/** If rows have moved between the requests of a step, all of them are sent once more. */
const ATTEMPTS = 2;

type Searched = Pick<ProjectModel, 'api' | 'project' | 'fields' | 'view' | 'arranged' | 'columns' | 'rows' | 'selection' | 'filter' | 'live' | 'runs' | 'issuesIn' | 'moveTo'>;

/** A match: its cell, its text, and whether the search has continued from the other end to find it. */
interface Found {
  readonly cell: Cell;
  readonly row: Row;
  readonly wrapped: boolean;
}

/** The fields of a row that have the text or show it, and whether the API counts the issue. */
interface InRow {
  readonly fields: ReadonlySet<string>;
  readonly isCounted: boolean;
}

export class Finding {
  readonly isOpen = signal(false);
  /** How many times the user has asked for the bar: it takes the focus each time. */
  readonly asked = signal(0);
  readonly text = signal('');
  readonly match: TextMatch;
  /** The fields of the columns in which the text is looked for. */
  readonly fields: ReadonlySignal<readonly Field[]>;
  /** How the text is found in each of them; null while nothing is looked for. */
  readonly sought: ReadonlySignal<readonly Sought[] | null>;
  /** The number of issues with the text, as the API finds them; null until they are counted. */
  readonly total = signal<number | null>(null);
  /** How many more loaded issues show the text. */
  readonly alsoShown = signal(0);
  /** How many more there are in groups without rows on the screen. */
  readonly hidden = signal(0);
  /** The number of the issue in focus among the matches, from 1; null if it is none of them. */
  readonly place = signal<number | null>(null);
  /** The direction in which the last step has continued from the other end; null if it has not. */
  readonly wrapped = signal<Step | null>(null);
  readonly busy = signal(false);
  /** Why the matches could not be found. */
  readonly error = signal<unknown>(null);
  /** The text of the last match, for screen readers. */
  readonly announcement = signal('');
  /** The cell of the last match, which the grid brings into view. */
  readonly reached = signal<Cell | null>(null);

  /** The matches of each run, by its key. */
  private counts: ReadonlyMap<string, number> = new Map();
  private isCounted = false;
  private looking = new AbortController();
  private moving = new AbortController();
  private waiting: Step[] = [];
  private isGoing = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly recounting = new Throttle(COUNT_AGAIN, () => void this.look());
  private readonly noticing = new Throttle(PAUSE, () => this.notice());
  /** What the page has found in rows. */
  private found = new WeakMap<Row, InRow>();
  /** The issue that was searched, until its row is loaded. */
  private expected: { readonly num: number; readonly cell: Cell } | null = null;
  private readonly stop: () => void;

  constructor(private readonly model: Searched) {
    this.match = textMatchFor(model.project.issues ?? 0);
    this.fields = computed(() => {
      const columns = model.columns.value.flatMap(({ field: id }) => model.fields.find((field) => field.id === id) ?? []);
      return withText(columns);
    });
    this.sought = computed(() => {
      const { filter, search } = model.view.value;
      return this.isOpen.value ? soughtIn(this.fields.value, this.text.value, this.match, filter || search ? model.filter : null) : null;
    });
    const query = computed(() => {
      const { sort, manual, filter, search, groups } = this.model.arranged.value;
      const fields = this.fields.value.map(({ id }) => id);
      return `${this.isOpen.value} ${fields.join()} ${toAddress({ ...DEFAULT_VIEW, sort, manual, filter, search, groups })} ${this.text.value}`;
    });
    const focus = computed(() => model.selection.value?.anchor);
    let { layout } = model.rows;
    const stopping = [
      this.sought.subscribe(() => (this.found = new WeakMap())),
      query.subscribe(() => this.begin()),
      focus.subscribe(() => {
        // The user has gone elsewhere.
        if (!this.isGoing) this.rest();
        this.lookSoon();
      }),
      model.live.reported.subscribe(() => this.changed()),
      model.rows.onChange(() => {
        this.arrive();
        if (this.sought.peek()) this.noticing.ask();
        if (layout !== model.rows.layout) this.tally();
        ({ layout } = model.rows);
      }),
    ];
    this.stop = () => {
      for (const stop of stopping) stop();
    };
  }

  /** Show the bar, or give it the focus. */
  open(): void {
    batch(() => {
      this.isOpen.value = true;
      this.asked.value += 1;
    });
  }

  close(): void {
    this.isOpen.value = false;
  }

  /** The page no longer shows the project. */
  end(): void {
    this.close();
    this.stop();
    this.recounting.stop();
    this.noticing.stop();
    clearTimeout(this.timer);
  }

  /** Whether a cell has the text, or shows it. */
  has(row: Row, field: string): boolean {
    return this.inRow(row).fields.has(field);
  }

  private inRow(row: Row): InRow {
    const known = this.found.get(row);
    if (known) return known;
    const fields = new Set<string>();
    let isCounted = false;
    for (const { field, matches, shows } of this.sought.peek() ?? []) {
      const value = valueOf(row, field.id);
      const isMatch = matches(value);
      if (isMatch || shows(value)) fields.add(field.id);
      isCounted ||= isMatch;
    }
    const found = { fields, isCounted };
    this.found.set(row, found);
    return found;
  }

  /** Count the loaded issues that only show the text. */
  private notice(): void {
    const { rows } = this.model;
    this.alsoShown.value = rows.loaded().filter((num) => {
      const row = rows.held(num);
      const found = row && this.inRow(row);
      return found && found.fields.size > 0 && !found.isCounted;
    }).length;
  }

  /** Issues have changed: count again. */
  changed(): void {
    if (!this.sought.peek()) return;
    this.isCounted = false;
    this.recounting.ask();
  }

  /** Go to the next match, or to the one before. Steps that come while one is on the way follow it. */
  async next(step: Step): Promise<void> {
    if (!this.sought.peek() || this.waiting.length > MAX_WAITING) return;
    this.waiting.push(step);
    if (this.busy.peek()) return;
    const { signal } = (this.moving = new AbortController());
    this.busy.value = true;
    this.error.value = null;
    try {
      for (let one = this.waiting.shift(); one !== undefined; one = this.waiting.shift()) {
        const near = this.near(one);
        // Without a match among all rows, cells of loaded rows may show the text.
        const found = near === undefined ? ((await this.far(one, signal)) ?? this.near(one, { skips: true }) ?? null) : near;
        if (signal.aborted) return;
        this.go(found, one);
      }
    } catch (error) {
      if (!isAbort(error) && !signal.aborted) this.error.value = error;
    } finally {
      if (this.moving.signal === signal) this.rest();
    }
  }

  /** No step is on the way any more. */
  private rest(): void {
    this.moving.abort();
    this.waiting = [];
    this.busy.value = false;
  }

  /** Another text, or another view: nothing is known of it. */
  private begin(): void {
    this.rest();
    this.looking.abort();
    this.isCounted = false;
    this.counts = new Map();
    batch(() => {
      this.total.value = this.place.value = this.wrapped.value = this.error.value = null;
      this.hidden.value = this.alsoShown.value = 0;
      this.announcement.value = '';
    });
    this.lookSoon();
  }

  private lookSoon(): void {
    clearTimeout(this.timer);
    if (!this.sought.peek()) return;
    this.timer = setTimeout(() => void this.look(), PAUSE);
  }

  /** Count the matches, unless they are, and find the place of the issue in focus among them. */
  private async look(): Promise<void> {
    this.looking.abort();
    const { signal } = (this.looking = new AbortController());
    if (!this.sought.peek()) return;
    try {
      this.notice();
      await this.count(signal);
      const here = this.isFocusFound() ? await this.here(signal) : null;
      if (signal.aborted) return;
      this.place.value = here?.matches ? indexOfMatch(this.countsOfRuns(), here) + 1 : null;
    } catch (error) {
      if (!isAbort(error) && !signal.aborted) this.error.value = error;
    }
  }

  /** Whether the issue in focus has the text, as far as the page knows. */
  private isFocusFound(): boolean {
    const row = this.model.selection.peek()?.anchor.row ?? -1;
    const slot = this.model.rows.at(row);
    return slot.kind === 'loading' || (slot.kind === 'issue' && this.columnsOf(slot.row).length > 0);
  }

  /** The next match among the loaded rows; null without any; undefined if that depends on other rows, unless it `skips` them. */
  private near(step: Step, { skips = false } = {}): Found | null | undefined {
    const { rows, selection } = this.model;
    const at = (row: number): Slot => {
      const slot = rows.at(row);
      return skips && slot.kind !== 'issue' ? { kind: 'gone' } : slot;
    };
    const searched: SearchedRows = { length: rows.layout.length, at, columnsOf: (row) => this.columnsOf(row) };
    const found = (cell: Cell | null | undefined, wrapped: boolean): Found | null | undefined => {
      const slot = cell && rows.at(cell.row);
      return cell && slot?.kind === 'issue' ? { cell, row: slot.row, wrapped } : cell === null ? null : undefined;
    };
    const from = selection.peek()?.anchor ?? beforeAll(searched, step);
    const next = nextCell(searched, from, step);
    return next === null ? found(nextCell(searched, beforeAll(searched, step), step), true) : found(next, false);
  }

  /** The next match among all rows, by the API. */
  private async far(step: Step, signal: AbortSignal): Promise<Found | null> {
    const { api, project, view, rows } = this.model;
    const sort = orderOf(view.peek());
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      await this.count(signal);
      const here = await this.here(signal);
      const runs = this.model.runs();
      const to = nextMatch(this.countsOfRuns(), here, step);
      const run = to && runs[to.run];
      if (!to || !run) return null;
      const columns = this.fields.peek().map(({ id }) => id);
      const query = { sort, filter: this.within(run), columns, offset: to.offset, limit: 1, ruling: NO_RULING };
      const [row] = (await fetchRows(api, project.id, query, signal)).rows;
      const place = row && (await fetchRowNumber(api, project.id, row.num, { sort, filter: run.filter }, signal)).row_number;
      const index = typeof place === 'number' ? rows.layout.indexOf(run.key, place) : undefined;
      if (row && index !== undefined) {
        const column = this.columnsOf(row).at(step > 0 ? 0 : -1) ?? 0;
        return { cell: { row: index, column }, row, wrapped: to.wrapped };
      }
      // Rows have moved meanwhile.
      this.isCounted = false;
    }
    return null;
  }

  private go(found: Found | null, step: Step): void {
    if (!found) {
      this.lookSoon();
      return;
    }
    const { cell, row, wrapped } = found;
    const id = this.model.columns.peek()[cell.column]?.field ?? '';
    this.moveTo(cell);
    this.expected = { num: row.num, cell };
    batch(() => {
      this.wrapped.value = wrapped ? step : null;
      const field = this.model.fields.find((one) => one.id === id);
      this.announcement.value = field ? words.find.at(field.name, formatValue(field, valueOf(row, id))) : '';
    });
    this.arrive();
  }

  /** The row of a match is loaded: if rows have moved since it was searched, follow it. */
  private arrive(): void {
    const { expected } = this;
    if (!expected) return;
    const { num, cell } = expected;
    const anchor = this.model.selection.peek()?.anchor;
    const slot = this.model.rows.at(cell.row);
    if (slot.kind === 'loading' && anchor?.row === cell.row) return;
    this.expected = null;
    const row = this.model.rows.indexOf(num);
    if (row === undefined || row === cell.row || anchor?.row !== cell.row) return;
    this.moveTo({ ...cell, row });
  }

  private moveTo(cell: Cell): void {
    this.isGoing = true;
    this.model.moveTo(cell);
    this.isGoing = false;
    this.reached.value = { ...cell };
  }

  /** The columns of a row whose cells have the text, from the left. */
  private columnsOf(row: Row): readonly number[] {
    return this.model.columns.peek().flatMap(({ field }, column) => (this.has(row, field) ? [column] : []));
  }

  /** The place of the issue in focus among the matches. Before all of them if nothing is in focus. */
  private async here(signal: AbortSignal): Promise<AmongMatches> {
    const { api, project, arranged, rows, selection } = this.model;
    const focus = selection.peek()?.anchor;
    if (!focus) return { run: 0, before: 0, matches: false };
    const place = rows.layout.at(focus.row);
    const [row] = await this.model.issuesIn(focus.row, focus.row);
    if (!row || place?.kind !== 'issue') return { run: runsBefore(rows.layout, focus.row), before: 0, matches: false };
    const { groups } = arranged.peek();
    const sort = orderOf(arranged.peek());
    const runs = this.model.runs();
    // A new issue is at the end until the user leaves it. Without groups the API knows its place.
    const at = groups.length ? runs.findIndex(({ key }) => key === place.run.key) : 0;
    const run = runs[at];
    if (!run) return { run: runs.length, before: 0, matches: false };
    const { before, row_number: own } = await fetchRowNumber(api, project.id, row.num, { sort, filter: this.within(run) }, signal);
    return { run: at, before, matches: own !== null };
  }

  /** The filter of the matches in a run. */
  private within({ filter }: Pick<Run, 'filter'>): Filter | null {
    const found = filterOfSought(this.sought.peek() ?? []);
    return found && narrowedBy(filter, found);
  }

  private async count(signal: AbortSignal): Promise<void> {
    if (this.isCounted) return;
    const { api, project, fields, arranged, filter } = this.model;
    const matching = this.within({ filter });
    const { groups } = arranged.peek();
    let counts: ReadonlyMap<string, number> = new Map();
    if (matching && groups.length) {
      const found = await countGroups(api, project.id, byOf(groups, fields, ownTimezone()), matching, signal);
      counts = new Map(found.map(({ values, count }) => [`/${keyOfGroup(values)}`, count]));
    } else if (matching) counts = new Map([['', (await fetchCounts(api, project.id, matching, signal)).matched]]);
    signal.throwIfAborted();
    this.counts = counts;
    this.isCounted = true;
    this.error.value = null;
    this.tally();
  }

  private tally(): void {
    if (!this.isCounted) return;
    const shown = this.countsOfRuns().reduce((sum, count) => sum + count, 0);
    batch(() => {
      this.total.value = shown;
      this.hidden.value = [...this.counts.values()].reduce((sum, count) => sum + count, 0) - shown;
    });
  }

  private countsOfRuns(): readonly number[] {
    return this.model.runs().map(({ key }) => this.counts.get(key) ?? 0);
  }
}
