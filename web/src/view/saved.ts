/**
 * Saved views: their look, and the view that an address names. Pure.
 *
 * `view=v3` is the view as it was saved; `view=v3&edited=1&…` is a user's edited version, in full. An address without a
 * view is a view of its own, and an empty one is the project's default. The search words and the closed groups belong
 * only to the address.
 */
import { exactOf } from '../api/json';
import type { SavedView, ViewCreate } from '../api/types';
import type { Field } from '../fields/fields';
import { fromAddress, toAddress } from './address';
import { MAX_WIDTH, MIN_WIDTH } from './columns';
import { withSearch } from './text-search';
import { DEFAULT_VIEW, orderOf, ROW_HEIGHTS, type RowHeight, type View } from './view';

/** Names all issues without changes in an address, if the project's default is another view. */
export const ALL = 'all';

/** The parts of a view that are saved. */
export type Look = Required<Pick<ViewCreate, 'query' | 'columns' | 'groups' | 'group_order' | 'footers' | 'color_by' | 'rules' | 'row_height' | 'kind' | 'board'>>;

export interface Opened {
  readonly view: View;
  /** The saved view that the address names, or on which it is based. */
  readonly base: SavedView | null;
  readonly changed: boolean;
  /** Whether the address names a view that does not exist. */
  readonly missing: boolean;
}

export function viewOf(saved: SavedView): View {
  return {
    sort: [...saved.query.sort].filter((key) => 'field' in key),
    manual: [...saved.query.sort].some((key) => 'manual' in key) ? saved.id : null,
    filter: saved.query.filter ?? null,
    search: '',
    groups: saved.groups.map(({ field, unit, timezone, bins, width }) => ({
      field,
      unit,
      ...(timezone !== null && { timezone }),
      ...(bins !== null && { bins: bins.map(String) }),
      ...(width !== null && { width: String(width) }),
    })),
    groupOrder: saved.group_order && { field: saved.group_order.field, fn: saved.group_order.function, direction: saved.group_order.direction },
    closed: [],
    columns: saved.columns?.length
      ? saved.columns.map((column) => ({ ...column, width: Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, column.width)) }))
      : null,
    footers: Object.fromEntries(saved.footers.map((footer) => [footer.field, footer.function])),
    color: saved.color_by,
    rules: saved.rules.map(({ filter, color, field }) => ({ filter, color, field })),
    height: nearestHeight(saved.row_height),
    kind: saved.kind,
    board: saved.board,
  };
}

/**
 * The saved parts of a view. The search words become a condition, whose form depends on the number of `issues` of the
 * project, and on its fields.
 */
export function lookOf(view: View, issues: number, fields: readonly Field[]): Look {
  return {
    query: { sort: [...orderOf(view)], filter: withSearch(view.filter, view.search, issues, fields) },
    columns: view.columns ? [...view.columns] : null,
    groups: view.groups.map(({ field, unit, timezone = null, bins, width }) => ({
      field,
      unit,
      timezone,
      bins: bins?.map(exactOf) ?? null,
      width: width === undefined ? null : exactOf(width),
    })),
    group_order: view.groupOrder && { field: view.groupOrder.field, function: view.groupOrder.fn, direction: view.groupOrder.direction },
    footers: Object.entries(view.footers).map(([field, fn]) => ({ field, function: fn as Look['footers'][number]['function'] })),
    color_by: view.color,
    rules: view.rules.map(({ filter, color, field }) => ({ filter, color, field })),
    row_height: view.height,
    kind: view.kind,
    board: view.board && { ...view.board, columns: [...view.board.columns], card: [...view.board.card] },
  };
}

export function openedAt(address: string, saved: readonly SavedView[]): Opened {
  const given = withKnownOrder(fromAddress(address), saved);
  const parameters = new URLSearchParams(address);
  const named = parameters.get('view');
  const base = (named === null ? (isPlain(given) ? defaultOf(saved) : null) : saved.find(({ id }) => id === named)) ?? null;
  if (base === null) return { view: given, base, changed: false, missing: named !== null && named !== ALL };
  const before = viewOf(base);
  if (named !== null && parameters.has('edited')) return { view: given, base, changed: !alike(given, before), missing: false };
  return { view: { ...before, search: given.search, closed: given.closed }, base, changed: false, missing: false };
}

/** The address of a view that is based on a saved one, or on none. */
export function addressOf(view: View, base: SavedView | null, saved: readonly SavedView[]): string {
  const { search, closed } = view;
  const passing = toAddress({ ...DEFAULT_VIEW, search, closed });
  if (base) return alike(view, viewOf(base)) ? joined(`view=${base.id}`, passing) : joined(`view=${base.id}&edited=1`, toAddress(view));
  return isPlain(view) && defaultOf(saved) ? joined(`view=${ALL}`, passing) : toAddress(view);
}

/** The link to a saved view, with these groups closed; null: to all issues without changes. */
export function linkTo(base: SavedView | null, saved: readonly SavedView[], closed: View['closed'] = []): string {
  return addressOf({ ...(base ? viewOf(base) : DEFAULT_VIEW), closed }, base, saved);
}

/** The views with one in its present state, in its place among those of its kind: everyone's come first, then one's own. */
export function withView(saved: readonly SavedView[], view: SavedView): readonly SavedView[] {
  const others = withoutView(saved, view.id);
  const kind = others.filter((one) => isOwn(one) === isOwn(view));
  const placed = inPlaces([...kind.slice(0, view.place), view, ...kind.slice(view.place)]);
  const rest = others.filter((one) => isOwn(one) !== isOwn(view));
  return isOwn(view) ? [...rest, ...placed] : [...placed, ...rest];
}

/** The views without one. */
export function withoutView(saved: readonly SavedView[], gone: string): readonly SavedView[] {
  const left = saved.filter(({ id }) => id !== gone);
  return [...inPlaces(left.filter((one) => !isOwn(one))), ...inPlaces(left.filter(isOwn))];
}

/** The place of a view if it moves before another of its kind, or behind all of them (null). */
export function placeBefore(saved: readonly SavedView[], view: SavedView, before: string | null): number {
  const others = saved.filter((one) => isOwn(one) === isOwn(view) && one.id !== view.id);
  const at = others.findIndex(({ id }) => id === before);
  return at < 0 ? others.length : at;
}

/** Whether only its owner sees it. */
export function isOwn({ visibility }: SavedView): boolean {
  return visibility === 'private';
}

/** The view in the order of the numbers if its manual order does not exist any more. */
function withKnownOrder(view: View, saved: readonly SavedView[]): View {
  const isKnown = saved.some(({ id, manual_order: state }) => id === view.manual && state !== null);
  return view.manual === null || isKnown ? view : { ...view, manual: null };
}

function inPlaces(views: readonly SavedView[]): readonly SavedView[] {
  return views.map((view, place) => (view.place === place ? view : { ...view, place }));
}

function defaultOf(saved: readonly SavedView[]): SavedView | undefined {
  return saved.find(({ visibility }) => visibility === 'default');
}

function isPlain(view: View): boolean {
  return alike(view, DEFAULT_VIEW);
}

function alike(a: View, b: View): boolean {
  return textOf(a) === textOf(b);
}

function textOf(view: View): string {
  return toAddress({ ...view, search: '', closed: [] });
}

function joined(...parts: readonly string[]): string {
  return parts.filter(Boolean).join('&');
}

function nearestHeight(height: number): RowHeight {
  return ROW_HEIGHTS.reduce((best, one) => (Math.abs(one - height) < Math.abs(best - height) ? one : best));
}
