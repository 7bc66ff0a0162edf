/** Whether the page shows figures for developers, such as the lag of the index and the cost of a query. Kept in the browser. */
import { signal } from '@preact/signals';
import { keep, kept } from './kept';

const KEY = 'gridview.details';

export const details = signal(false);

/** Show them as this browser did before; if it never chose, only on a developer's machine. */
export function beginDetails(isLocal: boolean): void {
  const chosen = kept(KEY);
  details.value = chosen === null ? isLocal : chosen === 'on';
}

export function toggleDetails(): void {
  details.value = !details.peek();
  keep(KEY, details.peek() ? 'on' : 'off');
}
