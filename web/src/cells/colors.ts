/** The colours of options. A palette of twelve, each with enough contrast in light and dark (styles/pills.css). */
import type { Field, Option } from '../fields/fields';

export const PALETTE = [
  'blue',
  'green',
  'amber',
  'purple',
  'red',
  'teal',
  'pink',
  'lime',
  'indigo',
  'orange',
  'cyan',
  'grey',
] as const;
export type Color = (typeof PALETTE)[number];

/** The colour of a value of an option field: the option's own, or the one of its place. */
export function colorOf(field: Field, value: string): Color {
  const place = field.options.findIndex((option) => option.value === value);
  const option = field.options[place];
  return ownColor(option) ?? PALETTE[place % PALETTE.length] ?? 'grey';
}

function ownColor(option: Option | undefined): Color | undefined {
  return PALETTE.find((color) => color === option?.color);
}
