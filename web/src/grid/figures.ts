/** The text of a function of a field: in the field's format, where the function's value is one of the field. */
import { isExact } from '../api/json';
import { formatAverage, formatValue } from '../cells/format';
import type { Field } from '../fields/fields';
import type { CellValue } from '../fields/values';
import type { SummaryFunction } from '../view/footers';

export function formatFigure(field: Field, fn: SummaryFunction, value: CellValue): string {
  if (fn === 'count' || fn === 'empty' || fn === 'distinct') return formatValue({ type: 'number' }, value);
  // A sum of ratings is no rating, and an average has no end of digits.
  const isOwn = fn === 'min' || fn === 'max' || (field.format !== null && field.format.as !== 'rating' && field.format.as !== 'progress');
  if (isOwn && (fn !== 'avg' || field.format?.decimals !== undefined || field.format?.as === 'currency')) return formatValue(field, value);
  return fn === 'avg' && isExact(value) ? formatAverage(value) : formatValue({ type: field.type }, value);
}
