/** Icons as SVG elements: the look comes from the style sheet, and no font has to be loaded. */
import type { FieldType } from '../api/types';

const SVG = 'http://www.w3.org/2000/svg';

const TYPES: Readonly<Record<FieldType, string>> = {
  text: 'M3 4h10M8 4v9',
  number: 'M6 3 5 13M11 3l-1 10M3 6h10M3 10h10',
  date: 'M3 4.5h10v8.5H3zM3 7h10M6 3v3M10 3v3',
  datetime: 'M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3zM8 5v3l2 1.5',
  bool: 'M3 3h10v10H3zM5.5 8l2 2 3.5-4',
  enum: 'M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3zM6 7l2 2 2-2',
  multi_enum: 'M3 4h1M3 8h1M3 12h1M6 4h7M6 8h7M6 12h7',
  user: 'M8 3a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM3.5 13a4.5 4.5 0 0 1 9 0',
};

export const ICONS = {
  ...TYPES,
  up: 'M8 13V3.5M4.5 7 8 3.5 11.5 7',
  down: 'M8 3v9.5M4.5 9 8 12.5 11.5 9',
  menu: 'M4.5 6.5 8 10l3.5-3.5',
  close: 'M4 4l8 8M12 4l-8 8',
} as const;
export type Icon = keyof typeof ICONS;

export function icon(name: Icon): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', ICONS[name]);
  svg.append(path);
  return svg;
}
