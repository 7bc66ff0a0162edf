import { signal } from '@preact/signals';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Api } from '../src/api/client';
import type { Filter } from '../src/api/types';
import type { Row } from '../src/fields/values';
import { Finding } from '../src/project/finding';
import type { ProjectModel } from '../src/project/model';
import { Layout, type Piece, type Run } from '../src/rows/layout';
import { RowStore } from '../src/rows/store';
import { at, type Cell, type Selection } from '../src/selection/range';
import { matcherOf } from '../src/view/text-search';
import { DEFAULT_VIEW, type View } from '../src/view/view';
import { field } from './fields';

const INDEX = { lag_ms: 0, pending: 0 };
const FIELDS = [{ ...field('name'), search: true }, { ...field('kind', 'enum', ['a', 'b']) }, field('note')];
const isPier = matcherOf('pier', 'part');

interface Options {
  /** The texts of all issues in the order of the view. */
  readonly names: readonly string[];
  readonly view?: Partial<View>;
  readonly loaded?: number;
  /** The groups of the API, if the screen does not have the rows of all of them. */
  readonly groups?: readonly Run[];
  /** The status of the API's answers. */
  readonly status?: number;
}

/** The filter of a group, here of the issues from one number to another. */
const between = (from: number, to: number): Filter => ({ field: 'num', op: 'between', value: [from, to] });

/** A project whose API finds “pier”, with the first rows loaded. */
function projectOf({ names, view = {}, loaded = names.length, groups: counted, status = 200 }: Options, runs: readonly Run[] = [{ key: '', filter: null, count: names.length }]) {
  const asked: string[] = [];
  const issues = names.map((name, place): Row => ({ num: place + 1, version: 1, values: { num: place + 1, name, note: null } }));
  const inFilter = (filter: string, { num, values }: Row) => {
    const [, from = 1, to = Infinity] = /"value":\[(\d+),(\d+)\]/.exec(filter) ?? [];
    return num >= Number(from) && num <= Number(to) && (!filter.includes('contains') || isPier?.(values['name'] ?? null) === true);
  };
  const fetch: typeof globalThis.fetch = (address, request) => {
    const url = new URL(address as string, 'http://here');
    const place = url.pathname.split('/').at(-1) ?? '';
    asked.push(place);
    const body = JSON.parse((request?.body ?? 'null') as string) as { filter: unknown; offset?: number; count?: boolean } | null;
    const found = (filter: string) => issues.filter((issue) => inFilter(filter, issue));
    const answer = () => {
      if (place === 'row-number') {
        const num = Number(url.pathname.split('/').at(-2));
        const filter = url.searchParams.get('filter') ?? '';
        const before = found(filter).filter((issue) => issue.num < num).length;
        return { before, row_number: found(filter).some((issue) => issue.num === num) ? before : null, index: INDEX };
      }
      const filter = JSON.stringify(body?.filter);
      if (place === 'groups') {
        const groups = (counted ?? runs).map(({ key, filter: own }) => ({ values: [key.slice(1)], count: found(`${JSON.stringify(own)}contains`).length, filter: own }));
        return { groups: groups.filter(({ count }) => count > 0), next: null, changes_cursor: null, index: INDEX };
      }
      const all = found(filter);
      const rows = all.slice(body?.offset ?? 0, (body?.offset ?? 0) + 1).map(({ num, values }) => ({ num, version: 1, name: values['name'], fields: {} }));
      return { rows, next: null, matched: all.length, total: issues.length, changes_cursor: null, index: INDEX };
    };
    return Promise.resolve(new Response(JSON.stringify(status === 200 ? answer() : { title: 'Refused' }), { status, headers: { 'Content-Type': 'application/json' } }));
  };
  const rows = new RowStore(() => new Promise(() => undefined));
  const grouped = (view.groups ?? []).length > 0;
  rows.reset(
    new Layout(
      runs.flatMap((run): Piece[] => [
        ...(grouped ? [{ kind: 'group', group: { key: run.key.slice(1), depth: 0, field: 'kind', value: run.key.slice(1), values: [run.key.slice(1)], filter: run.filter, count: run.count, open: true, figures: [] } } as const] : []),
        { kind: 'run', run },
      ]),
    ),
  );
  const [first] = runs;
  if (first && loaded) rows.seed(first, issues.slice(0, loaded));
  const selection = signal<Selection | null>(null);
  const reported = signal({});
  const model = {
    api: new Api({ sign: () => Promise.resolve(), expired: () => undefined }, fetch),
    project: { id: 'p', issues: names.length },
    fields: FIELDS,
    view: signal({ ...DEFAULT_VIEW, ...view }),
    arranged: signal({ ...DEFAULT_VIEW, ...view }),
    columns: signal(FIELDS.map(({ id }) => ({ field: id, width: 100, frozen: false }))),
    rows,
    selection,
    filter: null,
    live: { reported },
    runs: () => runs,
    issuesIn: (row: number) => {
      const place = rows.layout.at(row);
      const held = place?.kind === 'issue' ? issues.filter((issue) => inFilter(JSON.stringify(place.run.filter), issue))[place.offset] : undefined;
      return Promise.resolve(held ? [held] : []);
    },
    moveTo: (cell: Cell) => (selection.value = at(cell)),
  };
  const finding = new Finding(model as unknown as ProjectModel);
  finding.open();
  finding.text.value = 'pier';
  return { finding, selection, asked, reported, rows };
}

