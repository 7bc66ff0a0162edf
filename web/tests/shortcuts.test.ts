import { expect, it } from 'vitest';
import { keysAsLabeled, keysForAria } from '../src/shortcuts';

it.each([
  ['Ctrl+Shift+Z', '⌘⇧Z'],
  ['Alt+Arrow up, Alt+Arrow down', '⌥Arrow up, ⌥Arrow down'],
  ['Ctrl+Shift+Space', '⌃⇧Space'],
  ['Extend the selection; with Ctrl, to the edge', 'Extend the selection; with ⌘, to the edge'],
  ['Space', 'Space'],
])('%s has the signs of the keys of a Mac, and stays on other systems', (text, onMac) => {
  expect(keysAsLabeled(text, true)).toBe(onMac);
  expect(keysAsLabeled(text, false)).toBe(text);
});

it('have the names of `aria-keyshortcuts` for assistive technology', () => {
  expect(['Ctrl+Shift+Z', 'Alt+↑', 'Alt+↓', 'Space'].map(keysForAria)).toEqual(['Control+Shift+Z', 'Alt+ArrowUp', 'Alt+ArrowDown', 'Space']);
});
