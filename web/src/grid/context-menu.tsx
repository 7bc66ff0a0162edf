/** The menu of a cell, of a row, of the head of a group, or of a column. */
import type { Point } from '../place';
import type { ProjectModel } from '../project/model';
import type { Group } from '../rows/layout';
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

/** What a menu is about. Its row may move while the menu is open. */
export type Subject = { readonly kind: 'field'; readonly id: string } | { readonly kind: 'group'; readonly group: Group } | { readonly kind: 'issue'; readonly num: number };

export interface OpenContext {
  readonly context: Context;
  readonly subject: Subject;
  readonly anchor: HTMLElement;
  readonly at: Point | null;
}

interface ContextMenuProps extends OpenContext {
  readonly sources: MenuSources;
  readonly grid: Grid | null;
  readonly arranging: Arranging;
  readonly onClose: () => void;
}

export function ContextMenu({ context, subject, anchor, at, sources, grid, arranging, onClose }: ContextMenuProps) {
  if (subject.kind === 'field') return <ColumnMenu sources={sources} field={subject.id} anchor={anchor} at={at} grid={grid} onClose={onClose} />;
  const found = subject.kind === 'group' ? entriesOfGroup(subject.group, sources) : entriesOfIssue(subject.num, context, { sources, grid, arranging });
  return found && <Menu anchor={anchor} at={at} label={found.label} groups={found.groups} onClose={onClose} />;
}

interface Entries {
  readonly label: string;
  readonly groups: readonly (readonly MenuEntry[])[];
}

/** What a menu at a place of the grid is about; null: nothing, such as a row that is still loading. */
export function subjectOf(context: Context, { rows }: Pick<ProjectModel, 'rows'>): Subject | null {
  if (context.kind === 'head') return { kind: 'field', id: context.field };
  const slot = rows.at(context.kind === 'cell' ? context.cell.row : context.row);
  if (slot.kind === 'group') return { kind: 'group', group: slot.group };
  return slot.kind === 'issue' ? { kind: 'issue', num: slot.row.num } : null;
}

function entriesOfGroup(group: Group, sources: MenuSources): Entries {
  return { label: words.context.group(nameOfGroup(group, sources.model)), groups: groupEntries(group, sources) };
}

/** The entries for an issue where it is now; null if it is not held any more. */
function entriesOfIssue(num: number, context: Context, { sources, grid, arranging }: Pick<ContextMenuProps, 'sources' | 'grid' | 'arranging'>): Entries | null {
  const { model } = sources;
  const at = model.rows.indexOf(num);
  const row = model.rows.held(num);
  if (at === undefined || !row) return null;
  const moves = moveEntries(arranging.mover(at));
  const field = context.kind === 'cell' ? model.fieldAt(context.cell.column) : undefined;
  if (context.kind !== 'cell' || !field) return { label: words.context.row(num), groups: rowEntries(row, sources, moves) };
  const cell = { row: at, column: context.cell.column };
  return { label: words.context.cell(field.name), groups: cellEntries({ cell, row, field }, sources, grid, moves) };
}
