/**
 * Shows changes by others in the open project: values at once, everything else at most once a second.
 *
 * Everything else is places, counts, groups and footers.
 */
import { signal } from '@preact/signals';
import { ApiError } from '../api/problem';
import type { HeldRows } from '../edits/editor';
import type { Row } from '../fields/values';
import { Throttle } from '../live/throttle';
import { effectOf, isReset, Recent, type Dependence, type FeedEvent } from '../live/events';
import { pauseAfter, type Listener } from '../live/feed';
import { Incoming } from '../live/incoming';
import type { Part } from '../live/reading';
import type { PresentUser } from '../live/socket';
import { words } from '../words';

/** What became of rows, groups and counts that were read again: an edit or another read may have outdated them. */
export type Renewal = 'shown' | 'outdated' | 'failed';

/** The parts of the project that show changes. */
export interface Shown {
  /** The id of the user of this page. */
  readonly user: string;
  readonly holders: readonly HeldRows[];
  /** Whether the user is editing a cell, or its value is on the way. */
  isBusy(num: number, field: string): boolean;
  /** Someone has changed a cell that may be being edited. */
  changed(num: number, field: string, by: string | null): void;
  /** Whether a change was made here. */
  isOwn(change: string | null): boolean;
  dependence(): Dependence;
  /** Changes may have been left out: read everything except the rows again. */
  missed(): void;
  /** Whether rows may come, go and move: not below an editor, nor below a row that stays until the user leaves it. */
  mayMove(): boolean;
  /** Read rows, groups and counts again, without moving the user's view. */
  renew(): Promise<Renewal>;
  /** Read the figures again, of groups and below the columns. */
  summarize(): Promise<void>;
  /** Whether the definitions of the project have changed. */
  isRedefined(): Promise<boolean>;
}

/** The issues that may have changed, and their versions. */
export interface Reported {
  /** The least version that an issue has; 0 if it may have changed without a report; null if it has not changed. */
  readonly versionOf: (num: number) => number | null;
  /** Whether issues may have entered or left the trash. */
  readonly trash: boolean;
}

/** Some of the changes were not reported: any issue may have changed. */
const anything = (): Reported => ({ versionOf: () => 0, trash: true });

const SECOND = 1000;
/** Milliseconds between two announcements of how many rows have changed. */
const ANNOUNCE_AGAIN = 5 * SECOND;

export class Live implements Listener {
  /** For screen readers. */
  readonly announcement = signal('');
  /** Whether the project has other fields or states than the page shows. */
  readonly redefined = signal(false);
  /** The last changes. */
  readonly reported = signal<Reported>({ versionOf: () => null, trash: false });
  /** Others who have the project open, and the issues that they look at. */
  readonly others = signal<readonly PresentUser[]>([]);
  private readonly recent = new Recent();
  private readonly incoming: readonly Incoming[];
  private readonly outdated = { definitions: false, places: false, figures: false };
  /** Whether places are outdated by more than the changes that the feed delivers: by an own write, or another day. */
  private isDue = false;
  private readonly changed = new Set<number>();
  private readonly refreshing = new Throttle(SECOND, () => void this.refresh());
  private readonly summing = new Throttle(SECOND, () => void this.shown.summarize());
  private readonly announcing = new Throttle(ANNOUNCE_AGAIN, () => this.announce());
  private running = false;
  private isStopped = false;
  private hasRead = false;
  /** Reads that failed, one after the other, and when the next is tried. */
  private failures = 0;
  private again: ReturnType<typeof setTimeout> | null = null;

  constructor(private readonly shown: Shown) {
    this.incoming = shown.holders.map((rows) => new Incoming(rows, (num, field) => shown.isBusy(num, field)));
  }

  /** Rows have been requested. */
  reads(): void {
    this.hasRead = true;
    this.isDue = false;
  }

  began(again: boolean): void {
    if (again) {
      this.outdated.definitions = true;
      this.missed();
    }
    if (again || this.hasRead) this.rereadPlaces();
  }

  people(people: readonly PresentUser[]): void {
    this.others.value = people.filter(({ user }) => user !== this.shown.user);
  }

  rereadPlaces(): void {
    this.outdated.places = this.isDue = true;
    this.refreshing.ask();
  }

  delivered(events: readonly FeedEvent[]): void {
    const known = new Set(events.filter((event) => !isReset(event) && this.recent.knows(event)));
    const hasGap = this.take(events.filter((event) => isReset(event) || this.recent.add(event)), ['places', 'figures'], known);
    if (hasGap) {
      this.shown.missed();
      this.reread('places');
    }
    if (events.some(isReset)) this.missed();
    else {
      const versions = new Map(events.flatMap((event) => (isReset(event) ? [] : [[event.num, event.version] as const])));
      const trash = events.some(({ kind }) => kind === 'delete' || kind === 'restore');
      this.reported.value = { versionOf: (num) => versions.get(num) ?? null, trash };
    }
  }

  /** Changes may have been left out, of any issue. */
  missed(): void {
    this.reported.value = anything();
    this.shown.missed();
  }

