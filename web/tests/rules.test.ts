import { describe, expect, it } from 'vitest';
import { formatJson, parseJson } from '../src/api/json';
import type { Filter } from '../src/api/types';
import type { Row } from '../src/fields/values';
import { fromAddress, toAddress } from '../src/view/address';
import {
  colorOfCell,
  colorOfRow,
  conditionsOf,
  draftsOf,
  fittingRules,
  isOutdated,
  MAX_RULES,
  movedTo,
  newDraft,
  ruleIn,
  rulesOf,
  rulingOf,
  withJudged,
  type Rule,
} from '../src/view/rules';
import { DEFAULT_VIEW, groupKeyOf, groupProposed } from '../src/view/view';
import { field } from './fields';

const FIELDS = [
  { ...field('num', 'number'), editable: false },
  field('name'),
  field('cost', 'number'),
  field('due', 'date'),
  field('kind', 'enum', ['beam', 'bolt']),
  { ...field('created', 'datetime'), editable: false },
  { ...field('updated', 'datetime'), editable: false },
];

const DEAR: Filter = { field: 'cost', op: 'gt', value: 5 };
const LATE: Filter = { field: 'due', op: 'lt', value: { today: 0, timezone: 'UTC' } };
const BEAM: Filter = { field: 'kind', op: 'eq', value: 'beam' };

const rule = (filter: Filter, color: Rule['color'], of: string | null = null): Rule => ({ filter, color, field: of });
const row = (matches: readonly Filter[] | null, values: Row['values'] = {}, version = 1): Row => ({
  num: 1,
  version,
  values,
  ...(matches && { judged: { version: 1, values: { cost: 6, kind: 'beam' }, matches: matches.map(formatJson) } }),
});

describe('the color of a row', () => {
  const ruling = rulingOf([rule(DEAR, 'red'), rule(LATE, 'blue', 'due'), rule(BEAM, 'green'), rule(DEAR, 'pink', 'due'), rule(BEAM, 'teal', 'cost')], FIELDS);

  it('is that of the first rule that it matches, and a cell has its own first', () => {
    expect(colorOfRow(ruling, row([BEAM, DEAR]))).toBe('red');
    expect(colorOfRow(ruling, row([BEAM]))).toBe('green');
    expect(colorOfRow(ruling, row([LATE]))).toBeNull();
    expect(colorOfCell(ruling, row([DEAR, LATE]), 'due')).toBe('blue');
    expect(colorOfCell(ruling, row([DEAR]), 'due')).toBe('pink');
    expect(colorOfCell(ruling, row([BEAM]), 'cost')).toBe('teal');
    expect(colorOfCell(ruling, row([BEAM]), 'name')).toBeNull();
  });

  it('is none before the API has judged it', () => {
    expect(colorOfRow(ruling, row(null))).toBeNull();
    expect(colorOfCell(ruling, row(null), 'due')).toBeNull();
  });

  it('is asked for once for each filter', () => {
    expect([...ruling.filters.values()]).toEqual([DEAR, LATE, BEAM]);
    expect([...ruling.fields].sort()).toEqual(['cost', 'due', 'kind']);
  });
});

describe('a row is judged again', () => {
  const ruling = rulingOf([rule(DEAR, 'red')], FIELDS);

  it('if it was never judged, or a field of the rules has changed since', () => {
    expect(isOutdated(row(null), ruling)).toBe(true);
    expect(isOutdated(row([], { cost: 6 }), ruling)).toBe(false);
    expect(isOutdated(row([], { cost: 7 }, 2), ruling)).toBe(true);
    expect(isOutdated(row([], {}, 2), ruling)).toBe(true);
  });

  it('not while the edit is on its way, nor for other fields', () => {
    expect(isOutdated(row([], { cost: 7 }), ruling)).toBe(false);
    expect(isOutdated(row([], { cost: 6, name: 'new' }, 2), ruling)).toBe(false);
  });

  it('after any change if a rule uses a field that the server sets, but not for one that stays', () => {
    const of = (id: string) => rulingOf([rule({ field: id, op: 'is_not_empty' }, 'red')], FIELDS);
    const changed: Row = { ...row([], { cost: 6 }, 2), judged: { version: 1, values: { cost: 6 }, matches: [] } };
    expect([of('updated'), of('created'), of('num')].map((one) => isOutdated(changed, one))).toEqual([true, false, false]);
  });

  it('and keeps a later judgement', () => {
    const late = { version: 3, values: {}, matches: [] };
    const judged = withJudged(row([DEAR]), late);
    expect(judged.judged).toBe(late);
    expect(withJudged(judged, { version: 2, values: {}, matches: [formatJson(DEAR)] })).toBe(judged);
  });
});

