import { describe, expect, it } from 'vitest';
import { Checked } from '../src/project/checked';
import { editableOf } from '../src/project/actions';
import { valuesIn } from '../src/rows/groups';
import { filterOfNums, MAX_NAMED, targetOfNums } from '../src/rows/targets';
import { isWholeColumns, wholeColumn } from '../src/selection/range';
import { fits, inserted } from '../src/view/columns';
import { conditionsIn, MAX_CONDITIONS, withValue } from '../src/view/filters';
import type { GroupKey } from '../src/view/view';
import { field } from './fields';

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at + 1);
const key = (of: string, unit: GroupKey['unit'] = null): GroupKey => ({ field: of, unit });

describe('the target of issues by their numbers', () => {
  it('is one filter within the limits of the API, however many are checked', () => {
    expect(targetOfNums([3, 1])).toEqual({ filter: { field: 'num', op: 'in', value: [3, 1] }, rows: null, count: 2 });
    const filter = filterOfNums(numbers(450));
    const parts = 'or' in filter ? filter.or : [];
    expect(parts.map((part) => ('value' in part && Array.isArray(part.value) ? part.value.length : 0))).toEqual([200, 200, 50]);
    expect(conditionsIn(filterOfNums(numbers(MAX_NAMED)))).toBe(MAX_CONDITIONS);
    expect(MAX_NAMED).toBe(10_000);
  });
});

describe('checked issues', () => {
  it('are toggled one by one, and extended from the last one in its state', () => {
    const checked = new Checked();
    expect(checked.origin).toBeNull();
    checked.toggle(5);
    expect(checked.extend([5, 6, 7])).toBe(true);
    expect([...checked.nums.value]).toEqual([5, 6, 7]);
    checked.toggle(6);
    checked.extend([6, 7]);
    expect([...checked.nums.value]).toEqual([5]);
    expect(checked.origin).toBe(6);
    checked.clear();
    expect(checked.origin).toBeNull();
    expect(checked.nums.value.size).toBe(0);
  });

  it('are at most as many as one job can change', () => {
    const checked = new Checked();
    expect(checked.set(numbers(MAX_NAMED), true)).toBe(true);
    expect(checked.set([1, MAX_NAMED], true)).toBe(true);
    expect(checked.set([MAX_NAMED + 1], true)).toBe(false);
    expect(checked.nums.value.size).toBe(MAX_NAMED);
    expect(checked.set([1], false)).toBe(true);
    expect(checked.toggle(MAX_NAMED + 1)).toBe(true);
  });
});

describe('the values of a new issue in a group', () => {
  const FIELDS = [field('kind', 'enum'), field('due', 'date'), field('seen', 'datetime'), field('cost', 'number'), { ...field('created', 'datetime'), editable: false }];

  it('are those of the group and of the ones around it', () => {
    expect(valuesIn({ values: ['beam', null] }, [key('kind'), key('cost')], FIELDS)).toEqual([
      { field: 'kind', after: 'beam' },
      { field: 'cost', after: null },
    ]);
  });

  it('are the first day of a period', () => {
    expect(['2024', '2024-05', '2024-05-31'].map((value, at) => valuesIn({ values: [value] }, [key('due', (['year', 'month', 'day'] as const)[at])], FIELDS))).toEqual([
      [{ field: 'due', after: '2024-01-01' }],
      [{ field: 'due', after: '2024-05-01' }],
      [{ field: 'due', after: '2024-05-31' }],
    ]);
  });

  it('are unknown for ranges, instants, and fields that nobody writes', () => {
    expect(valuesIn({ values: [{ from: null, to: null }] }, [key('cost')], FIELDS)).toBeNull();
    expect(valuesIn({ values: ['2024-05'] }, [key('seen', 'month')], FIELDS)).toBeNull();
    expect(valuesIn({ values: ['2024'] }, [key('created', 'year')], FIELDS)).toBeNull();
    expect(valuesIn({ values: [null] }, [key('seen', 'month')], FIELDS)).toEqual([{ field: 'seen', after: null }]);
  });
});

describe('a duplicate', () => {
  it('has the values that users may write', () => {
    const fields = [field('cost', 'number'), { ...field('total', 'number'), editable: false }];
    expect(editableOf({ name: 'Beam', state: 'open', fields: { cost: 1, total: 2, gone: 3 } }, fields)).toEqual({ name: 'Beam', state: 'open', fields: { cost: 1 } });
  });
});

describe('a filter by the value of a cell', () => {
  it('is one more condition', () => {
    expect(withValue(null, 'note', 'wet')).toEqual({ field: 'note', op: 'eq', value: 'wet' });
    const both = withValue(withValue(null, 'note', null), 'tags', ['a', 'b']);
    expect(both).toEqual({ and: [{ field: 'note', op: 'is_empty' }, { field: 'tags', op: 'eq', value: ['a', 'b'] }] });
    expect(withValue({ or: [both, both] }, 'safe', true)).toEqual({ and: [{ or: [both, both] }, { field: 'safe', op: 'eq', value: true }] });
  });
});

describe('whole columns', () => {
  const size = { rows: 100, columns: 5 };

  it('are one, or all from the anchor of a selection to one', () => {
    expect(wholeColumn(3, size)).toEqual({ anchor: { row: 0, column: 3 }, reach: { row: 99, column: 3 } });
    expect(wholeColumn(1, size, wholeColumn(3, size))).toEqual({ anchor: { row: 0, column: 3 }, reach: { row: 99, column: 1 } });
    expect(isWholeColumns(wholeColumn(3, size), size)).toBe(true);
    expect(isWholeColumns({ anchor: { row: 0, column: 0 }, reach: { row: 98, column: 4 } }, size)).toBe(false);
    expect(isWholeColumns(wholeColumn(0, { rows: 1, columns: 1 }), { rows: 1, columns: 1 })).toBe(false);
  });
});

describe('columns', () => {
  const columns = [
    { field: 'name', width: 300, frozen: true },
    { field: 'cost', width: 100, frozen: false },
  ];

  it('take a new field beside one of them', () => {
    const due = { id: 'due', type: 'date' } as const;
    expect(inserted(columns, due, 'name', 'after').map(({ field: id, frozen }) => [id, frozen])).toEqual([['name', true], ['due', true], ['cost', false]]);
    expect(inserted(columns, due, 'cost', 'before').map(({ field: id, frozen }) => [id, frozen])).toEqual([['name', true], ['due', false], ['cost', false]]);
    expect(inserted(columns, due, 'hidden', 'after')).toBe(columns);
    expect(inserted(columns, { id: 'cost', type: 'number' }, 'name', 'after')).toBe(columns);
  });

  it('are frozen where half of the screen has room', () => {
    expect([599, 600].map((width) => fits(columns, 'name', width))).toEqual([false, true]);
    expect(fits(columns, 'cost', 5_000)).toBe(false);
  });
});
