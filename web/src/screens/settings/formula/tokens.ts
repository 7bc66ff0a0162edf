/** The parts of a formula's text, for completion and for the mark of an error. It takes any text, as a user types it. Pure. */

export interface Token {
  readonly kind: 'number' | 'name' | 'text' | 'field' | 'sign';
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

const TOKEN =
  /(?<number>[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)|(?<name>[a-z_][a-z0-9_]*)|(?<text>"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)|(?<field>\{(?:[^}\\]|\\.)*\}?)|(?<sign><=|>=|<>|!=|\S)/gisu;

export function tokensOf(text: string): readonly Token[] {
  return [...text.matchAll(TOKEN)].map(({ 0: found, index, groups = {} }) => {
    const [kind = 'sign'] = (['number', 'name', 'text', 'field'] as const).filter((one) => groups[one] !== undefined);
    return { kind, text: found, from: index, to: index + found.length };
  });
}

/** A part of a text: UTF-16 units from 0, without the one at `to`. */
export interface Place {
  readonly from: number;
  readonly to: number;
}

/** The part of the text that an error is about. `position` counts code points, as the API does; the end is an empty part. */
export function placeOfError(text: string, position: number): Place {
  const at = Array.from(text).slice(0, position).join('').length;
  const token = tokensOf(text).find(({ to }) => to > at);
  return token ? { from: token.from, to: token.to } : { from: text.length, to: text.length };
}

export interface Call {
  /** In capitals. */
  readonly name: string;
  /** The place of the parameter, from 0. */
  readonly parameter: number;
}

/** The function whose parameters the caret is in; null for none. */
export function callAt(text: string, caret: number): Call | null {
  const open: (Call | null)[] = [];
  const tokens = tokensOf(text.slice(0, caret));
  for (const [at, token] of tokens.entries()) {
    const before = tokens[at - 1];
    const last = open.at(-1);
    if (token.text === '(') open.push(before?.kind === 'name' ? { name: before.text.toUpperCase(), parameter: 0 } : null);
    else if (token.text === ')') open.pop();
    else if (token.text === ',' && last) open.splice(-1, 1, { ...last, parameter: last.parameter + 1 });
  }
  return open.findLast((call) => call !== null) ?? null;
}
