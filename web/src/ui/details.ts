/** Whether the page shows figures for developers, such as the lag of the index and the cost of a query. Kept in the browser. */
import { signal } from '@preact/signals';

const KEY = 'gridview.details';

export const details = signal(false);

/** Show them as this browser did before; if it never chose, only on a developer's machine. */
export function beginDetails(isLocal: boolean): void {
  const kept = stored();
  details.value = kept === null ? isLocal : kept === 'on';
}

export function toggleDetails(): void {
  details.value = !details.peek();
  try {
    localStorage.setItem(KEY, details.peek() ? 'on' : 'off');
  } catch {
    // A browser without storage forgets it with the page.
  }
}

function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
