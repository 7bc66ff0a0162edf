/** Texts with keys, such as `Ctrl+Shift+Z`, as the keyboards of a system label them. */

export const IS_MAC = typeof navigator !== 'undefined' && navigator.userAgent.includes('Mac');

const ON_MAC: readonly (readonly [RegExp, string])[] = [
  // The system itself takes ⌘Space.
  [/\bCtrl\+(?=(Shift\+)?Space\b)/g, '⌃'],
  [/\bCtrl(\+|\b)/g, '⌘'],
  [/\bShift\+/g, '⇧'],
  [/\bAlt\+/g, '⌥'],
];

/** The keys as `aria-keyshortcuts` names them. */
export function keysForAria(text: string): string {
  return text.replaceAll('Ctrl', 'Control').replace('↑', 'ArrowUp').replace('↓', 'ArrowDown');
}

export function keysAsLabeled(text: string, isMac = IS_MAC): string {
  return isMac ? ON_MAC.reduce((shown, [key, sign]) => shown.replace(key, sign), text) : text;
}
