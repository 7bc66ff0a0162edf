/** What Shift and Ctrl mean for a selection. */
import type { Choosing } from '../../selection/range';
import { IS_MAC } from '../../shortcuts';

type Keys = Pick<MouseEvent, 'ctrlKey' | 'metaKey' | 'shiftKey'>;

/** Whether what is pressed is added to the selection. On a Mac, Ctrl and a click open the menu. */
export function isAdding({ ctrlKey, metaKey }: Keys): boolean {
  return metaKey || (ctrlKey && !IS_MAC);
}

export function choosingBy(event: Keys): Choosing {
  return event.shiftKey ? 'extend' : isAdding(event) ? 'add' : 'only';
}
