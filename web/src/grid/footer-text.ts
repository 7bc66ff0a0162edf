/** Draws the summary below a column. */
import { formatFigure } from './figures';
import type { Field } from '../fields/fields';
import type { Summary } from '../project/summaries';
import { reasonOf } from '../ui/refusal';
import type { SummaryFunction } from '../view/footers';
import { words } from '../words';

export function showSummary(element: HTMLElement, field: Field, fn: SummaryFunction | null, summary: Summary | undefined): void {
  element.classList.toggle('is-unset', fn === null);
  element.title = summary?.kind === 'failed' ? reasonOf(summary.error) : words.summary.of(field.name);
  const name = document.createElement('span');
  name.className = 'footer-name';
  name.textContent = words.summary.functions[fn ?? 'add'];
  const value = document.createElement('span');
  value.className = summary?.kind === 'failed' ? 'bad' : '';
  value.textContent = fn ? textOf(field, fn, summary) : '';
  element.replaceChildren(name, value);
}

function textOf(field: Field, fn: SummaryFunction, summary: Summary | undefined): string {
  if (!summary || summary.kind === 'loading') return '…';
  if (summary.kind === 'failed') return words.summary.refused;
  if (summary.value === null) return words.cell.empty;
  return formatFigure(field, fn, summary.value);
}
