import { describe, expect, it } from 'vitest';
import type { FieldType, Filter } from '../src/api/types';
import {
  added,
  conditionsIn,
  depthOf,
  fieldsIn,
  fromFilter,
  newCondition,
  operandOf,
  OPERATORS,
  operatorsOf,
  toFilter,
  withField,
  type GroupDraft,
} from '../src/view/filters';
import { words } from '../src/words';
import { field } from './fields';

const NAME = field('name', 'text');
const DUE = field('due', 'date');
const DONE = field('done', 'bool');
const TRADES = field('trades', 'multi_enum');
const COST = field('cost', 'number');
const FIELDS = [NAME, DUE, DONE, TRADES, COST];

const group = (join: GroupDraft['join'], ...parts: GroupDraft['parts']): GroupDraft => ({ kind: 'group', join, parts });

describe('operators', () => {
  it('are each offered for a field of some type', () => {
    const types = Object.keys(words.settings.types) as FieldType[];
    expect(new Set(types.flatMap(operatorsOf))).toEqual(new Set(OPERATORS));
  });
});

describe('drafts and filters', () => {
  it.each<[string, Filter]>([
    ['a text with lines and blanks', { field: 'name', op: 'eq', value: ' a\nb ' }],
    ['a condition', { field: 'cost', op: 'gt', value: '12.50' }],
    ['a range', { field: 'due', op: 'between', value: ['2026-01-01', '2026-12-31'] }],
    ['a truth value', { field: 'done', op: 'eq', value: false }],
    ['options', { field: 'trades', op: 'has_any', value: ['Welder', 'Painter'] }],
    ['no value', { field: 'due', op: 'is_empty' }],
    ['conditions joined', { and: [{ field: 'due', op: 'is_empty' }, { or: [{ field: 'cost', op: 'lt', value: '1' }, { field: 'done', op: 'eq', value: true }] }] }],
    ['a condition denied', { not: { field: 'due', op: 'is_empty' } }],
    ['a group denied', { not: { and: [{ field: 'due', op: 'is_empty' }, { field: 'done', op: 'eq', value: true }] } }],
    ['either denied', { and: [{ not: { or: [{ field: 'due', op: 'is_empty' }, { field: 'done', op: 'eq', value: true }] } }, { field: 'cost', op: 'is_empty' }] }],
    ['what the builder has no inputs for', { field: 'trades', op: 'in', value: [['Welder'], []] }],
  ])('survive a round trip: %s', (_, filter) => {
    expect(toFilter(fromFilter(filter, FIELDS), FIELDS)).toEqual(filter);
  });

  it('leave out incomplete conditions', () => {
    const half = { ...newCondition(DUE), op: 'between' as const, values: ['2026-01-01', ' '] };
    expect(toFilter(half, FIELDS)).toBeNull();
    const whole = { ...newCondition(COST), values: ['', '7'] };
    expect(toFilter(group('nor', half, group('or'), whole), FIELDS)).toEqual({ not: { field: 'cost', op: 'eq', value: '7' } });
    expect(toFilter(group('and', half), FIELDS)).toBeNull();
  });

  it('count their conditions, fields and levels', () => {
    const filter: Filter = { and: [{ field: 'due', op: 'is_empty' }, { not: { or: [{ field: 'cost', op: 'lt', value: '1' }, { field: 'due', op: 'is_empty' }] } }] };
    expect(conditionsIn(filter)).toBe(3);
    expect([...fieldsIn(filter)]).toEqual(['due', 'cost']);
    expect(depthOf(fromFilter(filter, FIELDS))).toBe(3);
    expect(conditionsIn(null)).toBe(0);
  });

  it('take one more condition on a field', () => {
    const one = newCondition(COST);
    expect(added(group('and', one), one).parts).toHaveLength(2);
    expect(added(group('or', one, one), one)).toEqual(group('and', group('or', one, one), one));
  });
});

describe('a condition', () => {
  it('keeps its operator if the new field has it', () => {
    const after = { ...newCondition(COST), op: 'gt' as const, values: ['4'] };
    expect(withField(after, DUE)).toMatchObject({ field: 'due', op: 'gt', values: [] });
    expect(withField(after, TRADES)).toMatchObject({ op: 'has_any' });
  });

  it('has as many values as its operator needs', () => {
    expect(operandOf('date', 'between')).toBe('two');
    expect(operandOf('enum', 'in')).toBe('many');
    expect(operandOf('multi_enum', 'eq')).toBe('many');
    expect(operandOf('text', 'eq')).toBe('one');
    for (const { type } of FIELDS) expect(operatorsOf(type)).toContain('is_empty');
  });
});
