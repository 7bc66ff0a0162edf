/** Draws the summary below a column, and figures like it. */
import { formatFigure } from './figures';
import type { Field } from '../fields/fields';
import type { Summary } from '../project/summaries';
import { reasonOf } from '../ui/refusal';
import type { SummaryFunction } from '../view/footers';
import { words } from '../words';

export function showSummary(element: HTMLElement, field: Field, fn: SummaryFunction | null, summary: Summary | undefined): void {
  element.classList.toggle('is-unset', fn === null);
  element.title = summary?.kind === 'failed' ? reasonOf(summary.error) : words.summary.of(field.name);
  showFigure(element, words.summary.functions[fn ?? 'add'], fn ? textOf(field, fn, summary) : '', summary?.kind === 'failed');
}

/** Draw a figure with its name, which gives way to it. */
export function showFigure(element: HTMLElement, name: string, text: string, isBad = false): void {
  const label = document.createElement('span');
  label.className = 'footer-name';
  label.textContent = name;
  const value = document.createElement('span');
  value.className = isBad ? 'bad' : '';
  value.textContent = text;
  element.replaceChildren(label, value);
}

function textOf(field: Field, fn: SummaryFunction, summary: Summary | undefined): string {
  if (!summary || summary.kind === 'loading') return '…';
  if (summary.kind === 'failed') return words.summary.refused;
  if (summary.value === null) return words.cell.empty;
  return formatFigure(field, fn, summary.value);
}
