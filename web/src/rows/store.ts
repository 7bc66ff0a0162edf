/**
 * The rows of the grid. The page requests them as they come into view, keeps a limited number, and cancels requests
 * that are no longer needed. The grid reads its rows only from here.
 */
import { isAbort } from '../api/problem';
import type { Row } from '../fields/values';
import { Layout, type Group, type Part, type Run } from './layout';
import type { Moved, Moving } from './moves';
import { transferred, type Arriving } from './transfer';

export type Slot =
  | { readonly kind: 'issue'; readonly row: Row }
  | { readonly kind: 'group'; readonly group: Group }
  | { readonly kind: 'loading' }
  /** The index lags: the row was deleted, or has moved. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Asks for `limit` issues of a run from `offset` on. */
export type FetchRows = (run: Run, offset: number, limit: number, signal: AbortSignal) => Promise<readonly Row[]>;

export interface StoreOptions {
  readonly pageSize?: number;
  /** Pages that are kept when they are out of view. */
  readonly maxPages?: number;
  /** Milliseconds between two rounds of requests while the view keeps moving. */
  readonly pause?: number;
  /** Whether rows keep their places now. An answer that would move shown ones is not taken, and read again later. */
  readonly areHeld?: () => boolean;
}

interface Page {
  readonly run: Run;
  readonly number: number;
  rows: readonly Row[] | null;
  error: unknown;
  /** Whether the rows are shown although newer ones are needed. */
  stale: boolean;
  request: AbortController | null;
}

/** From and to, both inclusive, in rows of the screen. */
export interface Range {
  readonly first: number;
  readonly last: number;
}

/** Issues of a run that are in view: offsets, both included, which may be beyond its end. */
export interface Window {
  /** The key of the run; the layout may not have it yet. */
  readonly run: string;
  readonly first: number;
  readonly last: number;
}

/** A row that is held. */
export interface Held {
  readonly run: Run;
  readonly offset: number;
  readonly row: Row;
}

export class RowStore {
  private layoutNow = new Layout([]);
  /** The least recently used first. */
  private readonly pages = new Map<string, Page>();
  private readonly places = new Map<number, { readonly page: Page; readonly position: number }>();
  /** The rows in view: those of a range, or, with several windows, the ones that these contain. */
  private shown: Range | readonly Window[] = { first: 0, last: -1 };
  private timer: ReturnType<typeof setTimeout> | null = null;
  private moved = false;
  private readonly listeners = new Set<() => void>();
  private readonly moveListeners = new Set<(now: Moved, moving: Moving) => void>();
  private renewing = new AbortController();
  private readonly pageSize: number;
  private readonly maxPages: number;
  private readonly pause: number;
  private readonly areHeld: () => boolean;

  constructor(
    private readonly fetchRows: FetchRows,
    { pageSize = 100, maxPages = 60, pause = 50, areHeld = () => false }: StoreOptions = {},
  ) {
    this.pageSize = pageSize;
    this.maxPages = maxPages;
    this.pause = pause;
    this.areHeld = areHeld;
  }

  get layout(): Layout {
    return this.layoutNow;
  }

  /** Call a listener when rows are added, changed or removed. Returns how to stop that. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /**
   * Call a listener, before a change is drawn, when issues in view are in other rows of the screen. Returns how to stop
   * that.
   */
  onMove(listener: (now: Moved, moving: Moving) => void): () => void {
    this.moveListeners.add(listener);
    return () => this.moveListeners.delete(listener);
  }

  /** The content of a row of the screen. */
  at(index: number): Slot {
    const place = this.layoutNow.at(index);
    if (!place) return { kind: 'gone' };
    if (place.kind === 'group') return place;
    return this.inRun(place.run.key, place.offset);
  }

  /** The row of the screen of an issue that is held; undefined when it is not. */
  indexOf(num: number): number | undefined {
    const place = this.places.get(num);
    return place && this.layoutNow.indexOf(place.page.run.key, place.page.number * this.pageSize + place.position);
  }

