/** The texts of the formula editor, which load with it. */
import { words } from '../../../words';

const numbers = new Intl.NumberFormat();

export const formulaWords = {
  label: words.computed.title,
  hint: 'Fields in braces, such as {Unit price}. Ctrl+Space lists fields and functions.',
  offers: 'Fields and functions',
  offered: (offers: number) => (offers === 1 ? '1 entry. Enter chooses it.' : `${numbers.format(offers)} entries. Arrow keys and Enter choose one.`),
  signature: (name: string, parameters: string) => `${name}(${parameters})`,
  explained: (signature: string, summary: string) => `${signature}: ${summary}`,
  checking: 'Checking …',
  empty: 'Enter a formula. Its result decides the type of the field.',
  result: (type: string) => `Result: ${type}`,
  /** The place of an error, in words. */
  at: (part: string, message: string) => (part ? `At ${part}: ${message}` : `At the end: ${message}`),
  unchecked: (why: string) => `The formula was not checked. ${why}`,
  values: 'First values',
  noValue: words.cell.empty,
  issue: (num: number, name: string) => `${numbers.format(num)} ${name}`,
  printed: (text: string) => `Saved as: ${text}`,
  building: 'Until this is done, all users see the former values.',
  typeFixed: 'The type is fixed. For another type, add another formula.',
} as const;
