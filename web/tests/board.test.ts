import { describe, expect, it } from 'vitest';
import { Cards } from '../src/board/arrange';
import { columnsOf, movedColumn, runOf, withColumn } from '../src/board/columns';
import { Lane } from '../src/board/lane';
import { carriedTo, stepped } from '../src/board/steps';
import { drawn, heightOf, offsetAt, revealing, scrolledTo, topOf } from '../src/board/viewport';
import type { Filter } from '../src/api/types';
import type { CellValue, Row } from '../src/fields/values';
import type { CountedGroup } from '../src/rows/groups';
import type { Held } from '../src/rows/store';
import { arranged, boardIn, canColumn, fittingBoard, proposedBoard, type Board } from '../src/view/board';
import { compareKeys, compareRows } from '../src/view/order';
import { DEFAULT_VIEW, fitting, type View } from '../src/view/view';
import { field } from './fields';

const STATE = { ...field('state', 'enum', ['open', 'doing', 'done']), required: true, custom: false };
const BOARD: Board = { by: 'state', columns: [], card: ['due'], aggregate: null };
const ANY: Filter = { field: 'num', op: 'gt', value: 0 };
const counted = (value: string | boolean | null, count: number): CountedGroup => ({ values: [value], count, filter: ANY, figures: [] });
const keys = (columns: readonly { readonly key: string }[]) => columns.map(({ key }) => key);

describe('the board of a view', () => {
  const fields = [field('num', 'number'), field('name'), STATE, field('due', 'date'), field('who', 'user'), field('ok', 'bool'), field('tags', 'multi_enum'), field('cost', 'number')];

  it('has columns by a field with one value that users change', () => {
    expect(fields.filter(canColumn).map(({ id }) => id)).toEqual(['state', 'who', 'ok']);
    expect(canColumn({ ...field('by', 'user'), editable: false })).toBe(false);
    expect(proposedBoard(fields)).toEqual({ by: 'state', columns: [], card: ['who', 'due'], aggregate: null });
  });

  it('is requested as groups, with its own columns', () => {
    const view: View = { ...DEFAULT_VIEW, kind: 'board', board: { ...BOARD, card: ['due', 'name'] }, groups: [{ field: 'who', unit: null }], closed: ['x'], footers: { cost: 'sum' } };
    expect(arranged(view)).toMatchObject({ groups: [{ field: 'state', unit: null }], closed: [], footers: {}, groupOrder: null });
    expect(arranged(view).columns?.map((column) => column.field)).toEqual(['name', 'due']);
    const grid: View = { ...view, kind: 'grid' };
    expect(arranged(grid)).toBe(grid);
  });

  it('loses what the project does not have, and is a grid without its field', () => {
    const board: Board = {
      by: 'state',
      columns: ['open', 'gone', null].map((value) => ({ value, hidden: false, limit: null })),
      card: ['due', 'gone'],
      aggregate: { field: 'due', function: 'sum' },
    };
    expect(fittingBoard(board, fields)).toEqual({ by: 'state', columns: [board.columns[0], board.columns[2]], card: ['due'], aggregate: null });
    expect(fittingBoard({ ...board, by: 'ok', columns: [{ value: 'x', hidden: true, limit: 1 }, { value: true, hidden: true, limit: 1 }] }, fields)?.columns).toEqual([{ value: true, hidden: true, limit: 1 }]);
    expect(fittingBoard({ ...board, by: 'who', columns: [{ value: 'ann', hidden: true, limit: 1 }] }, fields)?.columns).toHaveLength(1);
    for (const by of ['gone', 'tags', 'cost']) {
      expect(fitting({ ...DEFAULT_VIEW, kind: 'board', board: { ...board, by } }, fields)).toMatchObject({ kind: 'grid', board: null });
    }
  });

  it('is read from JSON, whatever that is', () => {
    for (const value of [null, 5, 'x', [], {}, { by: 5 }]) expect(boardIn(value)).toBeNull();
    const odd = { by: 'state', columns: [{ value: 5 }, { value: 'a', limit: 0 }, { value: true, limit: 2, hidden: true }, null], card: ['due', 3], aggregate: { field: 'cost', function: 'mode' } };
    expect(boardIn(odd)).toEqual({
      by: 'state',
      columns: [{ value: 'a', hidden: false, limit: null }, { value: true, hidden: true, limit: 2 }],
      card: ['due'],
      aggregate: null,
    });
    expect(boardIn({ by: 'state', columns: 5, card: {}, aggregate: { field: 'cost', function: 'sum' } })).toEqual({ by: 'state', columns: [], card: [], aggregate: { field: 'cost', function: 'sum' } });
  });
});