  /**
   * The feed continues from the last read. It contains all earlier changes, and the others are delivered after it. An own
   * write of meanwhile may be after the read, and has no effect when it is delivered.
   */
  continued(): void {
    this.outdated.places = this.isDue;
    this.outdated.figures = false;
    this.recent.continued();
  }

  /**
   * A part that was read lacks these changes; the others may have them. A row may lack changes before these: the feed
   * delivers them first, and then these again.
   */
  addMissing(part: Part, events: readonly FeedEvent[]): void {
    this.take(events, [part], new Set(events.filter((event) => !isReset(event) && !this.recent.note(event))));
  }

  /** The definitions may have changed, and any row: compare the definitions, and read everything again. */
  recheck(): void {
    this.outdated.definitions = true;
    this.refreshing.ask();
  }

  /** A part must be read again. */
  reread(part: Part): void {
    this.outdated[part] = true;
    this.refreshing.ask();
  }

  /** An own edit has altered the figures. They are read again even while rows may not move, such as the edited one. */
  rereadFigures(): void {
    this.summing.ask();
  }

  /** Show changes. For those in `known`, do not notify the user again. Returns whether a row lacks a change before them. */
  private take(events: readonly FeedEvent[], parts: readonly Part[], known: ReadonlySet<FeedEvent>): boolean {
    const dependence = this.shown.dependence();
    let hasGap = false;
    for (const event of events) {
      if (isReset(event)) {
        this.outdated.definitions = true;
        continue;
      }
      hasGap ||= event.kind === 'update' && this.incoming.some((rows) => rows.isEarly(event));
      const isShown = event.kind === 'update' && this.incoming.map((rows) => rows.take(event)).includes(true);
      if (this.shown.isOwn(event.change)) continue;
      const effect = effectOf(event, dependence);
      for (const part of parts) this.outdated[part] ||= effect[part];
      if (known.has(event)) continue;
      for (const field of Object.keys(event.fields)) this.shown.changed(event.num, field, event.by);
      if (isShown || effect.places) this.changed.add(event.num);
    }
    if (this.changed.size) this.announcing.ask();
    if (this.outdated.definitions || this.outdated.places || this.outdated.figures) this.refreshing.ask();
    return hasGap;
  }

  /** Rows as they were read, with the changes delivered meanwhile. */
  caughtUp(rows: readonly Row[]): readonly Row[] {
    return this.recent.caughtUp(rows);
  }

  /** An edit is over, or a row that stayed has moved: show the changes that waited for it. */
  release(): void {
    for (const rows of this.incoming) rows.release();
    if (this.outdated.places && this.shown.mayMove()) this.refreshing.ask();
  }

  stop(): void {
    this.isStopped = true;
    this.refreshing.stop();
    this.summing.stop();
    this.announcing.stop();
    if (this.again !== null) clearTimeout(this.again);
  }

  private async refresh(): Promise<void> {
    if (this.running || this.isStopped) return;
    this.running = true;
    let renewal: Renewal | null = null;
    let comparison: 'done' | 'failed' | null = null;
    try {
      if (this.outdated.definitions) comparison = await this.compareDefinitions();
      if (this.outdated.places && this.shown.mayMove()) {
        this.outdated.places = this.outdated.figures = this.isDue = false;
        renewal = await this.shown.renew();
        if (renewal !== 'shown') this.outdated.places = this.isDue = true;
      } else if (this.outdated.figures && !this.outdated.places) {
        this.outdated.figures = false;
        await this.shown.summarize();
      }
    } finally {
      this.running = false;
    }
    const hasFailed = comparison === 'failed' || renewal === 'failed';
    if (comparison !== null || renewal !== null) this.tryAgain(!hasFailed);
    // After a failure, the next change reads again, or the next chance for rows to move, or the timer.
    if (hasFailed) return;
    if (renewal === 'outdated' && this.shown.mayMove()) void this.refresh();
    else if (this.outdated.definitions || (this.outdated.places ? this.shown.mayMove() : this.outdated.figures)) this.refreshing.ask();
  }

  /** Unless there is such a change or chance, a read that failed is tried again after a pause, which grows. */
  private tryAgain(done: boolean): void {
    if (this.again !== null) clearTimeout(this.again);
    this.again = null;
    this.failures = done ? 0 : this.failures + 1;
    if (done || this.isStopped || !(this.outdated.definitions || this.shown.mayMove())) return;
    this.again = setTimeout(() => this.refreshing.ask(), SECOND * pauseAfter(this.failures, Math.random()));
  }

  private async compareDefinitions(): Promise<'done' | 'failed'> {
    this.outdated.definitions = false;
    try {
      if (await this.shown.isRedefined()) this.redefined.value = true;
      else this.outdated.places = true;
    } catch (error) {
      // The project is deleted: the next read reports that.
      if (error instanceof ApiError && error.status === 404) this.redefined.value = true;
      else {
        this.outdated.definitions = true;
        return 'failed';
      }
    }
    return 'done';
  }

  private announce(): void {
    this.announcement.value = words.live.changed(this.changed.size);
    this.changed.clear();
  }
}
