/** Handles keys at a cell that is not being edited. The library handles the others: arrows, Tab, Enter and typing. */
import type { Actions } from '../project/actions';
import type { ProjectModel } from '../project/model';
import { at, everything, extended, wholeColumns, wholeRows, type Cell, type Step } from '../selection/range';
import { shortcutOf } from '../ui/keys';
import type { Grid } from './grid';

const STEPS: Readonly<Record<string, Step>> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right',
};

export interface KeyTargets {
  readonly model: ProjectModel;
  readonly actions: Actions;
  readonly grid: Grid;
  /** Open the menu of a column. */
  readonly openMenu: (column: number) => void;
  /** Open the menu of a cell. */
  readonly openContext: (cell: Cell) => void;
  /** Check the box of a row, or take the check away. */
  readonly check: (row: number) => void;
  /** Move a row by one, with the other selected or checked ones; null if they have no manual order. */
  readonly moveRow: ((row: number, by: -1 | 1) => void) | null;
}

/** Handle a key. Returns whether it was taken. */
export function pressed(event: KeyboardEvent, { model, actions, grid, openMenu, openContext, check, moveRow }: KeyTargets): boolean {
  const selection = model.selection.peek();
  if (!selection) return false;
  const control = event.ctrlKey || event.metaKey;
  const take = (act: () => unknown) => {
    event.preventDefault();
    act();
    return true;
  };
  const select = (next: typeof selection) => {
    model.selection.value = next;
    grid.reveal(next.reach);
  };
  const step = STEPS[event.key];
  if (step && event.shiftKey && !event.altKey) return take(() => select(extended(selection, step, model.size, control)));
  if (moveRow && event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) return take(() => moveRow(selection.anchor.row, event.key === 'ArrowUp' ? -1 : 1));
  if (event.key === 'ArrowDown' && event.altKey) return take(() => openMenu(selection.anchor.column));
  if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) return take(() => openContext(selection.anchor));
  if (event.key === 'F8' && event.shiftKey) return take(() => model.addRange());
  const key = shortcutOf(event);
  if (control) {
    if (key === ' ' && event.shiftKey) return take(() => check(selection.anchor.row));
    if (key === ' ') return take(() => (model.selection.value = wholeColumns(selection, model.size)));
    if (key === 'a') return take(() => (model.selection.value = everything(model.size)));
    if (key === 'c') return take(() => void actions.copy());
    if (key === 'x') return take(() => void actions.cut());
    // The browser then provides the text to paste.
    if (key === 'v') return true;
    if (key === 'd') return take(() => void actions.fillDown());
    // The page itself undoes, finds and shows the help, wherever the focus is.
    if (key === 'z' || key === 'y' || key === 'f' || key === '/') return true;
    if (key === 'home') return take(() => grid.focus({ row: 0, column: 0 }));
    if (key === 'end') return take(() => grid.focus({ row: model.size.rows - 1, column: model.size.columns - 1 }));
    return false;
  }
  switch (event.key) {
    case 'Delete':
    case 'Backspace':
      return take(() => void actions.clear());
    case ' ':
      return take(() => (event.shiftKey ? (model.selection.value = wholeRows(selection, model.size)) : actions.toggle() || model.openIssue()));
    case 'Enter':
      return (actions.toggle() || actions.refuseEdit()) && take(() => undefined);
    case 'Escape':
      return take(() => {
        model.selection.value = at(selection.anchor);
      });
    case 'Home':
      return take(() => grid.focus({ row: selection.anchor.row, column: 0 }));
    case 'End':
      return take(() => grid.focus({ row: selection.anchor.row, column: model.size.columns - 1 }));
    default:
      return (event.key === 'F2' || (event.key.length === 1 && !event.altKey)) && actions.refuseEdit() && take(() => undefined);
  }
}
