/** Moves items of lists. Pure. */

/** The list with this item before the one that `isBefore` finds, or at the end. */
export function movedBefore<Item>(items: readonly Item[], item: Item, isBefore: (one: Item) => boolean): readonly Item[] {
  const others = items.filter((one) => one !== item);
  const found = others.findIndex(isBefore);
  const at = found < 0 ? others.length : found;
  return [...others.slice(0, at), item, ...others.slice(at)];
}