  /** The run of an issue that is held, and its offset there. */
  placeOf(num: number): { readonly run: Run; readonly offset: number } | undefined {
    const place = this.places.get(num);
    return place && { run: place.page.run, offset: place.page.number * this.pageSize + place.position };
  }

  /** The numbers of all issues that are held. */
  loaded(): readonly number[] {
    return [...this.places.keys()];
  }

  held(num: number): Row | undefined {
    const place = this.places.get(num);
    return place?.page.rows?.[place.position];
  }

  /** All rows that are held in the runs of the layout, in no order. A row may be held in several runs, after it has moved. */
  *entries(): Iterable<Held> {
    const present = new Set(this.layoutNow.pieces.flatMap((piece) => (piece.kind === 'run' ? [piece.run.key] : [])));
    for (const { run, number, rows } of this.pages.values()) {
      if (!present.has(run.key)) continue;
      for (const [position, row] of (rows ?? []).entries()) yield { run, offset: number * this.pageSize + position, row };
    }
  }

  /** The content of a place in a run. */
  inRun(run: string, offset: number): Slot {
    const page = this.pages.get(keyOf(run, Math.floor(offset / this.pageSize)));
    if (!page?.rows) return page?.error === undefined ? { kind: 'loading' } : { kind: 'failed', error: page.error };
    const row = page.rows[offset % this.pageSize];
    return row ? { kind: 'issue', row } : { kind: 'gone' };
  }

  /** The issues in view, without the ones that are being read again. */
  inView(): readonly Row[] {
    const found: Row[] = [];
    for (const { run, first, last } of this.partsInView()) {
      for (let offset = first; offset <= last; offset += 1) {
        const page = this.pages.get(keyOf(run.key, Math.floor(offset / this.pageSize)));
        const row = page?.stale ? undefined : page?.rows?.[offset % this.pageSize];
        if (row) found.push(row);
      }
    }
    return found;
  }

  /** Show another order, another filter, other groups. None of the present rows is kept. */
  reset(layout: Layout): void {
    this.renewing.abort();
    for (const page of this.pages.values()) page.request?.abort();
    this.pages.clear();
    this.places.clear();
    this.relayout(layout);
  }

  /** The same query with other counts: the rows that are held stay. */
  relayout(layout: Layout): void {
    this.moving(() => (this.layoutNow = layout));
    this.ask();
    this.changed();
  }

  /** Rows to begin with, so that the first page needs no second request. */
  seed(run: Run, rows: readonly Row[]): void {
    for (let number = 0; number * this.pageSize < rows.length; number += 1) {
      const page = this.page(run, number);
      page.request?.abort();
      this.fill(page, rows.slice(number * this.pageSize, (number + 1) * this.pageSize));
    }
    this.changed();
  }

  /**
   * Set the rows that are in view: of the screen, or of several runs beside each other. Requests the missing ones, and
   * cancels requests for rows that left the view.
   */
  show(shown: Range | readonly Window[]): void {
    this.shown = shown;
    if (this.timer !== null) {
      this.moved = true;
      return;
    }
    this.ask();
    // A scroll bar that is dragged passes a page with each frame. Rows are requested only where it rests.
    this.timer = setTimeout(() => {
      this.timer = null;
      if (!this.moved) return;
      this.moved = false;
      this.show(this.shown);
    }, this.pause);
  }

  /** Read the rows in view again. The present rows stay until then, and the others are forgotten. */
  refresh(): void {
    this.renewing.abort();
    const wanted = new Set(this.wanted().map(([run, number]) => keyOf(run.key, number)));
    for (const [key, page] of this.pages) {
      page.request?.abort();
      page.request = null;
      if (wanted.has(key)) page.stale = true;
      else this.drop(key, page);
    }
    this.ask();
  }

  /** Read the rows in view again that are shown although newer ones are needed, unless that is under way. */
  readStale(): void {
    this.ask();
  }