describe('the columns of a board', () => {
  it('come from the settings, the options and the counts, without a value last', () => {
    const groups = [counted('doing', 3), counted('old', 1)];
    const board: Board = { ...BOARD, columns: [{ value: 'done', hidden: false, limit: 2 }] };
    const columns = columnsOf(board, STATE, groups);
    expect(keys(columns)).toEqual(['done', 'open', 'doing', 'old']);
    expect(columns[0]).toMatchObject({ limit: 2, count: 0, filter: null });
    expect(columns[2]).toMatchObject({ limit: null, hidden: false, count: 3, filter: ANY });
    expect(keys(columnsOf(board, { ...STATE, required: false }, groups))).toEqual(['done', 'open', 'doing', 'old', '+']);
  });

  it('are no and yes of a box, and the users that issues have', () => {
    expect(keys(columnsOf({ ...BOARD, by: 'ok' }, field('ok', 'bool'), []))).toEqual(['false', 'true', '+']);
    const who = field('who', 'user');
    expect(keys(columnsOf({ ...BOARD, by: 'who' }, who, [counted('ann', 1), counted(null, 2)], ['bob', 'ann']))).toEqual(['ann', 'bob', '+']);
  });

  it('are all named once one of them has settings', () => {
    const columns = columnsOf(BOARD, STATE, [counted('open', 3)]);
    expect(withColumn(columns, 'doing', { limit: 4 })).toEqual([
      { value: 'open', hidden: false, limit: null },
      { value: 'doing', hidden: false, limit: 4 },
      { value: 'done', hidden: false, limit: null },
    ]);
    expect(movedColumn(columns, 'done', 'open').map(({ value }) => value)).toEqual(['done', 'open', 'doing']);
    expect(movedColumn(columns, 'open', null).map(({ value }) => value)).toEqual(['doing', 'done', 'open']);
    expect(movedColumn(columns, 'gone', null)).toHaveLength(3);
  });
});

describe('a lane', () => {
  const cards = (lane: Lane) => Array.from({ length: lane.length }, (_, place) => lane.at(place)).map((card) => (card?.kind === 'arrived' ? `#${card.num}` : card?.offset));

  it('is its run, without the cards that left and with the ones that arrived', () => {
    expect(cards(new Lane(3))).toEqual([0, 1, 2]);
    expect(cards(new Lane(5, [3, 0, 9]))).toEqual([1, 2, 4]);
    const arrivals = [{ num: 8, before: 2 }, { num: 7, before: 0 }, { num: 9, before: 9 }];
    expect(cards(new Lane(3, [1], arrivals))).toEqual(['#7', 0, '#8', 2, '#9']);
    expect(cards(new Lane(0, [], [{ num: 7, before: 4 }]))).toEqual(['#7']);
    expect(cards(new Lane(1, [0]))).toEqual([]);
  });

  it('finds the place of each card', () => {
    const lane = new Lane(100_000, [5, 6], [{ num: 7, before: 50 }]);
    for (let place = 0; place < 120; place += 1) {
      const card = lane.at(place);
      expect(card && lane.placeOf(card)).toBe(place);
    }
    expect(lane.length).toBe(99_999);
    expect(lane.placeOf({ kind: 'offset', offset: 5 })).toBeUndefined();
    expect(lane.placeOf({ kind: 'arrived', num: 5 })).toBeUndefined();
    expect(lane.at(-1)).toBeUndefined();
    expect(lane.at(99_999)).toBeUndefined();
    expect(lane.offsetFrom(4)).toBe(4);
    expect(lane.offsetFrom(5)).toBe(7);
    expect(lane.offsetFrom(48)).toBe(50);
    expect(lane.offsetFrom(99_998)).toBe(99_999);
    expect(new Lane(0).offsetFrom(3)).toBe(0);
  });
});

