import { describe, expect, it } from 'vitest';
import { changedDefault, defaultAmong, draftedDefault, namedDefault, newOption, presentDefault, sentOptions } from '../src/project/drafted-options';

const OPTIONS = ['Low', 'High', 'Top'].map((value, at) => ({ id: String(at), value, color: null }));
const renamed = (id: string, value: string) => OPTIONS.map((one) => (one.id === id ? { ...one, value } : one));

describe('the default of a field in a draft', () => {
  it('follows an option that is renamed, and need not be sent', () => {
    for (const [value, after] of [['Low', 'Minor'], [['Low', 'Top'], ['Minor', 'Top']]] as const) {
      const known = draftedDefault(typeof value === 'string' ? value : [...value], OPTIONS);
      expect(namedDefault(known, renamed('0', 'Minor'))).toEqual(after);
      expect(changedDefault(known, known, renamed('0', 'Minor'))).toEqual({});
    }
  });

  it('stays with its option while another one has the same name', () => {
    const swapped = renamed('0', 'Minor').map((one) => (one.id === '1' ? { ...one, value: 'Low' } : one));
    const known = draftedDefault('Low', OPTIONS);
    expect([namedDefault(known, swapped), changedDefault(known, known, swapped)]).toEqual(['Minor', {}]);
  });

  it('may be an option that is new, and is sent by its name', () => {
    const added = { ...newOption(), value: 'New' };
    expect(changedDefault(added.id, '0', [...OPTIONS, added])).toEqual({ default: 'New' });
    expect(changedDefault(['1', added.id], ['1'], [...OPTIONS, added])).toEqual({ default: ['High', 'New'] });
    expect(sentOptions([...OPTIONS, added])).toEqual([...OPTIONS, { value: 'New', color: null }]);
  });

  it('is none after its option is dropped', () => {
    const left = OPTIONS.slice(1);
    expect([presentDefault('0', left), presentDefault(['0', '2'], left), presentDefault(['0'], left)]).toEqual([null, ['2'], null]);
    expect([changedDefault('0', '0', left), changedDefault(['0', '2'], ['0', '2'], left)]).toEqual([{ default: null }, { default: ['Top'] }]);
  });

  it('is the value itself in a field without options', () => {
    for (const value of ['Low', false, null]) {
      expect([draftedDefault(value), presentDefault(value), namedDefault(value), changedDefault(value, value)]).toEqual([value, value, value, {}]);
    }
    expect(changedDefault('5', null)).toEqual({ default: '5' });
  });

  it('goes to a copy of the field as far as that has its options', () => {
    expect([defaultAmong('Low', ['Low']), defaultAmong('Low', ['High']), defaultAmong(['Low', 'Top'], ['Top'])]).toEqual(['Low', null, ['Top']]);
  });
});
