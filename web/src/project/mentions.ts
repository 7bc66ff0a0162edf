/** Mentions in a text: `@` and the name of a user. Pure. */

export interface Mentionable {
  readonly id: string;
  readonly name: string;
}

/** What is being typed behind an `@`: where that stands, and the beginning of a name; null where nobody is being mentioned. */
export function begun(text: string, caret: number): { readonly at: number; readonly prefix: string } | null {
  const prefix = /(?:^|[\s(])@([^@\n]{0,40})$/.exec(text.slice(0, caret))?.[1];
  return prefix === undefined ? null : { at: caret - prefix.length - 1, prefix };
}

/** The text with the name of a user in the place of what was begun, and where the caret stands then. */
export function completed(text: string, caret: number, at: number, { name }: Mentionable): { readonly text: string; readonly caret: number } {
  const mention = `@${name} `;
  const rest = text.slice(caret).replace(/^ /, '');
  return { text: text.slice(0, at) + mention + rest, caret: at + mention.length };
}

export interface Piece {
  readonly text: string;
  /** Whom this piece mentions. */
  readonly user: Mentionable | null;
}

/** The text in pieces, of which some mention one of these users. The longer of two names counts where one begins like the other. */
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

/** Those of these users whom a text mentions, each once. */
export function mentionedIn(text: string, users: readonly Mentionable[]): readonly string[] {
  return [...new Set(pieces(text, users).flatMap(({ user }) => (user ? [user.id] : [])))];
}