describe('the cards of a board', () => {
  const row = (num: number, state: CellValue, due = ''): Row => ({ num, version: 1, values: { num, state, ...(due && { due }) } });
  const held = (run: string, ...rows: readonly Row[]): Held[] => rows.map((one, offset) => ({ run: { key: run, filter: null, count: rows.length }, offset, row: one }));
  const sort = [{ field: 'due', direction: 'asc', nulls: 'last' }] as const;
  const fields = [STATE, field('due', 'date')];
  const arranging = { by: 'state', compare: (a: Row, b: Row) => compareRows(a, b, sort, fields), added: 'added' };
  const shown = (cards: Cards, key: string, count: number) => {
    const lane = cards.lane({ key, count, filter: ANY });
    return Array.from({ length: lane.length }, (_, place) => lane.at(place)).map((card) => (card?.kind === 'arrived' ? `#${card.num}` : card?.offset));
  };

  it('are in their place of a manual order by their keys, without one at the end', () => {
    const keyed = (num: number, key?: string): Row => ({ ...row(num, 'done'), ...(key !== undefined && { key }) });
    const cards = new Cards([...held(runOf('done'), keyed(3, 'B'), keyed(4, 'b')), ...held(runOf('open'), keyed(1, 'a'), keyed(2))], { ...arranging, compare: compareKeys });
    expect(shown(cards, 'done', 2)).toEqual([0, '#1', 1, '#2']);
    expect(compareKeys(keyed(1, 'a'), keyed(2, 'a'))).toBe(-1);
  });

  it('are in the column of their value, in their place of the sort', () => {
    const entries = [...held(runOf('open'), row(1, 'open', '2024-01-01'), row(2, 'done', '2024-02-15')), ...held(runOf('done'), row(3, 'done', '2024-02-01'), row(4, 'done', '2024-03-01'))];
    const cards = new Cards(entries, arranging);
    expect(shown(cards, 'open', 2)).toEqual([0]);
    expect(shown(cards, 'done', 2)).toEqual([0, '#2', 1]);
    expect(cards.moved).toEqual(['done']);
    expect(cards.find(2)).toEqual({ key: 'done', card: { kind: 'arrived', num: 2 } });
    expect(cards.find(4)).toEqual({ key: 'done', card: { kind: 'offset', offset: 1 } });
    expect(cards.arrived(2)?.num).toBe(2);
    expect(cards.arrived(1)).toBeUndefined();
  });

  it('are shown once, though two runs hold them', () => {
    const moved = row(2, 'done', '2024-02-15');
    const cards = new Cards([...held(runOf('done'), moved), ...held(runOf('open'), moved)], arranging);
    expect(shown(cards, 'open', 1)).toEqual([]);
    expect(shown(cards, 'done', 1)).toEqual([0]);
    const twice = new Cards([...held(runOf('open'), moved), ...held(runOf('doing'), moved)], arranging);
    expect(shown(twice, 'done', 0)).toEqual(['#2']);
  });

  it('are on top when they are new, and the draft is none of them', () => {
    const entries = [...held(runOf('open'), row(1, 'open')), ...held('added', row(8, 'open'), row(-1, 'open'), row(9, 'open'), row(7, null))];
    const cards = new Cards(entries, arranging);
    expect(shown(cards, 'open', 1)).toEqual(['#9', '#8', 0]);
    expect(cards.draft?.num).toBe(-1);
    expect(cards.columnOf(row(7, null))).toBe('+');
    expect(shown(cards, '+', 0)).toEqual(['#7']);
  });

  it('of a column that no request can name are not drawn', () => {
    expect(new Cards([], arranging).lane({ key: 'x', count: 5, filter: null }).length).toBe(0);
  });
});

