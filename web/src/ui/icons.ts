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
  expand: 'M9.5 3H13v3.5M13 3 9 7M6.5 13H3V9.5M3 13l4-4',
  fields: 'M2.5 3.5h11v9h-11zM6.2 3.5v9M9.8 3.5v9',
  filter: 'M2.5 4h11M4.5 8h7M6.5 12h3',
  group: 'M3 3h4v4H3zM9 4h4M9 6h4M3 9.5h4v4H3zM9 10.5h4M9 12.5h4',
  sort: 'M5 3v10M2.5 10.5 5 13l2.5-2.5M9 4h5M9 8h3.5M9 12h2',
  color: 'M8 2.5s4 4.3 4 7a4 4 0 0 1-8 0c0-2.7 4-7 4-7z',
  height: 'M3 3h10M3 13h10M8 5v6M6 6.8 8 5l2 1.8M6 9.2 8 11l2-1.8',
  search: 'M7 3a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM10 10l3.5 3.5',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  grip: 'M6 4h.01M10 4h.01M6 8h.01M10 8h.01M6 12h.01M10 12h.01',
  plus: 'M8 3v10M3 8h10',
  minus: 'M3 8h10',
  pin: 'M6 2.5h4M7 2.5v4L5 9h6L9 6.5v-4M8 9v4.5',
  rail: 'M2.5 3.5h11v9h-11zM6 3.5v9',
  explain: 'M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3zM8 7.5v3M8 5.2v.1',
  jobs: 'M8 2.5v2M8 11.5v2M2.5 8h2M11.5 8h2M4.1 4.1l1.4 1.4M10.5 10.5l1.4 1.4M4.1 11.9l1.4-1.4M10.5 5.5l1.4-1.4',
  settings: 'M3 5h6M12 5h1M9 3.5v3h3v-3zM3 11h1M7 11h6M4 9.5v3h3v-3z',
  upload: 'M8 11V3.5M5 6.5l3-3 3 3M3 13h10',
  download: 'M8 3v7.5M5 7.5l3 3 3-3M3 13h10',
  trash: 'M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5l.5 8.5h6l.5-8.5',
  right: 'M6 4l4 4-4 4',
  left: 'M10 4 6 8l4 4',
  board: 'M2.5 3.5h3v9h-3zM6.5 3.5h3v6h-3zM10.5 3.5h3v4h-3z',
  close: 'M4 4l8 8M12 4l-8 8',
  undo: 'M6 3 3 6l3 3M3 6h6.5a3.5 3.5 0 0 1 0 7H6',
  redo: 'm10 3 3 3-3 3M13 6H6.5a3.5 3.5 0 0 0 0 7H10',
  check: 'm3.5 8.5 3 3 6-7',
  people: 'M6 4a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM2.5 13a3.5 3.5 0 0 1 7 0M10.5 4.2a2 2 0 0 1 0 3.6M11 9.8a3.5 3.5 0 0 1 2.5 3.2',
  home: 'M2.5 8 8 3l5.5 5M4.5 7v6h7V7',
  link: 'M6.5 9.5l3-3M7 5l1.5-1.5a2.5 2.5 0 0 1 3.5 3.5L10.5 8.5M9 11l-1.5 1.5A2.5 2.5 0 0 1 4 9l1.5-1.5',
  copy: 'M5.5 5.5h7.5v7.5H5.5zM3 10.5V3h7.5',
  pencil: 'M3 13l.7-2.7L10.5 3.5l2 2-6.8 6.8zM9 5l2 2',
  switch: 'M5 6.5 8 3.5l3 3M5 9.5l3 3 3-3',
  keys: 'M2.5 4h11v8h-11zM5 6.5h.5M8 6.5h.5M11 6.5h.5M5.5 9.5h5',
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
