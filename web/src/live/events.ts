/** Changes of issues as the feed delivers them, and their effect on rows and on the parts of a view. Pure. */
import type { ChangeEvent, ResetEvent } from '../api/types';
import type { CellEdit } from '../edits/change';
import { touches } from '../fields/computed';
import type { CellValue, Row } from '../fields/values';

export type FeedEvent = ChangeEvent | ResetEvent;

export function isReset(event: FeedEvent): event is ResetEvent {
  return event.kind === 'reset';
}

/** Whether a change has only placed its issue in a manual order: its values are the same, and so is their instant. */
export function isPlacement({ kind, fields }: ChangeEvent): boolean {
  return kind === 'update' && !Object.keys(fields).length;
}

/** The row with the values that a change has given it; itself where it has them already. */
export function applied(row: Row, event: ChangeEvent, only: (field: string) => boolean = () => true): Row {
  if (event.num !== row.num || event.version <= row.version) return row;
  if (isPlacement(event)) return { ...row, version: event.version };
  const news = Object.entries(event.fields).filter(([field]) => only(field));
  const values = Object.fromEntries(news.map(([field, edit]): [string, CellValue] => [field, edit.new]));
  return { ...row, version: event.version, values: { ...row.values, ...values, updated: event.at, updated_by: event.by } };
}

/** The fields on which a view depends: for its rows and their order, or for the figures below and between them. */
export interface Dependence {
  readonly places: ReadonlySet<string>;
  readonly figures: ReadonlySet<string>;
  /** The fields whose changes move whole groups: those of the figure that orders them. */
  readonly ranks?: ReadonlySet<string>;
  /** Whether the rows are in a manual order. */
  readonly manual?: boolean;
}

/** The parts of a view that a change may have altered. */
export function effectOf(event: ChangeEvent, { places, figures, manual = false }: Dependence): { readonly places: boolean; readonly figures: boolean } {
  if (isPlacement(event)) return { places: manual, figures: false };
  const fields = [...Object.keys(event.fields), 'updated', 'updated_by'];
  const moves = event.kind !== 'update' || fields.some((field) => places.has(field));
  return { places: moves, figures: moves || fields.some((field) => figures.has(field)) };
}

/**
 * The parts of a view that own edits have altered, besides the rows that show them. Such a row stays where it is until the
 * user leaves it. `isShown`: whether an issue is on the screen.
 */
export function effectOfEdits(
  edits: readonly CellEdit[],
  { places, figures, ranks = new Set() }: Dependence,
  isShown: (num: number) => boolean,
): { readonly places: boolean; readonly figures: boolean } {
  const isRanked = edits.some(({ field }) => touches(field, ranks));
  return {
    places: isRanked || edits.some(({ num, field }) => touches(field, places) && !isShown(num)),
    figures: isRanked || edits.some(({ field }) => touches(field, figures)),
  };
}

/** The last changes that were delivered, for rows that were read before them but arrive later. */
export class Recent {
  private readonly events = new Map<string, ChangeEvent>();
  /** The changes delivered since the feed continued from another place. */
  private delivered = new Set<string>();

  constructor(private readonly most = 1000) {}

  /** Record a delivered change. Returns false if it was delivered before, since the feed last changed its place. */
  add(event: ChangeEvent): boolean {
    const isNew = !this.delivered.has(event.id);
    this.delivered.add(event.id);
    this.note(event);
    return isNew;
  }

  /** Record a change that was found otherwise; false if it is known. */
  note(event: ChangeEvent): boolean {
    if (this.events.has(event.id)) return false;
    this.events.set(event.id, event);
    for (const oldest of this.events.keys()) {
      if (this.events.size <= this.most) break;
      this.events.delete(oldest);
      this.delivered.delete(oldest);
    }
    return true;
  }

  knows({ id }: ChangeEvent): boolean {
    return this.events.has(id);
  }

  /** The feed continues from another place: its changes count, even if they were delivered before. */
  continued(): void {
    this.delivered = new Set();
  }

  /** Rows as they were read, with the changes delivered since. A change is left out while one before it is missing. */
  caughtUp(rows: readonly Row[]): readonly Row[] {
    const nums = new Set(rows.map(({ num }) => num));
    const found = new Map<number, ChangeEvent[]>();
    for (const event of this.events.values()) if (nums.has(event.num)) found.set(event.num, [...(found.get(event.num) ?? []), event]);
    if (!found.size) return rows;
    const inOrder = (num: number) => (found.get(num) ?? []).sort((a, b) => a.version - b.version);
    return rows.map((row) => inOrder(row.num).reduce((now, event) => (event.version === now.version + 1 ? applied(now, event) : now), row));
  }
}
