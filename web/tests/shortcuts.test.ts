import { expect, it } from 'vitest';
import { keysAsLabeled } from '../src/shortcuts';

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
