/** The entries of the command palette, and their order for what a user types. Pure. */
import { caseFolded } from '../fields/case-fold';

export const KINDS = ['issue', 'action', 'view', 'field', 'project'] as const;
export type Kind = (typeof KINDS)[number];

export interface Command {
  readonly kind: Kind;
  readonly text: string;
  /** The keys that do the same. */
  readonly keys?: string;
  readonly act: () => void;
}

/** Entries that are shown; a user with more of them types another letter. */
export const MOST_SHOWN = 50;

/**
 * The entries that contain every typed word, in the order of their kinds. In one kind, entries that begin with the text
 * come first, then entries in which each typed word begins a word.
 */
export function foundFor<Entry extends Command>(commands: readonly Entry[], typed: string): readonly Entry[] {
  const wanted = caseFolded(typed).split(/\s+/).filter(Boolean);
  const ranked = commands.flatMap((command, place) => {
    const rank = rankOf(caseFolded(command.text), wanted);
    return rank === null ? [] : [{ command, place, rank, kind: KINDS.indexOf(command.kind) }];
  });
  ranked.sort((a, b) => a.kind - b.kind || a.rank - b.rank || a.place - b.place);
  return ranked.slice(0, MOST_SHOWN).map(({ command }) => command);
}

/** Null if a word is not in the text. */
function rankOf(text: string, wanted: readonly string[]): number | null {
  if (!wanted.every((word) => text.includes(word))) return null;
  if (text.startsWith(wanted.join(' '))) return 0;
  const words = text.split(/[\s_.,:/-]+/);
  return wanted.every((word) => words.some((one) => one.startsWith(word))) ? 1 : 2;
}

/** The number of an issue that a user has typed, with or without a number sign; null for other texts. */
export function numberIn(typed: string): number | null {
  const digits = /^#?\s*([0-9]{1,15})$/.exec(typed.trim())?.[1];
  return digits === undefined || Number(digits) === 0 ? null : Number(digits);
}
