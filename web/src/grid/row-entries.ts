/** The menu of a row, which is about all checked issues if its own is checked. */
import { isDraft, type Row } from '../fields/values';
import { MAX_DUPLICATES } from '../project/actions';
import type { MenuEntry } from '../ui/menu';
import { words } from '../words';
import { panelEntries } from './cell-entries';
import type { MenuSources } from './menu-sources';

/** `moves`: the entries that move the row. */
export function rowEntries({ num }: Row, { model, actions, onAdd }: MenuSources, moves: readonly MenuEntry[]): readonly (readonly MenuEntry[])[] {
  const { context, checked, keys } = words;
  if (isDraft(num)) return [[{ text: context.delete, icon: 'trash', act: () => void actions.removeIssues([num]) }]];
  const isChecked = model.checked.has(num);
  const nums = isChecked ? model.checkedNums : [num];
  const count = nums.length;
  const several = count > 1;
  const box: MenuEntry = { text: isChecked ? context.uncheck : context.check, icon: 'check', keys: keys.check, act: () => model.checked.toggle(num) };
  const copy: MenuEntry = { text: several ? checked.copy : context.copyRow, act: () => void actions.copyIssues(nums) };
  if (!model.canEdit) return [panelEntries(num, model, false), [box, copy]];
  return [
    panelEntries(num, model, false),
    [box, copy, { text: context.newRow, icon: 'plus', act: () => onAdd() }],
    moves,
    [
      {
        text: several ? checked.duplicate(count) : context.duplicate,
        disabled: count > MAX_DUPLICATES,
        act: () => void actions.duplicate(nums),
      },
      ...(several
        ? [{ text: checked.change(count), icon: 'pencil' as const, act: () => model.panels.open({ kind: 'bulk', scope: 'checked', edit: 'set', field: null }) }]
        : []),
      { text: several ? checked.delete(count) : context.delete, icon: 'trash', act: () => void actions.removeIssues(nums) },
    ],
  ];
}
