/** The entries of a menu that move rows or cards by one, in a manual order. */
import { manualWords as words } from '../manual/words';
import type { MenuEntry } from '../ui/menu';

/** Moves what a menu is about. */
export interface Mover {
  /** Names what moves if it is several rows or cards; else empty. */
  readonly what: string;
  /** Whether there is a place one further. */
  can(by: -1 | 1): boolean;
  step(by: -1 | 1): void;
}

/** No entries without a mover: there is no manual order, or the user may not change it. */
export function moveEntries(mover: Mover | null): readonly MenuEntry[] {
  if (!mover) return [];
  return ([['up', -1], ['down', 1]] as const).map(([way, by]) => ({
    text: words.move[way](mover.what),
    icon: way,
    keys: words.keys[way],
    disabled: !mover.can(by),
    act: () => mover.step(by),
  }));
}