  /**
   * Read the rows in view again, and show all of them in one step, if `may` still allows it then: with `next`, in
   * another layout. Returns whether it did.
   */
  async renew(may: () => boolean, fetchRows: FetchRows = this.fetchRows, next?: Layout): Promise<boolean> {
    this.renewing.abort();
    const { signal } = (this.renewing = new AbortController());
    const wanted = this.wanted(next);
    const read = await Promise.all(
      wanted.map(async ([run, number]) => [run, number, await fetchRows(run, number * this.pageSize, this.pageSize, signal)] as const),
      // The rows on the screen stay; the next scroll reports the error.
    ).catch(() => null);
    if (!read || signal.aborted || !may()) return false;
    const keys = new Set(wanted.map(([run, number]) => keyOf(run.key, number)));
    this.moving(() => {
      if (next) this.layoutNow = next;
      const inView = new Set(this.wanted().map(([run, number]) => keyOf(run.key, number)));
      for (const [key, page] of this.pages) {
        if (keys.has(key)) continue;
        if (inView.has(key)) page.stale = true;
        else this.drop(key, page);
      }
      for (const [run, number, rows] of read) {
        const page = this.page(run, number);
        page.request?.abort();
        this.fill(page, rows);
      }
    });
    this.ask();
    this.changed();
    return true;
  }

  /**
   * Show held issues, together, before the row at an offset of a run, in a layout with the counts after that. A page of
   * which rows are not known keeps the ones before them until it is read again.
   */
  transfer(nums: readonly number[], to: { readonly run: string; readonly before: number }, next: Layout): void {
    const rows = nums.flatMap((num) => this.held(num) ?? []);
    const gone = new Set(nums);
    const runs = new Set([to.run, ...nums.flatMap((num) => this.places.get(num)?.page.run.key ?? [])]);
    this.moving(() => {
      this.layoutNow = next;
      for (const key of runs) this.replaceRun(key, gone, key === to.run ? { before: to.before, rows } : null);
    }, true);
    this.ask();
    this.changed();
  }

  private replaceRun(key: string, gone: ReadonlySet<number>, arriving: Arriving | null): void {
    const pages = [...this.pages].filter(([, { run }]) => run.key === key);
    const held = new Map(pages.flatMap(([, { number, rows }]) => (rows ?? []).map((row, position) => [number * this.pageSize + position, row] as const)));
    const after = transferred(held, gone, arriving);
    for (const [name, page] of pages) this.drop(name, page);
    const run = this.layoutNow.run(key);
    if (!run) return;
    const numbers = new Set([...pages.map(([, { number }]) => number), Math.floor((arriving?.before ?? 0) / this.pageSize)]);
    for (const number of numbers) {
      const rows: Row[] = [];
      for (let row = after.get(number * this.pageSize); row && rows.length < this.pageSize; row = after.get(number * this.pageSize + rows.length)) rows.push(row);
      if (rows.length) this.fill(this.page(run, number), rows);
    }
  }

  /** Replace the held state of an issue. A new issue may be held twice: at the end, and in its place. */
  replace(num: number, change: (row: Row) => Row): void {
    if (!this.places.has(num)) return;
    for (const page of this.pages.values()) {
      if (page.rows?.some((row) => row.num === num)) page.rows = page.rows.map((row) => (row.num === num ? change(row) : row));
    }
    this.changed();
  }

  /** Stop all requests: the rows are no longer shown. */
  close(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.renewing.abort();
    for (const page of this.pages.values()) page.request?.abort();
    this.listeners.clear();
    this.moveListeners.clear();
  }

  private ask(): void {
    const wanted = this.wanted();
    const keys = new Set(wanted.map(([run, number]) => keyOf(run.key, number)));
    for (const [key, page] of this.pages) {
      if (!page.request || keys.has(key)) continue;
      page.request.abort();
      page.request = null;
      if (!page.rows) this.drop(key, page);
    }
    for (const [run, number] of wanted) {
      const page = this.page(run, number);
      if (!page.request && (page.stale || (!page.rows && page.error === undefined))) void this.load(page);
    }
    this.evict(keys);
  }

