/** The menu of the head of a group. */
import type { ProjectModel } from '../project/model';
import { allClosed, valuesIn } from '../rows/groups';
import type { Group } from '../rows/layout';
import type { MenuEntry } from '../ui/menu';
import { narrowedTo } from '../view/filters';
import { words } from '../words';
import { labelOf } from './group-label';
import type { MenuSources } from './menu-sources';

export function groupEntries(group: Group, { model, onAdd }: MenuSources): readonly (readonly MenuEntry[])[] {
  const { context, groups } = words;
  const close = (closed: readonly string[]) => () => model.change({ closed }, { replace: true });
  const { filter } = group;
  const values = valuesFor(group, model);
  return [
    [
      {
        text: group.open ? context.closeGroup : context.openGroup,
        icon: group.open ? 'menu' : 'right',
        keys: words.keys.edit,
        act: () => model.toggleGroup(group.key),
      },
      { text: groups.close, act: close(allClosed(model.groups.levels.peek())) },
      { text: groups.open, act: close([]) },
    ],
    [
      {
        text: context.narrow,
        icon: 'filter',
        disabled: filter === null,
        // The filter of the group includes the searched words.
        act: () => filter && model.change({ filter: narrowedTo(model.filter, filter), search: '' }),
      },
      ...(model.canEdit
        ? [{ text: context.newInGroup, icon: 'plus' as const, disabled: values === null, act: () => values && onAdd(values) }]
        : []),
    ],
  ];
}

/** The values of a new issue in a group; null if none are certain. */
export function valuesFor(group: Group, model: ProjectModel): ReturnType<typeof valuesIn> {
  return valuesIn(group, model.view.peek().groups, model.fields);
}

export function nameOfGroup({ field: id, value, depth }: Group, model: ProjectModel): string {
  const field = model.field(id);
  return field ? labelOf(value, field, model.view.peek().groups[depth]?.unit ?? null) : '';
}
