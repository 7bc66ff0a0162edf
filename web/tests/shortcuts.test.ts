import { expect, it, vi } from 'vitest';
import { pressed, type KeyTargets } from '../src/grid/keys';
import { at } from '../src/selection/range';
import { keysAsLabeled, keysForAria } from '../src/shortcuts';
import { shortcutOf } from '../src/ui/keys';

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

it.each([
  ['c', 'KeyC', 'c', 'a Latin letter'],
  ['C', 'KeyC', 'c', 'a Latin letter with Shift'],
  ['a', 'KeyQ', 'a', 'a letter in another place, as on a French keyboard'],
  ['ö', 'KeyX', 'ö', 'a Latin letter that English lacks, as on a Turkish keyboard'],
  ['с', 'KeyC', 'c', 'Russian'],
  ['Я', 'KeyZ', 'z', 'Russian with Shift'],
  ['ω', 'KeyV', 'v', 'Greek'],
  ['ש', 'KeyA', 'a', 'Hebrew'],
  ['ؤ', 'KeyC', 'c', 'Arabic'],
  ['ั', 'KeyY', 'y', 'Thai, a vowel sign'],
  ['х', 'BracketLeft', 'х', 'a letter where English has none'],
  ['/', 'Slash', '/', 'a sign'],
  ['Home', 'Home', 'home', 'a named key'],
])('%s at %s is %s: %s', (key, code, shortcut) => {
  expect(shortcutOf({ key, code })).toBe(shortcut);
});

it.each([
  ['с', 'KeyC', 'copy'],
  ['ч', 'KeyX', 'cut'],
  ['в', 'KeyD', 'fillDown'],
] as const)('Ctrl+%s at %s acts in the grid by the place of the key: %s', (key, code, action) => {
  const act = vi.fn();
  const model = { selection: { peek: () => at({ row: 0, column: 0 }) }, size: { rows: 9, columns: 9 } };
  const event = { key, code, ctrlKey: true, preventDefault: vi.fn() } as unknown as KeyboardEvent;
  expect(pressed(event, { model, actions: { [action]: act } } as unknown as KeyTargets)).toBe(true);
  expect(act).toHaveBeenCalledOnce();
});
