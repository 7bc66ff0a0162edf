import { expect, it } from 'vitest';
import { isComposing } from '../src/composing';

it.each([
  ['a key during a composition', { isComposing: true, keyCode: 27 }, true],
  ['the Enter that confirms a composition in Safari', { isComposing: false, keyCode: 229 }, true],
  ['any other key', { isComposing: false, keyCode: 13 }, false],
] as const)('%s: does it belong to an input method?', (_, event, belongs) => {
  expect(isComposing(event)).toBe(belongs);
});
