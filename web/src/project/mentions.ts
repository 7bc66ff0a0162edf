/** Mentions in a text: `@` and the name of a user. Pure. */
import { caseFolded } from '../fields/case-fold';

export interface Mentionable {
  readonly id: string;
  readonly name: string;
}

/** The mention that is being typed after an `@`: its place, and the beginning of a name. Null if there is none. */
export function begun(text: string, caret: number): { readonly at: number; readonly prefix: string } | null {
  const prefix = /(?:^|[\s(])@([^@\n]{0,40})$/.exec(text.slice(0, caret))?.[1];
  return prefix === undefined ? null : { at: caret - prefix.length - 1, prefix };
}

/** The users whose names begin with a text. */
export function fitting(users: readonly Mentionable[], prefix: string): readonly Mentionable[] {
  const start = caseFolded(prefix);
  return users.filter(({ name }) => caseFolded(name).startsWith(start));
}

/** The text with the name of a user in place of the beginning, and the new place of the caret. */
export function completed(text: string, caret: number, at: number, { name }: Mentionable): { readonly text: string; readonly caret: number } {
  const mention = `@${name} `;
  const rest = text.slice(caret).replace(/^ /, '');
  return { text: text.slice(0, at) + mention + rest, caret: at + mention.length };
}

export interface Piece {
  readonly text: string;
  /** The user whom this piece mentions. */
  readonly user: Mentionable | null;
}

/** The text in pieces, of which some mention one of these users. If one name begins like another, the longer counts. */
export function pieces(text: string, users: readonly Mentionable[]): readonly Piece[] {
  const byLength = [...users].filter(({ name }) => name).sort((a, b) => b.name.length - a.name.length);
  const found: Piece[] = [];
  let plain = 0;
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    const user = byLength.find(({ name }) => text.startsWith(name, at + 1));
    if (!user) continue;
    if (at > plain) found.push({ text: text.slice(plain, at), user: null });
    plain = at + 1 + user.name.length;
    found.push({ text: text.slice(at, plain), user });
    at = plain - 1;
  }
  if (plain < text.length) found.push({ text: text.slice(plain), user: null });
  return found;
}

/** The users whom a text mentions, without duplicates. */
export function mentionedIn(text: string, users: readonly Mentionable[]): readonly string[] {
  return [...new Set(pieces(text, users).flatMap(({ user }) => (user ? [user.id] : [])))];
}
