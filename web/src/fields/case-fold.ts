/** Texts as the API compares them: without case and accents. Pure. */

/** Sorts after all marks that an accent can have, so that NFD puts these before it. */
const LAST_MARK = '\u0345';

/** A text in the form that is compared: NFKD, without marks of a nonzero combining class, case-folded. */
export function caseFolded(text: string): string {
  return Array.from(text.normalize('NFKD'), (character) => (isAccent(character) ? '' : lowered(character))).join('');
}

function isAccent(character: string): boolean {
  return character === LAST_MARK || (character > '\u02ff' && !(LAST_MARK + character).normalize('NFD').startsWith(LAST_MARK));
}

/** JavaScript has no case-folding. Only the dotless i is lowered otherwise: its capital is that of i. */
function lowered(character: string): string {
  return character === 'ı' ? character : character.toLowerCase().toUpperCase().toLowerCase();
}

/** A letter, a mark or a digit, as a pattern: the API splits texts into words of these. */
export const OF_WORD = '[\\p{L}\\p{M}\\p{N}]';
