/**
 * The groups of the present view. They are requested level by level and page by page, first their counts and then their
 * figures.
 */
import { signal } from '@preact/signals';
import type { Api } from '../api/client';
import { isAbort } from '../api/problem';
import { exactOf } from '../api/json';
import type { Filter } from '../api/types';
import type { CountedGroup, Levels } from '../rows/groups';
import type { Field } from '../fields/fields';
import type { SummaryFunction } from '../view/footers';
import type { Part } from '../live/reading';
import type { GroupKey, GroupOrder } from '../view/view';
import { unfollowed, type Requested } from './following';
import type { By } from './queries';

const PAGE = 500;

interface Aggregate {
  readonly field: string;
  readonly function: SummaryFunction;
}

export interface GroupsQuery {
  readonly by: readonly By[];
  readonly filter: Filter | null;
  /** Without the one that orders the groups. */
  readonly aggregates: readonly Aggregate[];
  readonly order: GroupOrder | null;
}

/** Groups that were read again. */
interface Renewed {
  readonly levels: Levels;
  /** Whether no others have been requested again, loaded or counted meanwhile. */
  readonly areLatest: () => boolean;
  readonly show: () => void;
}

interface GroupPage {
  readonly groups: readonly CountedGroup[];
  readonly next: string | null;
}

/** All pages of a level, and why they lack figures; null if they do not. */
interface Pages extends GroupPage {
  readonly figuresError: unknown;
}

/** The keys as the API takes them. Ranges are for numbers. Days of a point in time are in the view's time zone, or else in the reader's own. */
export function byOf(keys: readonly GroupKey[], fields: readonly Field[], own: string): readonly By[] {
  return keys.map(({ field, unit, timezone = own, width, bins }) => {
    const type = fields.find(({ id }) => id === field)?.type;
    if (type === 'number' && width !== undefined) return { field, width: exactOf(width) };
    if (type === 'number' && bins) return { field, bins: bins.map(exactOf) };
    if (unit === null || (type !== 'date' && type !== 'datetime')) return field;
    return type === 'datetime' ? { field, unit, timezone } : { field, unit };
  });
}

export class Groups {
  readonly levels = signal<Levels>([]);
  /** Whether the API has more of them than are loaded. */
  readonly more = signal(false);
  /** Why there are none, or why their figures are missing. */
  readonly error = signal<unknown>(null);
  readonly figuresError = signal<unknown>(null);
  private query: GroupsQuery = { by: [], filter: null, aggregates: [], order: null };
  private cursors: (string | null)[] = [];
  /** How often the loaded groups were requested again, or counted by a change. */
  private turn = 0;
  /** How often others were shown in place of the loaded groups. */
  private edition = 0;
  private request = new AbortController();

  constructor(
    private readonly api: Api,
    private readonly project: string,
    private readonly requested: Requested = unfollowed,
  ) {}

  /** Request the first groups of a query, and forget the groups of the one before. */
  start(query: GroupsQuery): void {
    this.stop();
    this.request = new AbortController();
    this.query = query;
    this.levels.value = query.by.map(() => []);
    this.more.value = false;
    this.error.value = null;
    this.figuresError.value = null;
    this.cursors = [];
    query.by.forEach((_, level) => void this.load(level, null, this.request.signal));
  }

  /** Request the next groups, of each level that has more. */
  next(): void {
    this.cursors.forEach((cursor, level) => {
      if (cursor !== null) void this.load(level, cursor, this.request.signal);
    });
  }

  /**
   * Request the loaded groups again. They stay until all of their successors have come. Returns false if these must be
   * requested once more: they could not be read, `may` does not allow them, or more groups were loaded meanwhile.
   */
  async renew(may: (levels: Levels) => boolean = () => true): Promise<boolean> {
    const reading = this.read();
    const isLast = this.lasting();
    const renewed = await reading;
    // Otherwise a later request shows the groups.
    if (!isLast()) return true;
    if (!renewed?.areLatest() || !may(renewed.levels)) return false;
    renewed.show();
    return true;
  }

  /** Show the loaded groups with the counts that a change gives them. Groups that were requested before it lack these. */
  recount(levels: Levels): void {
    this.turn += 1;
    this.edition += 1;
    this.levels.value = levels;
  }

  /** The loaded groups as they are now, to be shown later; null if they could not be read. */
  async read(): Promise<Renewed | null> {
    const { signal } = this.request;
    this.turn += 1;
    const isLast = this.lasting();
    const before = this.levels.peek();
    try {
      const pages = await Promise.all(before.map(({ length }, level) => this.pagesFor(level, length, signal)));
      const levels = pages.map(({ groups }) => groups);
      const isSameLength = () => this.levels.peek().every(({ length }, level) => length === before[level]?.length);
      const areLatest = () => isLast() && isSameLength();
      const show = () => {
        this.edition += 1;
        this.cursors = pages.map(({ next }) => next);
        this.more.value = this.cursors.some((one) => one !== null);
        this.levels.value = levels;
        this.figuresError.value = pages.find(({ figuresError }) => figuresError !== null)?.figuresError ?? null;
      };
      return { levels, areLatest, show };
    } catch {
      // The groups on the screen stay.
      return null;
    }
  }

