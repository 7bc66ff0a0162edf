/** A view as the query part of an address, and back. Parts of an address that no view may have are left out. */
import { formatJson, parseJson } from '../api/json';
import type { Filter, SortKey } from '../api/types';
import { boardIn } from './board';
import { MAX_WIDTH, MIN_WIDTH } from './columns';
import { canOrder, summaryFunction } from './footers';
import { MAX_RULES, ruleIn, ruleText } from './rules';
import { DEFAULT_VIEW, isWidthOfRanges, MAX_GROUPS, MAX_SORT_KEYS, ROW_HEIGHTS, type Column, type GroupKey, type GroupOrder, type View } from './view';

const MAX_SEARCH = 200;

/** A manual order in the place of the keys of a sort. */
const MANUAL = /^manual\.(v\d{1,8})$/;

/** The address of a view, such as `sort=-due,name.first&columns=name:240!,due:120&height=56`. Defaults are left out. */
export function toAddress(view: View): string {
  const parts: [string, string][] = [];
  const put = (name: string, text: string) => {
    if (text) parts.push([name, text]);
  };
  put('sort', view.manual === null ? view.sort.map(sortText).join(',') : `manual.${view.manual}`);
  put('filter', view.filter ? formatJson(view.filter) : '');
  put('search', view.search);
  put('group', view.groups.map(groupText).join(','));
  put('grouporder', view.groupOrder ? orderText(view.groupOrder) : '');
  put('closed', view.closed.map(encodeURIComponent).join(','));
  put('columns', view.columns?.map(columnText).join(',') ?? '');
  put('footers', Object.entries(view.footers).map((pair) => pair.join(':')).join(','));
  put('color', view.color ?? '');
  for (const rule of view.rules) put('rule', ruleText(rule));
  put('height', view.height === DEFAULT_VIEW.height ? '' : String(view.height));
  put('kind', view.kind === DEFAULT_VIEW.kind ? '' : view.kind);
  // In one order of its members, so that equal boards have equal addresses.
  put('board', view.board ? formatJson(boardIn(view.board)) : '');
  // The characters of this grammar may be in a query unescaped, so the address stays legible.
  return new URLSearchParams(parts).toString().replaceAll('%2C', ',').replaceAll('%3A', ':').replaceAll('%21', '!');
}

export function fromAddress(query: string): View {
  const parameters = new URLSearchParams(query);
  const list = (name: string) => parameters.get(name)?.split(',').filter(Boolean) ?? [];
  const board = boardIn(valueIn(parameters.get('board') ?? ''));
  const height = ROW_HEIGHTS.find((known) => String(known) === parameters.get('height'));
  return {
    sort: list('sort').flatMap(sortKey).slice(0, MAX_SORT_KEYS),
    manual: MANUAL.exec(parameters.get('sort') ?? '')?.[1] ?? null,
    filter: filterIn(parameters.get('filter')),
    search: parameters.get('search')?.slice(0, MAX_SEARCH) ?? '',
    groups: list('group').flatMap(groupKey).slice(0, MAX_GROUPS),
    groupOrder: groupOrder(parameters.get('grouporder') ?? ''),
    closed: list('closed').map(decoded),
    columns: parameters.has('columns') ? list('columns').flatMap(column) : null,
    footers: Object.fromEntries(list('footers').flatMap(footer)),
    color: parameters.get('color'),
    rules: parameters.getAll('rule').flatMap((text) => ruleIn(text, valueIn)).slice(0, MAX_RULES),
    height: height ?? DEFAULT_VIEW.height,
    kind: board && parameters.get('kind') === 'board' ? 'board' : 'grid',
    board,
  };
}

function sortText({ field, direction, nulls }: SortKey): string {
  return (direction === 'desc' ? '-' : '') + field + (nulls === 'first' ? '.first' : '');
}

function sortKey(text: string): SortKey[] {
  const [, descending, field, first] = /^(-?)([a-z0-9_]{1,64})(\.first)?$/.exec(text) ?? [];
  return field ? [{ field, direction: descending ? 'desc' : 'asc', nulls: first ? 'first' : 'last' }] : [];
}

/** A key such as `cost`, `due.month`, `seen.day.Asia/Tokyo`, `cost.w50` by width, or `cost.b0_100_1000` by bounds. */
function groupText({ field, unit, timezone, width, bins }: GroupKey): string {
  if (width !== undefined) return `${field}.w${width}`;
  if (bins) return `${field}.b${bins.join('_')}`;
  return [field, ...(unit ? [unit, ...(timezone === undefined ? [] : [timezone])] : [])].join('.');
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d{1,4})?$/i;

function groupKey(text: string): GroupKey[] {
  const [, ranged, kind, digits = ''] = /^([a-z0-9_]{1,64})\.([wb])([-+0-9.eE_]{1,8000})$/.exec(text) ?? [];
  if (ranged) return rangesOf(ranged, kind === 'w', digits.split('_'));
  const [, field, unit, timezone] = /^([a-z0-9_]{1,64})(?:\.(day|month|year)(?:\.([A-Za-z0-9_+\-/]{1,64}))?)?$/.exec(text) ?? [];
  if (!field) return [];
  return [{ field, unit: (unit as GroupKey['unit'] | undefined) ?? null, ...(timezone !== undefined && { timezone }) }];
}

function rangesOf(field: string, isWidth: boolean, numbers: readonly string[]): GroupKey[] {
  const [width = ''] = numbers;
  if (!numbers.every((one) => NUMBER.test(one))) return [];
  if (!isWidth) return [{ field, unit: null, bins: numbers }];
  return numbers.length === 1 && isWidthOfRanges(width) ? [{ field, unit: null, width }] : [];
}

/** The order of groups as text, such as `-sum.cost`, or `count` for their number of issues. */
export function orderText({ field, fn, direction }: GroupOrder): string {
  return (direction === 'desc' ? '-' : '') + fn + (field === null ? '' : `.${field}`);
}

export function groupOrder(text: string): GroupOrder | null {
  const [, descending, name = '', field] = /^(-?)([a-z]{1,16})(?:\.([a-z0-9_]{1,64}))?$/.exec(text) ?? [];
  const fn = summaryFunction(name);
  if (!fn || !canOrder(fn) || (field === undefined && fn !== 'count')) return null;
  return { field: field ?? null, fn, direction: descending ? 'desc' : 'asc' };
}

function columnText({ field, width, frozen }: Column): string {
  return `${field}:${width}${frozen ? '!' : ''}`;
}

function column(text: string): Column[] {
  const [, field, width, frozen] = /^([a-z0-9_]{1,64}):(\d{1,4})(!?)$/.exec(text) ?? [];
  if (!field) return [];
  return [{ field, width: Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, Number(width))), frozen: frozen === '!' }];
}

function footer(text: string): [string, string][] {
  const [, field, fn] = /^([a-z0-9_]{1,64}):([a-z]{1,16})$/.exec(text) ?? [];
  return field && fn ? [[field, fn]] : [];
}

/** The filter, unchecked: the API checks it, and its refusal says what is wrong. */
function filterIn(text: string | null): Filter | null {
  const filter = text === null ? null : valueIn(text);
  return typeof filter === 'object' ? (filter as Filter | null) : null;
}

/** The value that a text has as JSON; undefined if it is none. */
function valueIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
