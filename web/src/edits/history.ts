/** The steps that undo and redo would take. Pure; each function returns a new history. */
import { isEmpty, renumbered, type Change } from './change';

export interface History {
  readonly done: readonly Change[];
  readonly undone: readonly Change[];
}

const MAX_STEPS = 100;

export const NO_HISTORY: History = { done: [], undone: [] };

/** Add a new step: undone steps cannot be redone any more. */
export function did({ done, undone }: History, change: Change): History {
  return isEmpty(change) ? { done, undone } : { done: put(done, change), undone: [] };
}

/** A step is being undone, by default the last; `undid` ends it, with the resulting change. */
export function undoing({ done, undone }: History, step = done.at(-1)): readonly [step: Change | undefined, rest: History] {
  const at = step ? done.indexOf(step) : -1;
  return [done[at], { done: done.filter((_, place) => place !== at), undone }];
}

export function undid({ done, undone }: History, change: Change): History {
  return { done, undone: put(undone, change) };
}

export function redoing({ done, undone }: History): readonly [last: Change | undefined, rest: History] {
  return [undone.at(-1), { done, undone: undone.slice(0, -1) }];
}

export function redid({ done, undone }: History, change: Change): History {
  return { done: put(done, change), undone };
}

/** The step of the jobs that were written under an id. */
export function stepOfJobs({ done }: History, id: string | null): Change | undefined {
  return id === null ? undefined : done.find(({ job }) => job === id);
}

/** The history without the step that was written under an id: something else has undone it. */
export function without({ done, undone }: History, id: string): History {
  return { done: done.filter((step) => step.id !== id && step.job !== id), undone };
}

/** Issues were created again, under other numbers. */
export function withNumbers({ done, undone }: History, numbers: ReadonlyMap<number, number>): History {
  if (!numbers.size) return { done, undone };
  const now = (change: Change) => renumbered(change, numbers);
  return { done: done.map(now), undone: undone.map(now) };
}

function put(changes: readonly Change[], change: Change): readonly Change[] {
  return isEmpty(change) ? changes : [...changes, change].slice(-MAX_STEPS);
}
