import { describe, expect, it } from 'vitest';
import { changedParts, replacedParts, type TextPart } from '../src/cells/changed-parts';
import type { Replacement } from '../src/api/types';

/** The parts as a text, with what has changed in brackets. */
const marked = (parts: readonly TextPart[]) => parts.map(({ text, changed }) => (changed ? `[${text}]` : text)).join('');

const replacement = (find: string, text: string, more: Partial<Replacement> = {}): Replacement => ({ fields: ['name'], find, with: text, ...more });

describe('the parts that a replacement changes', () => {
  it.each<[string, string, Replacement, string, string]>([
    ['Colour and colour', 'Color and Color', replacement('colour', 'Color'), '[Colour] and [colour]', '[Color] and [Color]'],
    ['Colour and colour', 'Colour and color', replacement('colour', 'color', { case: true }), 'Colour and [colour]', 'Colour and [color]'],
    ['tie, ties', 'rod, ties', replacement('tie', 'rod', { match: 'word' }), '[tie], ties', '[rod], ties'],
    // A word ends where the words of `has_words` end, and a match keeps a letter and its marks together.
    ['क कि क', 'X कि X', replacement('क', 'X', { match: 'word' }), '[क] कि [क]', '[X] कि [X]'],
    ['foo_a foo_b', 'X_a X_b', replacement('foo', 'X', { match: 'word' }), '[foo]_a [foo]_b', '[X]_a [X]_b'],
    ['cafe cafe\u0301 cafe', 'tea cafe\u0301 tea', replacement('cafe', 'tea'), '[cafe] cafe\u0301 [cafe]', '[tea] cafe\u0301 [tea]'],
    ['a.b*c', 'ac', replacement('.b*', ''), 'a[.b*]c', 'ac'],
    ['Beam', '$&', replacement('beam', '$&', { match: 'whole' }), '[Beam]', '[$&]'],
  ])('are each occurrence: %s', (before, after, how, old, next) => {
    const parts = replacedParts(before, after, how);
    expect(marked(parts.before)).toBe(old);
    expect(marked(parts.after)).toBe(next);
  });

  it('are those between what is equal, if the API has found another text', () => {
    const parts = replacedParts('Strasse 7', 'Weg 7', replacement('straße', 'Weg'));
    expect([marked(parts.before), marked(parts.after)]).toEqual(['[Strasse] 7', '[Weg] 7']);
  });

  it('keep some of a long text around them', () => {
    const [long, middle] = ['x'.repeat(60), 'y'.repeat(100)];
    const { before } = replacedParts(`${long}a${middle}a${long}`, `${long}b${middle}b${long}`, replacement('a', 'b'));
    expect(marked(before)).toBe(`…${'x'.repeat(40)}[a]${'y'.repeat(40)}…${'y'.repeat(40)}[a]${'x'.repeat(40)}…`);
  });
});

describe('the parts between two texts', () => {
  it.each([
    ['', 'new', '', '[new]'],
    ['aaa', 'aa', 'aa[a]', 'aa'],
    ['🙂 one', '🙃 one', '[🙂] one', '[🙃] one'],
    ['same', 'same', 'same', 'same'],
  ])('%s, %s', (before, after, old, next) => {
    const parts = changedParts(before, after);
    expect([marked(parts.before), marked(parts.after)]).toEqual([old, next]);
  });
});
