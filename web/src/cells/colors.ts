/** The colours of options. Each name of the API has a look in light and in dark (styles/pills.css). */
import type { Field } from '../fields/fields';
import type { Color } from '../fields/palette';

/** Colours for options that have none of their own, in an order that keeps neighbours apart. */
const BY_PLACE: readonly Color[] = ['blue', 'green', 'yellow', 'purple', 'red', 'teal', 'pink', 'orange', 'gray'];

/** The colour of a value of an option field: the option's own, or the one of its place. */
export function colorOf(field: Field, value: string): Color {
  const place = field.options.findIndex((option) => option.value === value);
  return field.options[place]?.color ?? colorOfPlace(place);
}

/** The default color of the option at a place. */
export function colorOfPlace(place: number): Color {
  return BY_PLACE[place % BY_PLACE.length] ?? 'gray';
}
