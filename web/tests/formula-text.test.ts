import { describe, expect, it } from 'vitest';
import { beginningAt, completed, labelOf, nothingAt, offersFor } from '../src/screens/settings/formula/completion';
import { callAt, placeOfError } from '../src/screens/settings/formula/tokens';
import { plainField } from '../src/fields/fields';
import { field } from './fields';

const named = (id: string, name: string) => ({ ...field(id, 'number'), name });
const NAME = plainField('name', 'Name', 'text', { custom: false });
const FIELDS = [NAME, named('cost', 'Cost'), named('qty', 'Unit count'), named('odd', 'A \\ and }')];

/** A text with the caret at `|`. */
const at = (marked: string) => ({ text: marked.replace('|', ''), caret: marked.indexOf('|') });

const inserts = (marked: string) => {
  const { text, caret } = at(marked);
  const beginning = beginningAt(text, caret);
  return beginning && offersFor(beginning, FIELDS).map(({ insert }) => insert);
};

/** The text after the first offer was chosen, with the caret at `|`. */
const chosen = (marked: string) => {
  const { text, caret } = at(marked);
  const beginning = beginningAt(text, caret) ?? nothingAt(caret);
  const [first] = offersFor(beginning, FIELDS);
  const next = first && completed(text, beginning, first);
  return next && `${next.text.slice(0, next.caret)}|${next.text.slice(next.caret)}`;
};

describe('the completion of a formula', () => {
  it('offers fields after a brace, by any part of their names, its beginning first', () => {
    expect(inserts('{|')).toEqual(['{name}', '{Cost}', '{Unit count}', '{A \\\\ and \\}}']);
    expect(inserts('{co|')).toEqual(['{Cost}', '{Unit count}']);
    expect(inserts('{ÚNIT c|')).toEqual(['{Unit count}']);
    expect(inserts('{nothing|')).toEqual([]);
  });

  it('offers functions and fields for a word', () => {
    expect(inserts('rou|')).toEqual(['ROUND(', 'ROUNDUP(', 'ROUNDDOWN(']);
    expect(inserts('1 + cou|')).toEqual(['COUNT(', '{Unit count}']);
    expect(inserts('cos|')).toEqual(['{Cost}']);
  });

  it('offers nothing in texts, numbers and after signs', () => {
    for (const marked of ['"co|', "'co|'", '12|', '{Cost}|', '{Cost} * |', '|']) expect(inserts(marked)).toBeNull();
  });

  it('replaces the word, or the field up to its brace, around the caret', () => {
    expect(chosen('rou|')).toBe('ROUND(|');
    expect(chosen('ro|u({Cost})')).toBe('ROUND(|{Cost})');
    expect(chosen('{co| * {qty}')).toBe('{Cost}| * {qty}');
    expect(chosen('{co|xx} * 2')).toBe('{Cost}| * 2');
    expect(chosen('{Cost} * cos|')).toBe('{Cost} * {Cost}|');
    expect(chosen('"a" & |')).toMatch(/^"a" & IF\(\|$/);
  });

  it('names a field by its id where another field has its name', () => {
    const same = [named('one', 'Same'), named('two', 'Same'), named('cost', 'one'), named('date', 'Created')];
    expect(same.map((one) => labelOf(one, same))).toEqual(['one', 'two', 'cost', 'date']);
    expect(labelOf(NAME, FIELDS)).toBe('name');
  });
});

describe('the place of an error', () => {
  const part = (text: string, position: number) => {
    const { from, to } = placeOfError(text, position);
    return text.slice(from, to);
  };

  it('is the whole word, field, text or sign at it', () => {
    expect(part('{Cost} * {nope}', 9)).toBe('{nope}');
    expect(part('{Cost} & "x"', 7)).toBe('&');
    expect(part('ROUNDED({Cost})', 0)).toBe('ROUNDED');
    expect(part('"a\\q"', 2)).toBe('"a\\q"');
    expect(part('{a} <= "b"', 4)).toBe('<=');
  });

  it('is counted in code points', () => {
    expect(part('"𝔘𝔫" & {nope}', 7)).toBe('{nope}');
  });

  it('is empty at the end', () => {
    expect(placeOfError('{Cost} * ', 9)).toEqual({ from: 9, to: 9 });
  });
});

describe('the function around the caret', () => {
  const call = (marked: string) => {
    const { text, caret } = at(marked);
    return callAt(text, caret);
  };

  it('is the innermost one that is open, with the place of its parameter', () => {
    expect(call('round(|')).toEqual({ name: 'ROUND', parameter: 0 });
    expect(call('IF({a} > (1 + |')).toEqual({ name: 'IF', parameter: 0 });
    expect(call('IF({a}, ROUND({b}, 2), |')).toEqual({ name: 'IF', parameter: 2 });
    expect(call('IF("a(,", |')).toEqual({ name: 'IF', parameter: 1 });
    expect(call('ROUND({a})|')).toBeNull();
    expect(call('(|')).toBeNull();
  });
});
