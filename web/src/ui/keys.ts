/** The keys of shortcuts. */

/**
 * The key that an event means as a shortcut, in lower case. Layouts without Latin letters, such as Russian, have each
 * letter where its key has it on an English keyboard.
 */
export function shortcutOf({ key, code }: Pick<KeyboardEvent, 'key' | 'code'>): string {
  const isForeign = /^[\p{L}\p{M}]$/u.test(key) && !/\p{Script=Latin}/u.test(key);
  const letter = isForeign ? /^Key([A-Z])$/.exec(code)?.[1] : undefined;
  return (letter ?? key).toLowerCase();
}
