/** What undo and redo would do. Pure; each function returns a new history. */
import type { Change } from './change';

export interface History {
  readonly done: readonly Change[];
  readonly undone: readonly Change[];
}

const MAX_STEPS = 100;

export const NO_HISTORY: History = { done: [], undone: [] };

export function did(history: History, change: Change): History {
  return change.edits.length ? { done: [...history.done, change].slice(-MAX_STEPS), undone: [] } : history;
}

export function undid({ done, undone }: History): History {
  const last = done.at(-1);
  return last ? { done: done.slice(0, -1), undone: [...undone, last] } : { done, undone };
}

export function redid({ done, undone }: History): History {
  const last = undone.at(-1);
  return last ? { done: [...done, last], undone: undone.slice(0, -1) } : { done, undone };
}
