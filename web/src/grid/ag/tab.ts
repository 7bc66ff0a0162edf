/** Where Tab leads: through the cells of issues, and to the label of each head of a group. Arrows lead to the other cells. */
import type { CellPosition, Column, GridApi, TabToNextCellParams } from 'ag-grid-community';
import { GUTTER, isField } from './special';

export function tabbed(
  { backwards, previousCellPosition: from, nextCellPosition: next }: Pick<TabToNextCellParams, 'backwards' | 'previousCellPosition' | 'nextCellPosition'>,
  api: Pick<GridApi, 'getAllDisplayedColumns' | 'getDisplayedRowCount'>,
  isHead: (row: number) => boolean,
): CellPosition | boolean {
  const leavesHead = !from.rowPinned && isHead(from.rowIndex);
  if (!leavesHead && (!next || next.rowPinned)) return next ?? false;
  const isAtGutter = next?.column.getColId() === GUTTER;
  if (!leavesHead && next && !isAtGutter && !isHead(next.rowIndex)) return next;
  // The gutter of an issue is passed. Backwards, it is the one of the row itself.
  const row = leavesHead || backwards ? from.rowIndex + (backwards ? -1 : 1) : (next?.rowIndex ?? -1);
  const columns = api.getAllDisplayedColumns();
  const fields = columns.filter((column) => isField(column.getColId()));
  const at = (column: Column | undefined, rowIndex: number, rowPinned: CellPosition['rowPinned']) => (column ? { column, rowIndex, rowPinned } : false);
  if (row < 0) return false;
  if (row >= api.getDisplayedRowCount()) return at(fields[0], 0, 'bottom');
  if (isHead(row)) return at(columns.find((column) => column.getColId() === GUTTER), row, null);
  return at(backwards ? fields.at(-1) : fields[0], row, null);
}
