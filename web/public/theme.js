/*
 * Applies the chosen theme before the page is painted. It is a file of its own, because the page's policy allows no
 * inline script. `src/ui/theme.ts` writes the choice.
 */
try {
  const theme = localStorage.getItem('gridview.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // A browser that keeps nothing follows the system.
}
