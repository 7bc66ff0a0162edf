/** The palette of options and of rules: names of the API. Each has a look in light and in dark (styles/pills.css). */
import type { Option } from './fields';

export type Color = NonNullable<Option['color']>;

export const COLORS = ['gray', 'red', 'orange', 'yellow', 'green', 'teal', 'blue', 'purple', 'pink'] as const satisfies readonly Color[];
