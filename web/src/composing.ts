/** The `keyCode` of keys that an input method handles. */
const HANDLED = 229;

/**
 * Whether a key belongs to an input method, which composes a text or lists candidates. The page ignores such keys.
 * Safari ends the composition before the Enter that confirms it, so only `keyCode` shows that Enter.
 */
export function isComposing(event: { readonly isComposing: boolean; readonly keyCode: number }): boolean {
  return event.isComposing || event.keyCode === HANDLED;
}
