import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { inputsOf, isOutdated, withComputed, withInputs } from '../src/fields/computed';
import { rowOf, type Row } from '../src/fields/values';
import { Computing } from '../src/project/computing';
import { refusalOf } from '../src/project/read-only';
import { computed, field } from './fields';

const COST = { ...field('cost', 'number'), name: 'Cost' };
const QTY = { ...field('qty', 'number'), name: 'Unit count' };
const UPDATED = { ...field('updated', 'datetime'), custom: false, editable: false };
const TOTAL = computed('total', ['cost', 'qty']);
const LARGE = computed('large', ['total'], 'bool');
const AGE = computed('age', ['updated']);
const FIELDS = [COST, QTY, TOTAL, LARGE, AGE, UPDATED];
const INPUTS = inputsOf(FIELDS);

const answered = (num: number, version: number, cost: number, qty: number): Row =>
  rowOf({ num, version, name: `Part ${num}`, fields: { cost, qty, total: cost * qty } });

const edited = (row: Row, values: Row['values'], version = row.version): Row => ({ ...row, version, values: { ...row.values, ...values } });

describe('a computed field', () => {
  it('depends on all that it reads, also through others', () => {
    expect([...(INPUTS.get('large') ?? [])].sort()).toEqual(['cost', 'qty']);
    expect([...withInputs(['large', 'name'], FIELDS)].sort()).toEqual(['cost', 'large', 'name', 'qty', 'total']);
    expect(INPUTS.has('cost')).toBe(false);
  });

  it('is outdated while its row has other inputs than at its computation', () => {
    const row = answered(1, 3, 2, 5);
    expect(['total', 'large', 'age', 'cost'].map((id) => isOutdated(row, id, INPUTS))).toEqual([false, false, false, false]);
    const later = edited(row, { cost: 3 });
    expect(['total', 'large', 'age'].map((id) => isOutdated(later, id, INPUTS))).toEqual([true, true, false]);
    // A refused edit is taken back.
    expect(isOutdated(edited(later, { cost: 2 }), 'total', INPUTS)).toBe(false);
    expect(isOutdated(edited(row, { qty: null }), 'total', INPUTS)).toBe(true);
  });

  it('is outdated by any change if it reads the time of the last change', () => {
    expect(isOutdated(edited(answered(1, 3, 2, 5), {}, 4), 'age', INPUTS)).toBe(true);
  });

  it('takes values of a later read, with the reason why there is none, and keeps edits', () => {
    const row = edited(answered(1, 3, 2, 5), { qty: 0 }, 4);
    const read: Row = { ...answered(1, 4, 2, 0), unavailable: { total: 'division-by-zero' } };
    const now = withComputed(row, read, ['total']);
    expect(now).toMatchObject({ version: 4, values: { qty: 0, total: 0 }, unavailable: { total: 'division-by-zero' } });
    expect(isOutdated(now, 'total', INPUTS)).toBe(false);
    expect(withComputed(row, answered(1, 3, 2, 5), ['total'])).toBe(row);
  });
});

describe('computed values in view', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('are read again after changes of their inputs, but not while an own edit has no answer', async () => {
    const rows = new Map([1, 2].map((num) => [num, answered(num, 1, num, 10)]));
    const asked: (readonly number[])[] = [];
    const writing = new Set<number>();
    const listeners: (() => void)[] = [];
    const replace = (num: number, change: (row: Row) => Row) => {
      const row = rows.get(num);
      if (row) rows.set(num, change(row));
      for (const listener of listeners) listener();
    };
    const onChange = (listener: () => void) => {
      listeners.push(listener);
      return () => undefined;
    };
    const computing = new Computing({ inView: () => [...rows.values()], replace, onChange }, FIELDS, {
      columns: () => ['name', 'total'],
      isWriting: (num) => writing.has(num),
      read: (nums, columns) => {
        asked.push(nums);
        expect([...columns].sort()).toEqual(['cost', 'name', 'qty', 'total']);
        return Promise.resolve(nums.map((num) => answered(num, 2, num, 20)));
      },
    });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(asked).toEqual([]);
    writing.add(2);
    for (const num of [1, 2]) replace(num, (row) => edited(row, { qty: 20 }, 2));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(asked).toEqual([[1]]);
    expect([1, 2].map((num) => rows.get(num)?.values['total'])).toEqual([20, 20]);
    expect([...rows.values()].map((row) => computing.isOutdated(row, 'total'))).toEqual([false, true]);
    writing.clear();
    computing.look();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(asked).toEqual([[1], [2]]);
    expect(rows.get(2)?.values['total']).toBe(40);
    computing.stop();
  });
});

describe('an edit of computed fields', () => {
  it('is refused with the fields to edit instead', () => {
    expect(refusalOf([LARGE], FIELDS)).toBe('A formula computes large. Edit the fields that it reads instead: Cost, Unit count.');
    expect(refusalOf([COST, TOTAL, LARGE], FIELDS)).toBe('Formulas compute total, large. Edit the fields that they read instead: Cost, Unit count.');
    expect(refusalOf([AGE], FIELDS)).toBe('A formula computes age. Nobody can edit it. An admin can change the formula.');
    expect(refusalOf([COST, UPDATED], FIELDS)).toBe('');
  });
});
