import { describe, expect, it } from 'vitest';
import { allClosed, keyOfGroup, layoutOfGroups, toggled, type CountedGroup } from '../src/rows/groups';
import type { Layout } from '../src/rows/layout';
import type { CellValue } from '../src/fields/values';

const group = (count: number, ...values: CellValue[]): CountedGroup => ({
  values,
  count,
  filter: { field: 'state', op: 'eq', value: keyOfGroup(values) },
  figures: [],
});
const LEVELS = [
  [group(5, 'open'), group(2, null)],
  [group(3, 'open', 'High'), group(2, 'open', null), group(2, null, 'Low')],
];
const told = (layout: Layout) =>
  layout.pieces.map((piece) => (piece.kind === 'group' ? `${'-'.repeat(piece.group.depth)}${String(piece.group.value)} ${piece.group.count}` : `run ${piece.run.count}`));

describe('the layout of groups', () => {
  it('has the issues of the smallest groups below the heads', () => {
    const layout = layoutOfGroups(LEVELS, ['state', 'priority'], new Set());
    expect(told(layout)).toEqual(['open 5', '-High 3', 'run 3', '-null 2', 'run 2', 'null 2', '-Low 2', 'run 2']);
    expect(layout.length).toBe(5 + 3 + 2 + 2);
    expect(layout.at(2)).toMatchObject({ kind: 'issue', run: { filter: { value: 'open/High' } }, offset: 0 });
  });

  it('leaves out what is closed, at any level', () => {
    expect(told(layoutOfGroups(LEVELS, ['state', 'priority'], new Set(['open'])))).toEqual(['open 5', 'null 2', '-Low 2', 'run 2']);
    const inner = new Set([keyOfGroup(['open', null]), keyOfGroup([null])]);
    expect(told(layoutOfGroups(LEVELS, ['state', 'priority'], inner))).toEqual(['open 5', '-High 3', 'run 3', '-null 2', 'null 2']);
  });

  it('shows heads before their smaller groups are known, and heads alone of what no query can name', () => {
    expect(told(layoutOfGroups(LEVELS.slice(0, 1), ['state', 'priority'], new Set()))).toEqual(['open 5', 'null 2']);
    expect(told(layoutOfGroups([[{ ...group(4, 'gone'), filter: null }]], ['state'], new Set()))).toEqual(['gone 4']);
  });
});

describe('keys of groups', () => {
  it('tell groups apart, whatever their values hold', () => {
    const keys = [['a/b'], ['a', 'b'], [null, 'b'], ['a', null], ['%2F'], [true]].map(keyOfGroup);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('are closed and opened one by one, or all', () => {
    expect(toggled(toggled([], 'a'), 'b')).toEqual(['a', 'b']);
    expect(toggled(['a', 'b'], 'a')).toEqual(['b']);
    expect(told(layoutOfGroups(LEVELS, ['state', 'priority'], new Set(allClosed(LEVELS))))).toEqual(['open 5', 'null 2']);
  });
});