  private async load(page: Page): Promise<void> {
    const request = new AbortController();
    page.request = request;
    try {
      const rows = await this.fetchRows(page.run, page.number * this.pageSize, this.pageSize, request.signal);
      if (page.request !== request) return;
      if (page.rows && this.areHeld() && !haveSameIssues(page.rows, rows)) {
        page.request = null;
        return;
      }
      this.fill(page, rows);
    } catch (error) {
      if (page.request !== request || isAbort(error)) return;
      page.error = error;
      page.stale = false;
    }
    page.request = null;
    this.changed();
  }

  private fill(page: Page, rows: readonly Row[]): void {
    this.forget(page);
    page.rows = rows;
    page.error = undefined;
    page.stale = false;
    page.request = null;
    rows.forEach((row, position) => this.places.set(row.num, { page, position }));
  }

  /** The pages of the rows in view, and those just before and after them. */
  private wanted(layout = this.layoutNow): readonly (readonly [Run, number])[] {
    return this.partsInView(layout, Math.floor(this.pageSize / 2)).flatMap(({ run, first, last }) => {
      const from = Math.floor(first / this.pageSize);
      const count = Math.floor(last / this.pageSize) - from + 1;
      return Array.from({ length: count }, (_, place) => [run, from + place] as const);
    });
  }

  /** The parts of runs in view, and of a range also `near` rows before and after it. Windows include their own margins. */
  private partsInView(layout = this.layoutNow, near = 0): readonly Part[] {
    if ('first' in this.shown) return layout.parts(this.shown.first - near, this.shown.last + near);
    return this.shown.flatMap((window): Part[] => {
      const run = layout.run(window.run);
      const last = Math.min(window.last, (run?.count ?? 0) - 1);
      return run && window.first <= last ? [{ run, first: Math.max(0, window.first), last }] : [];
    });
  }

  private page(run: Run, number: number): Page {
    const key = keyOf(run.key, number);
    const page = this.pages.get(key) ?? { run, number, rows: null, error: undefined, stale: false, request: null };
    this.pages.delete(key);
    this.pages.set(key, page);
    return page;
  }

  private evict(keep: ReadonlySet<string>): void {
    for (const [key, page] of this.pages) {
      if (this.pages.size <= this.maxPages) return;
      if (!keep.has(key)) this.drop(key, page);
    }
  }

  private drop(key: string, page: Page): void {
    // Rows that come later would be held by a page that is not shown.
    page.request?.abort();
    page.request = null;
    this.forget(page);
    this.pages.delete(key);
  }

  private forget(page: Page): void {
    for (const { num } of page.rows ?? []) if (this.places.get(num)?.page === page) this.places.delete(num);
  }

  /** Make a change, and report the new rows of the issues in view, if any moved. */
  private moving(change: () => void, isOwn = false): void {
    const before = new Map<number, number>();
    const { first, last } = 'first' in this.shown ? this.shown : { first: 0, last: -1 };
    for (let index = Math.max(0, first); this.moveListeners.size && index <= last; index += 1) {
      const slot = this.at(index);
      if (slot.kind === 'issue') before.set(index, slot.row.num);
    }
    change();
    const now: Moved = (index) => {
      const num = before.get(index);
      return num === undefined ? undefined : this.indexOf(num);
    };
    if ([...before.keys()].some((index) => (now(index) ?? index) !== index)) for (const listener of this.moveListeners) listener(now, { isOwn });
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }
}

function haveSameIssues(some: readonly Row[], others: readonly Row[]): boolean {
  return some.length === others.length && some.every(({ num }, place) => num === others[place]?.num);
}

function keyOf(run: string, number: number): string {
  return `${run}/${number}`;
}
