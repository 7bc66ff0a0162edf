/** Ids and texts that are also names of members which every object inherits. */
import { describe, expect, it } from 'vitest';
import { formatJson, parseJson } from '../src/api/json';
import type { ChangeEvent, GridRow } from '../src/api/types';
import { isRole } from '../src/auth/session';
import { ColumnValues, valueOfCell } from '../src/csv/infer';
import { issueOf } from '../src/csv/plan';
import { keptOf, patchOf } from '../src/edits/change';
import { inputsOf, isOutdated } from '../src/fields/computed';
import { memberOf, rowOf, unavailableIn, valueOf } from '../src/fields/values';
import { applied } from '../src/live/events';
import { fromAddress, toAddress } from '../src/view/address';
import { withFooter } from '../src/view/footers';
import { isOutdated as isJudgedBefore, rulingOf } from '../src/view/rules';
import { DEFAULT_VIEW } from '../src/view/view';
import { computed, field } from './fields';

/** The API allows both as ids of fields. */
const IDS = ['constructor', '__proto__'] as const;

const body = (fields: string, more = '') => parseJson(`{"num":1,"version":1,"name":"a","state":"open","created":"","updated":"","created_by":"","updated_by":"","fields":${fields}${more}}`) as GridRow;

describe.each(IDS)('a field with the id %s', (id) => {
  const member = (value: string) => `{"${id}":"${value}"}`;
  const empty = rowOf(body('{}'));
  const row = rowOf(body(member('x'), ',"unavailable":{}'));

  it('has no value where the API has sent none, and its own where it has', () => {
    expect([valueOf(empty, id), valueOf(row, id)]).toEqual([null, 'x']);
    expect([unavailableIn(empty, id), unavailableIn(row, id), unavailableIn(rowOf(body('{}', `,"unavailable":{"${id}":"error"}`)), id)]).toEqual([undefined, undefined, 'error']);
  });

  it('is in the patch of an edit, and in a new issue', () => {
    expect(formatJson(patchOf([{ field: id, after: 'y' }, { field: 'name', after: 'b' }], [field(id)]))).toBe(`{"name":"b","fields":{"${id}":"y"}}`);
    expect(formatJson(issueOf(['a', 'y'], [{ ...field('name'), custom: false }, field(id)]))).toBe(`{"name":"a","fields":{"${id}":"y"}}`);
    expect(formatJson(keptOf(body(member('x')), [{ ...field(id), default: 'd' }]).body)).toBe(`{"name":"a","state":"open","fields":{"${id}":"x"}}`);
  });

  it('takes the value of a change', () => {
    const event = parseJson(`{"kind":"update","num":1,"version":2,"at":"","by":"","fields":{"${id}":{"old":null,"new":"y"}}}`) as ChangeEvent;
    expect(valueOf(applied(empty, event), id)).toBe('y');
    expect(memberOf(event.fields, id)).toEqual({ old: null, new: 'y' });
  });

  it('is compared by its own values', () => {
    const inputs = inputsOf([field(id), computed('sum', [id])]);
    expect([isOutdated(empty, 'sum', inputs), isOutdated({ ...row, computedFrom: empty }, 'sum', inputs)]).toEqual([false, true]);
    const ruling = rulingOf([{ color: 'red', field: null, filter: { field: id, op: 'is_empty' } }], [field(id)]);
    const judged = { version: 1, values: {}, matches: [] };
    expect(isJudgedBefore({ ...empty, version: 2, judged }, ruling)).toBe(false);
    expect(isJudgedBefore({ ...row, version: 2, judged }, ruling)).toBe(true);
  });

  it('has a summary only where it was chosen', () => {
    const footers = withFooter({}, id, 'count');
    expect([memberOf({}, id), memberOf(footers, id), memberOf(withFooter(footers, id, null), id)]).toEqual([undefined, 'count', undefined]);
    expect(memberOf(fromAddress(toAddress({ ...DEFAULT_VIEW, footers })).footers, id)).toBe('count');
  });
});

it.each(['constructor', '__proto__', 'toString'])('the word %s is no truth and no role', (word) => {
  expect(valueOfCell('bool', word)).toBeUndefined();
  const column = new ColumnValues();
  column.add(word);
  expect(column.type).toBe('text');
  expect(isRole(word)).toBe(false);
});
