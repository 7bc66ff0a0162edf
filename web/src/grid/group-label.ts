/** The text of the value that the issues of a group share. */
import { formatPeriod, formatRange, formatValue } from '../cells/format';
import type { Field } from '../fields/fields';
import { isRange, type GroupValue } from '../fields/values';
import type { GroupKey } from '../view/view';
import { words } from '../words';

export function labelOf(value: GroupValue, field: Field, unit: GroupKey['unit']): string {
  if (value === null) return words.groups.empty;
  if (isRange(value)) return formatRange(value);
  return unit ? formatPeriod(unit, String(value)) : formatValue(field, value);
}
