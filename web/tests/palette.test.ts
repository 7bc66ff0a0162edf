/** The order of the entries of the command palette. */
import { describe, expect, it } from 'vitest';
import { foundFor, MOST_SHOWN, numberIn, type Command, type Kind } from '../src/view/palette';

const command = (kind: Kind, text: string): Command => ({ kind, text, act: () => undefined });
const COMMANDS = [
  command('action', 'Import CSV'),
  command('action', 'Export as CSV'),
  command('view', 'Éxport plans'),
  command('field', 'Port'),
  command('field', 'Air port'),
  command('field', 'Exports'),
];
const texts = (typed: string) => foundFor(COMMANDS, typed).map(({ text }) => text);

describe('the command palette', () => {
  it('finds entries that contain each word, without case and accents, by their kinds', () => {
    expect(texts('EXPORT')).toEqual(['Export as CSV', 'Éxport plans', 'Exports']);
    expect(texts('csv exp')).toEqual(['Export as CSV']);
    expect(texts('nothing like it')).toEqual([]);
  });

  it('puts entries that begin with the text first, then those in which a word does', () => {
    expect(texts('port')).toEqual(['Import CSV', 'Export as CSV', 'Éxport plans', 'Port', 'Air port', 'Exports']);
  });

  it('has all entries for no text, up to a number', () => {
    expect(texts(' ')).toHaveLength(COMMANDS.length);
    expect(foundFor(Array.from({ length: MOST_SHOWN + 1 }, () => command('field', 'x')), 'x')).toHaveLength(MOST_SHOWN);
  });

  it.each([
    ['12', 12],
    [' #12 ', 12],
    ['0', null],
    ['12a', null],
    ['1.2', null],
    ['', null],
    ['1234567890123456', null],
  ])('reads the number of an issue from %j', (typed, num) => {
    expect(numberIn(typed)).toBe(num);
  });
});
