/** The summaries that a column may have below it. Pure. */
import type { FieldType } from '../api/types';

const SUMMARY_FUNCTIONS = ['count', 'empty', 'distinct', 'sum', 'avg', 'median', 'min', 'max'] as const;
export type SummaryFunction = (typeof SUMMARY_FUNCTIONS)[number];

export function functionsOf(type: FieldType): readonly SummaryFunction[] {
  switch (type) {
    case 'number':
      return SUMMARY_FUNCTIONS;
    case 'multi_enum':
      return ['count', 'empty', 'distinct'];
    case 'text':
    case 'date':
    case 'datetime':
    case 'bool':
    case 'enum':
    case 'user':
      return ['count', 'empty', 'distinct', 'min', 'max'];
  }
}

/** Whether groups can have the order of a function. The API computes the others only for the groups that it returns. */
export function canOrder(fn: SummaryFunction): boolean {
  return fn !== 'median' && fn !== 'distinct';
}

export function summaryFunction(name: string): SummaryFunction | undefined {
  return SUMMARY_FUNCTIONS.find((one) => one === name);
}

/** The summaries with another one below a column, or none there. */
export function withFooter(footers: Readonly<Record<string, string>>, field: string, fn: SummaryFunction | null): Readonly<Record<string, string>> {
  const others = Object.fromEntries(Object.entries(footers).filter(([id]) => id !== field));
  return fn ? { ...others, [field]: fn } : others;
}
