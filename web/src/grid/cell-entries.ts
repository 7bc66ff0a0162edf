/** The menu of a cell, which is about the selected range if the cell is in it. */
import { formatValue } from '../cells/format';
import type { Field } from '../fields/fields';
import { valueOf, type Row } from '../fields/values';
import { issuesSelected } from '../project/selected';
import type { Cell } from '../selection/range';
import type { MenuEntry } from '../ui/menu';
import { conditionsIn, MAX_CONDITIONS, withValue } from '../view/filters';
import { words } from '../words';
import type { Grid } from './grid';
import type { MenuSources } from './menu-sources';

/** Characters of a value in the name of an entry. */
const SHOWN = 24;

interface CellOf {
  readonly cell: Cell;
  readonly row: Row;
  readonly field: Field;
}

/** `moves`: the entries that move the row. */
export function cellEntries(of: CellOf, sources: MenuSources, grid: Grid | null, moves: readonly MenuEntry[]): readonly (readonly MenuEntry[])[] {
  return [valueEntries(of, sources, grid), clipboardEntries(sources), moves, ...issueEntries(of, sources)];
}

function valueEntries({ cell, field }: CellOf, { model, actions }: MenuSources, grid: Grid | null): readonly MenuEntry[] {
  if (!model.canEdit || !field.editable) return [];
  return [
    field.type === 'bool'
      ? { text: words.context.toggle, icon: 'check', keys: words.keys.toggle, act: () => actions.toggle(cell) }
      : { text: words.context.edit, icon: 'pencil', keys: words.keys.edit, act: () => grid?.edit(() => cell) },
  ];
}

function clipboardEntries({ model, actions }: MenuSources): readonly MenuEntry[] {
  const { context, keys } = words;
  const isTall = model.ranges.some(({ top, bottom }) => bottom > top);
  return [
    ...(model.canEdit ? [{ text: context.cut, keys: keys.cut, act: () => void actions.cut() }] : []),
    { text: context.copy, keys: keys.copy, act: () => void actions.copy() },
    ...(model.canEdit
      ? [
          { text: context.paste, keys: keys.paste, act: () => void actions.pasteHere() },
          ...(isTall ? [{ text: context.fillDown, keys: keys.fillDown, act: () => void actions.fillDown() }] : []),
          { text: context.clear, keys: keys.clear, act: () => void actions.clear() },
        ]
      : []),
  ];
}

function issueEntries({ row, field }: CellOf, { model }: MenuSources): readonly (readonly MenuEntry[])[] {
  const { panels } = model;
  const { filter } = model.view.value;
  const value = valueOf(row, field.id);
  const selected = issuesSelected(model);
  return [
    [
      {
        text: words.context.filterBy(value === null ? words.cell.empty : shortened(formatValue(field, value))),
        icon: 'filter',
        disabled: conditionsIn(filter) >= MAX_CONDITIONS,
        act: () => model.change({ filter: withValue(filter, field.id, value) }),
      },
      ...(model.canEdit && selected > 0
        ? [
            {
              text: words.jobs.changeSelected(selected),
              icon: 'pencil' as const,
              act: () => panels.open({ kind: 'bulk', scope: 'rows', edit: 'set', field: field.editable ? field.id : null }),
            },
          ]
        : []),
    ],
    panelEntries(row.num, model, field.type !== 'bool'),
  ];
}

/** The entries that open the panel of an issue. `byKey`: Space in the cell does so too. */
export function panelEntries(num: number, { panels }: MenuSources['model'], byKey: boolean): readonly MenuEntry[] {
  const open = (part?: 'history' | 'comments') => () => panels.open({ kind: 'issue', num, ...(part && { part }) });
  return [
    { text: words.toolbar.openIssue, icon: 'right', ...(byKey && { keys: words.keys.open }), act: open() },
    { text: words.context.history, act: open('history') },
    { text: words.context.comments, act: open('comments') },
  ];
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > SHOWN ? `“${line.slice(0, SHOWN)}…”` : `“${line}”`;
}
