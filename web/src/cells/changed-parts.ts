/** The parts of a text that a change has changed, for a preview. Pure. */
import type { Replacement } from '../api/types';
import { OF_WORD } from '../fields/case-fold';

export interface TextPart {
  readonly text: string;
  readonly changed: boolean;
}

export interface ChangedTexts {
  readonly before: readonly TextPart[];
  readonly after: readonly TextPart[];
}

/** Characters that remain of a long part that has not changed, at each end beside a change. */
const CONTEXT = 40;

/** The parts of a text before and after a replacement. */
export function replacedParts(before: string, after: string, replacement: Replacement): ChangedTexts {
  const pieces = before.split(patternOf(replacement));
  const [first = '', ...rest] = pieces.filter((_, at) => at % 2 === 0);
  const olds = pieces.filter((_, at) => at % 2 === 1);
  const partsWith = (changed: (at: number) => string) => rest.reduce<readonly TextPart[]>((parts, text, at) => [...parts, part(changed(at), true), part(text)], [part(first)]);
  const news = partsWith(() => replacement.with);
  // The API compares some letters in another way.
  if (news.map(({ text }) => text).join('') !== after) return changedParts(before, after);
  return { before: shortened(partsWith((at) => olds[at] ?? '')), after: shortened(news) };
}

/** The parts of two texts between their common beginning and their common end. */
export function changedParts(before: string, after: string): ChangedTexts {
  const [old, next] = [Array.from(before), Array.from(after)];
  const shortest = Math.min(old.length, next.length);
  let start = 0;
  while (start < shortest && old[start] === next[start]) start += 1;
  let end = 0;
  while (end < shortest - start && old[old.length - 1 - end] === next[next.length - 1 - end]) end += 1;
  const partsOf = (letters: readonly string[]) =>
    shortened([
      part(letters.slice(0, start).join('')),
      part(letters.slice(start, letters.length - end).join(''), true),
      part(letters.slice(letters.length - end).join('')),
    ]);
  return { before: partsOf(old), after: partsOf(next) };
}

function part(text: string, changed = false): TextPart {
  return { text, changed };
}

/** As the API finds the text. The pattern has one group, so that a split keeps what it finds. */
function patternOf({ find, match = 'part', case: isExact = false }: Replacement): RegExp {
  const text = find.replace(/[$()*+./?[\\\]^{|}]/g, '\\$&');
  const found = { part: `(${text})(?!\\p{M})`, word: `(?<!${OF_WORD})(${text})(?!${OF_WORD})`, whole: `^(${text})$` }[match];
  return new RegExp(found, isExact ? 'u' : 'iu');
}

/** Without the middle of long parts that have not changed, and without empty parts. */
function shortened(parts: readonly TextPart[]): readonly TextPart[] {
  return parts.flatMap(({ text, changed }, at) => {
    if (!text) return [];
    const letters = Array.from(text);
    const [head, tail] = [at > 0 ? CONTEXT : 0, at < parts.length - 1 ? CONTEXT : 0];
    if (changed || letters.length <= head + tail + 1) return [{ text, changed }];
    return [{ text: `${letters.slice(0, head).join('')}…${tail ? letters.slice(-tail).join('') : ''}`, changed }];
  });
}
