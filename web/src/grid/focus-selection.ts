/** Gives the focus to the selected cells. */
import type { ProjectModel } from '../project/model';
import type { Grid } from './grid';

/** Focus the cell from which the user selects. The whole range stays selected. */
export function focusSelection(grid: Pick<Grid, 'focus'> | null, { selection }: Pick<ProjectModel, 'selection'>): void {
  const selected = selection.peek();
  if (!grid || !selected) return;
  grid.focus(selected.anchor);
  selection.value = selected;
}
