/** A form's draft of a definition that others may change meanwhile. Pure. */

export interface Draft<V extends object> {
  /** The version on which the draft is based, and its content. */
  readonly version: number;
  readonly base: V;
  readonly value: V;
}

export function begun<V extends object>(version: number, value: V): Draft<V> {
  return { version, base: value, value };
}

/** Parts that both the user and someone else have changed, to different values. */
export function clashes<V extends object>({ base, value }: Draft<V>, theirs: V): readonly (keyof V)[] {
  return keysOf(value).filter((key) => !same(value[key], base[key]) && !same(theirs[key], base[key]) && !same(value[key], theirs[key]));
}

/**
 * The draft on top of the present content: the user's changes, and the changes of others elsewhere. If both changed a
 * part, the user's.
 */
export function onTop<V extends object>({ base, value }: Draft<V>, version: number, theirs: V): Draft<V> {
  const own = keysOf(value).filter((key) => !same(value[key], base[key]));
  return { version, base: theirs, value: { ...theirs, ...Object.fromEntries(own.map((key) => [key, value[key]])) } };
}

/** The draft with only the changes since this content was sent. */
export function since<V extends object>(draft: Draft<V>, sent: V): Draft<V> {
  return { ...draft, base: sent };
}

export function isChanged<V extends object>({ base, value }: Draft<V>): boolean {
  return !same(base, value);
}

function keysOf<V extends object>(value: V): readonly (keyof V)[] {
  return Object.keys(value) as (keyof V)[];
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