describe('rules in an address', () => {
  const parse = (json: string): unknown => {
    try {
      return parseJson(json);
    } catch {
      return undefined;
    }
  };

  it('are readable, in their order', () => {
    const view = { ...DEFAULT_VIEW, rules: [rule(DEAR, 'red'), rule(BEAM, 'teal', 'cost')] };
    const address = toAddress(view);
    expect(decodeURIComponent(address)).toBe('rule=red:{"field":"cost","op":"gt","value":5}&rule=teal.cost:{"field":"kind","op":"eq","value":"beam"}');
    expect(fromAddress(address)).toEqual(view);
  });

  it('are left out if no view can have them', () => {
    const no = ['red', 'red:', 'red:{', 'red:5', 'red:null', 'red:{}', 'mauve:{"field":"a","op":"eq","value":1}', 'red:{"field":"a","op":"like"}', 'red:{"and":[]}', 'red:{"and":[5]}', 'red:{"not":7}', 'red.A:{"field":"a","op":"is_empty"}'];
    for (const text of no) expect(ruleIn(text, parse), text).toEqual([]);
    const many = Array.from({ length: MAX_RULES + 3 }, () => `rule=red:${encodeURIComponent(formatJson(DEAR))}`).join('&');
    expect(fromAddress(many).rules).toHaveLength(MAX_RULES);
  });

  it('are dropped with a field that the project does not have', () => {
    const rules = [rule(DEAR, 'red'), rule(BEAM, 'blue', 'due'), rule({ and: [DEAR, { not: BEAM }] }, 'pink')];
    expect(fittingRules(rules, new Set(['cost', 'kind']))).toEqual([rules[0], rules[2]]);
    expect(fittingRules(rules, new Set(['cost', 'due']))).toEqual([rules[0]]);
  });
});

describe('drafts of rules', () => {
  it('become the same rules', () => {
    const rules = [rule({ and: [LATE, { or: [BEAM, DEAR] }] }, 'red'), rule(BEAM, 'gray', 'kind')];
    expect(rulesOf(draftsOf(rules, FIELDS), FIELDS)).toEqual(rules);
    const edited = draftsOf(rules, FIELDS).map((draft) => ({ ...draft, filter: { ...draft.filter } }));
    expect(rulesOf(edited, FIELDS)).toEqual([rule({ and: [LATE, { or: [BEAM, { ...DEAR, value: '5' }] }] }, 'red'), rules[1]]);
    expect(conditionsOf(rules)).toBe(4);
  });

  it('leave out a condition while its value is incomplete', () => {
    const draft = newDraft([], FIELDS, 'red');
    const typed = (id: string, op: 'gt' | 'in' | 'between', ...values: string[]) =>
      rulesOf([{ ...draft, filter: { kind: 'group', join: 'and', parts: [{ kind: 'condition', field: id, op, values }] } }], FIELDS)[0]?.filter ?? null;
    for (const text of ['', '-', '1e', '1.', 'x', '1e999']) expect(typed('cost', 'gt', text), text).toBeNull();
    for (const text of ['5', ' -0.5 ', '.5', '1e10']) expect(typed('cost', 'gt', text), text).toEqual({ field: 'cost', op: 'gt', value: text.trim() });
    expect(typed('cost', 'in', '1', '2x', '3')).toEqual({ field: 'cost', op: 'in', value: ['1', '3'] });
    expect(typed('due', 'in', '2024-02-30', '2024-2-1', '2024-02-29')).toEqual({ field: 'due', op: 'in', value: ['2024-02-29'] });
    expect(typed('cost', 'between', '-', '5')).toBeNull();
  });

  it('begin with a condition on the name, which colors nothing yet', () => {
    const first = newDraft([], FIELDS, 'blue');
    expect(first).toMatchObject({ id: 0, color: 'blue', field: null, filter: { parts: [{ field: 'name' }] } });
    expect(newDraft([{ ...first, id: 4 }, first], FIELDS, 'red').id).toBe(5);
    expect(rulesOf([first], FIELDS)).toEqual([]);
  });

  it('move to other places', () => {
    const moves = ([[0, 2], [2, 0], [1, 1], [0, 3], [1, -1]] as const).map(([from, to]) => movedTo(['a', 'b', 'c'], from, to).join(''));
    expect(moves).toEqual(['bca', 'cab', 'abc', 'abc', 'abc']);
  });
});

describe('the proposed field for groups', () => {
  it('is one whose values are not all different, if there is any', () => {
    expect(groupProposed(FIELDS)?.id).toBe('due');
    expect(groupProposed(FIELDS.filter(({ type }) => type !== 'date'))?.id).toBe('kind');
    expect(groupProposed([field('name'), field('seen', 'datetime'), field('safe', 'bool')])?.id).toBe('safe');
    expect(groupProposed([field('name'), field('seen', 'datetime')])?.id).toBe('seen');
    expect(groupProposed([field('name'), field('cost', 'number')])?.id).toBe('name');
    expect(groupProposed([])).toBeUndefined();
    expect([field('due', 'date'), field('seen', 'datetime'), field('kind', 'enum')].map((one) => groupKeyOf(one).unit)).toEqual(['month', 'month', null]);
  });
});
