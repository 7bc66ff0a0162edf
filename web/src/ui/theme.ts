/**
 * The theme of the page: the system's, light or dark. The choice stays in this browser, and `public/theme.js` applies it
 * before the page is painted. All colors follow (`styles/tokens.css`); forced colors take precedence.
 */
import { signal } from '@preact/signals';
import { keep } from './kept';

/** As in `public/theme.js`. */
const KEY = 'gridview.theme';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

function themeOf(kept: string | null | undefined): Theme {
  return THEMES.find((one) => one === kept) ?? 'system';
}

export const theme = signal<Theme>(themeOf(document.documentElement.dataset['theme']));

export function chooseTheme(next: Theme): void {
  show(next);
  keep(KEY, next === 'system' ? null : next);
}

function show(next: Theme): void {
  theme.value = next;
  const { dataset } = document.documentElement;
  if (next === 'system') delete dataset['theme'];
  else dataset['theme'] = next;
}

// Another tab of the page chose one.
window.addEventListener('storage', ({ key, newValue }) => {
  if (key === KEY || key === null) show(themeOf(newValue));
});
