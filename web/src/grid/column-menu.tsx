/** The menu of a column. */
import { useEffect, useState } from 'preact/hooks';
import type { SortKey } from '../api/types';
import type { Field } from '../fields/fields';
import { hasHistogram, Histogram } from '../project/histogram';
import type { ProjectModel } from '../project/model';
import type { BulkKind } from '../project/panels';
import { permits } from '../auth/session';
import type { Point } from '../place';
import { Menu, type MenuEntry, type MenuProps } from '../ui/menu';
import { fits, frozen, hidden, inScreenOrder, moved } from '../view/columns';
import { narrowedTo } from '../view/filters';
import { groupKeyOf, MAX_GROUPS, MAX_SORT_KEYS, withSortKey, type Column } from '../view/view';
import { words } from '../words';
import type { Grid } from './grid';
import { announcementOf, HistogramBars } from './histogram';
import type { MenuSources } from './menu-sources';

interface ColumnMenuProps {
  readonly sources: MenuSources;
  readonly field: string;
  readonly anchor: HTMLElement;
  readonly at: Point | null;
  readonly grid: Grid | null;
  readonly onClose: () => void;
}

export function ColumnMenu({ sources, field: id, anchor, at, grid, onClose }: ColumnMenuProps) {
  const { model } = sources;
  const field = model.field(id);
  const menu = {
    anchor,
    at,
    label: words.header.menu(field?.name ?? id),
    groups: [sortEntries(model, id), narrowEntries(model, id), placeEntries(sources, id, grid), definitionEntries(model, id)],
    onClose,
  };
  return field && hasHistogram(field) ? <MenuWithHistogram model={model} field={field} menu={menu} /> : <Menu {...menu} />;
}

interface MenuWithHistogramProps {
  readonly model: ProjectModel;
  readonly field: Field;
  readonly menu: Omit<MenuProps, 'end'>;
}

function MenuWithHistogram({ model, field, menu }: MenuWithHistogramProps) {
  const [under] = useState(model.filter);
  const [histogram] = useState(() => new Histogram(model.api, model.project.id, field, under));
  useEffect(() => {
    void histogram.load();
    return () => histogram.stop();
  }, [histogram]);
  const state = histogram.state.value;
  return (
    <>
      <Menu
        {...menu}
        end={{
          label: words.histogram.of(field.name),
          content: (choose) => (
            <HistogramBars
              field={field}
              state={state}
              // The filter includes the present one, with the search words.
              onChoose={({ filter }) => choose(() => filter && model.change({ filter: narrowedTo(under, filter), search: '' }))}
            />
          ),
        }}
      />
      <p class="visually-hidden" role="status">
        {announcementOf(state)}
      </p>
    </>
  );
}

function sortEntries(model: ProjectModel, field: string): readonly MenuEntry[] {
  const { sort } = model.view.value;
  const present = sort.find((key) => key.field === field);
  const key: SortKey = present ?? { field, direction: 'asc', nulls: 'last' };
  const by = (change: Partial<SortKey>) => () => model.change({ sort: withSortKey(sort, { ...key, ...change }) });
  return [
    { text: words.menu.ascending, icon: 'up', chosen: present?.direction === 'asc', act: by({ direction: 'asc' }) },
    { text: words.menu.descending, icon: 'down', chosen: present?.direction === 'desc', act: by({ direction: 'desc' }) },
    ...(present
      ? [
          { text: words.menu.nullsFirst, chosen: key.nulls === 'first', act: by({ nulls: 'first' }) },
          { text: words.menu.nullsLast, chosen: key.nulls === 'last', act: by({ nulls: 'last' }) },
          { text: words.menu.unsorted, act: () => model.change({ sort: sort.filter((one) => one !== present) }) },
        ]
      : []),
    ...(!present && sort.length > 0 && sort.length < MAX_SORT_KEYS
      ? [{ text: words.menu.addKey, act: () => model.change({ sort: [...sort, key] }) }]
      : []),
  ];
}

function narrowEntries(model: ProjectModel, id: string): readonly MenuEntry[] {
  const field = model.field(id);
  const { groups } = model.view.value;
  const bulk = (edit: BulkKind) => () => model.panels.open({ kind: 'bulk', scope: 'all', edit, field: id });
  return [
    { text: words.menu.filter, icon: 'filter', act: () => (model.panels.filtering.value = id) },
    {
      text: words.menu.group,
      icon: 'group',
      disabled: !field || groups.length === MAX_GROUPS || groups.some((group) => group.field === id),
      act: () => field && model.change({ groups: [...groups, groupKeyOf(field)] }),
    },
    ...(model.canEdit && field?.editable ? [{ text: words.jobs.inAll, icon: 'pencil' as const, act: bulk('set') }] : []),
    ...(model.canEdit ? [{ text: words.bulk.copyTo, icon: 'copy' as const, act: bulk('copy') }] : []),
  ];
}

/** What administrators do to the field itself. Nobody changes or deletes the fields that every issue has. */
function definitionEntries(model: ProjectModel, id: string): readonly MenuEntry[] {
  const { panels } = model;
  if (!permits(model.role, 'admin')) return [];
  const insert = (side: 'before' | 'after') => () => panels.openSettings({ kind: 'new', beside: { field: id, side }, like: null });
  const open = (act: 'edit' | 'delete') => () => panels.openSettings({ kind: 'field', field: id, act });
  return [
    { text: words.menu.insertBefore, icon: 'plus', act: insert('before') },
    { text: words.menu.insertAfter, act: insert('after') },
    ...(model.field(id)?.custom
      ? [
          { text: words.menu.editField, icon: 'settings' as const, act: open('edit') },
          { text: words.menu.duplicateField, act: () => panels.openSettings({ kind: 'new', beside: { field: id, side: 'after' }, like: id }) },
          { text: words.menu.deleteField, icon: 'trash' as const, act: open('delete') },
        ]
      : []),
  ];
}

function placeEntries({ model, actions }: MenuSources, field: string, grid: Grid | null): readonly MenuEntry[] {
  const columns = model.columns.value;
  const at = columns.findIndex((column) => column.field === field);
  const isFrozen = columns[at]?.frozen ?? false;
  const show = (next: readonly Column[]) => () => model.change({ columns: inScreenOrder(next) }, { replace: true });
  return [
    {
      text: isFrozen ? words.menu.unfreeze : words.menu.freeze,
      icon: 'pin',
      act: () => {
        const next = frozen(columns, field, !isFrozen);
        if (!isFrozen && !fits(next, field, grid?.width() ?? Infinity)) actions.outcome.value = words.actions.notFrozen(model.field(field)?.name ?? field);
        show(next)();
      },
    },
    { text: words.menu.fit, act: () => grid?.fit(field) },
    { text: words.menu.left, disabled: at <= 0, act: show(moved(columns, field, columns[at - 1]?.field ?? null)) },
    { text: words.menu.right, disabled: at === columns.length - 1, act: show(moved(columns, field, columns[at + 2]?.field ?? null)) },
    { text: words.menu.hide, disabled: columns.length === 1, act: show(hidden(columns, field)) },
  ];
}