const focus = (selection: { peek: () => Selection | null }) => selection.peek()?.anchor;

describe('finding a text', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const FIRST = { key: '/a', filter: between(1, 3), count: 3 };
  const SECOND = { key: '/b', filter: between(4, 200), count: 197 };
  const LAST = { key: '/c', filter: between(201, 405), count: 205 };
  const GROUPED = { groups: [{ field: 'kind', unit: null }] };
  const NAMES = ['arch', 'pier 2', 'arch', 'pier 4', ...new Array<string>(400).fill('arch'), 'pier 405'];

  it('goes through loaded rows without a request, and says where it is', async () => {
    const { finding, selection, asked } = projectOf({ names: ['arch', 'pier', 'arch', 'pier'] });
    await finding.next(1);
    expect(focus(selection)).toEqual({ row: 1, column: 0 });
    expect(asked).toEqual([]);
    await vi.advanceTimersByTimeAsync(300);
    expect([finding.place.value, finding.total.value]).toEqual([1, 2]);
    await finding.next(-1);
    expect(focus(selection)).toEqual({ row: 3, column: 0 });
    expect(finding.wrapped.value).toBe(-1);
    await finding.next(1);
    expect(focus(selection)).toEqual({ row: 1, column: 0 });
    expect(finding.wrapped.value).toBe(1);
    expect(finding.announcement.value).toBe('name: pier');
    finding.end();
  });

  it('asks the API for matches in rows that are not loaded', async () => {
    const { finding, selection, asked } = projectOf({ names: NAMES, loaded: 100 });
    await finding.next(1);
    await finding.next(1);
    expect(focus(selection)).toEqual({ row: 3, column: 0 });
    expect(asked).toEqual([]);
    await finding.next(1);
    expect(focus(selection)).toEqual({ row: 404, column: 0 });
    expect(asked).toEqual(['grid', 'row-number', 'grid', 'row-number']);
    expect(finding.reached.value).toEqual({ row: 404, column: 0 });
    await vi.advanceTimersByTimeAsync(300);
    expect([finding.place.value, finding.total.value]).toEqual([3, 3]);
    finding.end();
  });

  it('carries out steps one after the other, and none once the user goes elsewhere', async () => {
    const { finding, selection } = projectOf({ names: NAMES, loaded: 0 });
    void finding.next(1);
    void finding.next(1);
    expect(finding.busy.value).toBe(true);
    await vi.advanceTimersByTimeAsync(10);
    expect(focus(selection)).toEqual({ row: 3, column: 0 });
    void finding.next(1);
    selection.value = at({ row: 0, column: 1 });
    await vi.advanceTimersByTimeAsync(10);
    expect(focus(selection)).toEqual({ row: 0, column: 1 });
    expect(finding.busy.value).toBe(false);
    finding.end();
  });

  it('goes from group to group', async () => {
    const { finding, selection } = projectOf({ names: NAMES, loaded: 3, view: GROUPED }, [FIRST, SECOND, LAST]);
    await vi.advanceTimersByTimeAsync(300);
    expect([finding.total.value, finding.hidden.value]).toEqual([3, 0]);
    const rows: unknown[] = [];
    for (let step = 0; step < 3; step += 1) {
      await finding.next(1);
      rows.push(focus(selection)?.row);
    }
    // Three heads of groups are rows of the screen, too.
    expect(rows).toEqual([2, 5, 407]);
    await vi.advanceTimersByTimeAsync(300);
    expect(finding.place.value).toBe(3);
    await finding.next(-1);
    expect(focus(selection)?.row).toBe(5);
    finding.end();
  });

  it('counts the matches of groups that are closed', async () => {
    const { finding, selection } = projectOf({ names: NAMES, loaded: 3, view: GROUPED, groups: [FIRST, SECOND, LAST] }, [FIRST, LAST]);
    await finding.next(1);
    await finding.next(1);
    expect(focus(selection)?.row).toBe(209);
    expect([finding.total.value, finding.hidden.value]).toEqual([2, 1]);
    finding.end();
  });

  it('shows a refusal', async () => {
    const { finding, selection } = projectOf({ names: NAMES, loaded: 0, status: 422 });
    await finding.next(1);
    expect(finding.error.value).toMatchObject({ status: 422 });
    expect(finding.busy.value).toBe(false);
    expect(focus(selection)).toBeUndefined();
    finding.end();
  });

  it('counts again when issues have changed, and forgets what it knows of another text', async () => {
    const { finding, reported, asked } = projectOf({ names: ['pier'] });
    await vi.advanceTimersByTimeAsync(300);
    const before = asked.length;
    reported.value = {};
    await vi.advanceTimersByTimeAsync(1_000);
    expect(asked.length).toBeGreaterThan(before);
    expect(finding.total.value).toBe(1);
    finding.text.value = 'other';
    expect(finding.total.value).toBeNull();
    finding.close();
    expect(finding.sought.value).toBeNull();
    finding.end();
  });

  it('finds what cells show, but counts what the API finds', async () => {
    const { finding, rows, selection } = projectOf({ names: ['arch', 'pier', 'arch'] });
    const row: Row = { num: 1, version: 1, values: { name: 'Arch', kind: 'pier', note: null } };
    expect(['name', 'kind', 'note'].map((id) => finding.has(row, id))).toEqual([false, true, false]);
    rows.replace(3, (before) => ({ ...before, values: { ...before.values, kind: 'a pier' } }));
    await vi.advanceTimersByTimeAsync(600);
    expect([finding.total.value, finding.alsoShown.value]).toEqual([1, 1]);
    await finding.next(1);
    await finding.next(1);
    expect(focus(selection)).toEqual({ row: 2, column: 1 });
    await vi.advanceTimersByTimeAsync(300);
    expect(finding.place.value).toBeNull();
    finding.end();
  });

  it('goes to a loaded cell that shows the text if the API finds none', async () => {
    const { finding, rows, selection } = projectOf({ names: new Array<string>(300).fill('arch'), loaded: 3 });
    rows.replace(2, (before) => ({ ...before, values: { ...before.values, kind: 'pier' } }));
    selection.value = at({ row: 2, column: 0 });
    await finding.next(1);
    expect(focus(selection)).toEqual({ row: 1, column: 1 });
    finding.end();
  });
});
