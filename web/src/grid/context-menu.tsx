/** The menu of a cell, of a row, of the head of a group, or of a column. */
import type { Point } from '../place';
import { Menu, type MenuEntry } from '../ui/menu';
import { words } from '../words';
import type { Arranging } from './arranging';
import { cellEntries } from './cell-entries';
import { ColumnMenu } from './column-menu';
import { groupEntries, nameOfGroup } from './group-entries';
import type { Context, Grid } from './grid';
import { rowEntries } from './row-entries';
import type { MenuSources } from './menu-sources';
import { moveEntries } from './move-entries';

export interface OpenContext {
  readonly context: Context;
  readonly anchor: HTMLElement;
  readonly at: Point | null;
}

interface ContextMenuProps extends OpenContext {
  readonly sources: MenuSources;
  readonly grid: Grid | null;
  readonly arranging: Arranging;
  readonly onClose: () => void;
}

export function ContextMenu({ context, anchor, at, sources, grid, arranging, onClose }: ContextMenuProps) {
  if (context.kind === 'head') return <ColumnMenu sources={sources} field={context.field} anchor={anchor} at={at} grid={grid} onClose={onClose} />;
  const found = entriesOf(context, { sources, grid, arranging });
  return found && <Menu anchor={anchor} at={at} label={found.label} groups={found.groups} onClose={onClose} />;
}

interface Entries {
  readonly label: string;
  readonly groups: readonly (readonly MenuEntry[])[];
}

function entriesOf(context: Exclude<Context, { kind: 'head' }>, { sources, grid, arranging }: Pick<ContextMenuProps, 'sources' | 'grid' | 'arranging'>): Entries | null {
  const { model } = sources;
  const row = context.kind === 'cell' ? context.cell.row : context.row;
  const slot = model.rows.at(row);
  if (slot.kind === 'group') return { label: words.context.group(nameOfGroup(slot.group, model)), groups: groupEntries(slot.group, sources) };
  if (slot.kind !== 'issue') return null;
  const moves = moveEntries(arranging.mover(row));
  const field = context.kind === 'cell' ? model.fieldAt(context.cell.column) : undefined;
  if (context.kind !== 'cell' || !field) return { label: words.context.row(slot.row.num), groups: rowEntries(slot.row, sources, moves) };
  return { label: words.context.cell(field.name), groups: cellEntries({ cell: context.cell, row: slot.row, field }, sources, grid, moves) };
}