describe('the viewport of a column', () => {
  const column = { count: 1_000, pitch: 100 };

  it('draws the cards in view, and a few more', () => {
    expect(drawn(column, 0, 500)).toEqual({ first: 0, last: 8, top: 0 });
    expect(drawn(column, 1_050, 500)).toEqual({ first: 7, last: 18, top: 10 });
    expect(drawn(column, 99_500, 500)).toEqual({ first: 992, last: 999, top: 995 });
    const empty = drawn({ count: 0, pitch: 100 }, 0, 500);
    expect(empty.last).toBeLessThan(empty.first);
    expect(heightOf(column)).toBe(100_000);
    expect(topOf(column, 12, 1_050, 500)).toBe(1_200);
  });

  it('brings a card into view with the least change', () => {
    expect(revealing(column, 3, 0, 500)).toBe(0);
    expect(revealing(column, 7, 0, 500)).toBe(300);
    expect(revealing(column, 2, 1_000, 500)).toBe(200);
    expect(revealing({ count: 2, pitch: 100 }, 1, 0, 500)).toBe(0);
  });

  it('reaches every card of a column that is taller than browsers draw', () => {
    const tall = { count: 1_000_000, pitch: 120 };
    const view = 700;
    expect(heightOf(tall)).toBe(15_000_000);
    expect(offsetAt(tall, heightOf(tall) - view, view)).toBe(120_000_000 - view);
    expect(offsetAt(tall, heightOf(tall), view)).toBe(120_000_000 - view);
    for (const place of [0, 1, 499_999, 999_999]) {
      const scrolled = revealing(tall, place, 7_000_000, view);
      const { first, last } = drawn(tall, scrolled, view);
      expect(first <= place && place <= last, `card ${place}`).toBe(true);
      const top = topOf(tall, place, scrolled, view);
      expect(top).toBeGreaterThanOrEqual(scrolled - 1);
      expect(top + tall.pitch).toBeLessThanOrEqual(scrolled + view + 1);
    }
    expect(offsetAt(tall, scrolledTo(tall, 60_000_000, view), view)).toBeCloseTo(60_000_000, 3);
  });
});

describe('the keys of a board', () => {
  const columns = [{ count: 10, top: 0 }, { count: 0, top: 0 }, { count: 100, top: 40 }];

  it.each([
    ['ArrowDown', { column: 0, place: 0 }, { column: 0, place: 1 }],
    ['ArrowUp', { column: 0, place: 0 }, null],
    ['ArrowDown', { column: 0, place: 9 }, null],
    ['PageDown', { column: 0, place: 7 }, { column: 0, place: 9 }],
    ['PageUp', { column: 2, place: 7 }, { column: 2, place: 3 }],
    ['Home', { column: 2, place: 7 }, { column: 2, place: 0 }],
    ['End', { column: 2, place: 7 }, { column: 2, place: 99 }],
    ['ArrowRight', { column: 0, place: 3 }, { column: 1, place: 0 }],
    ['ArrowRight', { column: 1, place: 0 }, { column: 2, place: 40 }],
    ['ArrowLeft', { column: 2, place: 42 }, { column: 1, place: 0 }],
    ['ArrowLeft', { column: 0, place: 3 }, null],
    ['ArrowRight', { column: 2, place: 3 }, null],
    ['x', { column: 2, place: 3 }, null],
  ])('%s leads from %j to %j', (key, from, to) => {
    expect(stepped(key, from, columns, 4)).toEqual(to);
  });

  it('carry a card over columns', () => {
    expect(['ArrowLeft', 'ArrowRight', 'Home', 'End', 'ArrowDown'].map((key) => carriedTo(key, 1, 4))).toEqual([0, 2, 0, 3, null]);
    expect([carriedTo('ArrowLeft', 0, 4), carriedTo('ArrowRight', 3, 4)]).toEqual([null, null]);
  });
});