  stop(): void {
    this.request.abort();
  }

  /** A function that returns whether the groups have been neither requested again nor counted since now. */
  private lasting(): () => boolean {
    const { signal } = this.request;
    const { turn } = this;
    return () => !signal.aborted && turn === this.turn;
  }

  /** At least `count` groups of a level, in as many pages as they need. Without figures if the API refuses these. */
  private async pagesFor(level: number, count: number, signal: AbortSignal): Promise<Pages> {
    const groups: CountedGroup[] = [];
    let figuresError: unknown = null;
    let next: string | null = null;
    do {
      const at: string | null = next;
      const part = this.query.aggregates.length ? 'figures' : 'places';
      const page: GroupPage = await this.page(level, at, part, signal).catch((error: unknown) => {
        if (part === 'places') throw error;
        figuresError = error;
        return this.page(level, at, 'places', signal);
      });
      groups.push(...page.groups);
      next = page.next;
    } while (next !== null && groups.length < count);
    return { groups, next, figuresError };
  }

  private async load(level: number, cursor: string | null, signal: AbortSignal): Promise<void> {
    const at = this.levels.peek()[level]?.length ?? 0;
    const { edition } = this;
    let count = 0;
    try {
      const { groups, next } = await this.page(level, cursor, 'places', signal);
      if (edition !== this.edition) {
        await this.loadAfter(level, cursor, signal);
        return;
      }
      count = groups.length;
      this.cursors[level] = next;
      this.put(level, at, groups);
      this.more.value = this.cursors.some((one) => typeof one === 'string');
    } catch (error) {
      if (!isAbort(error)) this.error.value = error;
      return;
    }
    if (!this.query.aggregates.length) return;
    try {
      const groups = await this.withFigures(level, cursor, count, signal);
      // Groups that were read again meanwhile have theirs.
      if (edition === this.edition) this.put(level, at, groups);
    } catch (error) {
      if (!isAbort(error) && edition === this.edition) this.figuresError.value = error;
    }
  }

  /** So many groups after a cursor. With figures a page may hold fewer. */
  private async withFigures(level: number, cursor: string | null, count: number, signal: AbortSignal): Promise<readonly CountedGroup[]> {
    const groups: CountedGroup[] = [];
    let next = cursor;
    do {
      const page: GroupPage = await this.page(level, next, 'figures', signal);
      groups.push(...page.groups);
      next = page.next;
    } while (next !== null && groups.length < count);
    return groups.slice(0, count);
  }

  /** Groups that were shown meanwhile are newer than the page at this cursor: load the page after them instead. */
  private async loadAfter(level: number, cursor: string | null, signal: AbortSignal): Promise<void> {
    const next = this.cursors[level];
    // They include the first page, unless they were only counted.
    const isMissing = next === undefined || (cursor !== null && next !== null);
    if (isMissing) await this.load(level, next ?? null, signal);
  }

  private put(level: number, at: number, groups: readonly CountedGroup[]): void {
    this.levels.value = this.levels.peek().map((present, place) =>
      place === level ? [...present.slice(0, at), ...groups, ...present.slice(at + groups.length)] : present,
    );
  }

  /** A page of groups. The figure that orders them comes with their places. */
  private async page(level: number, cursor: string | null, part: Part, signal: AbortSignal): Promise<GroupPage> {
    const by = this.query.by.slice(0, level + 1);
    const { order } = this.query;
    const ranked: readonly Aggregate[] = order && order.field !== null ? [{ field: order.field, function: order.fn }] : [];
    const aggregates = part === 'figures' ? [...ranked, ...this.query.aggregates] : ranked;
    const answered = this.requested(part);
    const { body } = await this.api.call('POST', '/v1/projects/{project}/groups', {
      path: { project: this.project },
      body: {
        by,
        filter: this.query.filter,
        aggregates: [...aggregates],
        limit: PAGE,
        ...(order && { order: { by: order.field === null ? ('count' as const) : 0, direction: order.direction } }),
        ...(cursor === null ? {} : { cursor }),
      },
      signal,
    });
    const groups = body.groups.map((group): CountedGroup => ({
      values: group.values,
      count: group.count,
      filter: group.filter,
      figures: (group.aggregates ?? []).map((one) => ({ field: one.field, fn: one.function, value: one.value })),
    }));
    answered(body.changes_cursor);
    return { groups, next: body.next };
  }
}
