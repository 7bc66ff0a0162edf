/**
 * The heads of groups that stay at the top while the rows of their groups scroll. They are inside the element that
 * scrolls, so that the browser scrolls them sideways, and the wheel and fingers work on them. They repeat heads that are
 * scrolled away, and are hidden from screen readers.
 */
import type { StickyHead } from '../../rows/sticky';
import type { GridColumn, GridOwner } from '../grid';
import { GUTTER_WIDTH } from './special';

export interface StickyOptions {
  /** The library's element with all rows and the heads of columns. */
  readonly area: HTMLElement;
  readonly owner: GridOwner;
  readonly columns: () => readonly GridColumn[];
  /** Pixels of a row. */
  readonly height: () => number;
  /** The first row in view, with a fraction. */
  readonly top: () => number;
  /** How many heads may be shown. */
  readonly most: () => number;
}

export interface Sticky {
  /** The view has scrolled. */
  readonly follow: () => void;
  /** The result of `drawHead` or `drawFigures`, the columns or the height has changed. */
  readonly redraw: () => void;
}

export function stickAt({ area, owner, columns, height, top, most }: StickyOptions): Sticky {
  const layer = document.createElement('div');
  layer.className = 'sticky-heads';
  layer.setAttribute('aria-hidden', 'true');
  // The focus stays in the grid.
  layer.addEventListener('mousedown', (event) => event.preventDefault());
  area.append(layer);
  let shown: readonly StickyHead[] = [];

  const place = (heads: readonly StickyHead[]) => {
    heads.forEach((head, at) => {
      const line = layer.children[at];
      if (line instanceof HTMLElement) line.style.top = `${head.top * height()}px`;
    });
  };
  const drawn = ({ group, row }: StickyHead, depth: number) => {
    const line = document.createElement('div');
    line.className = 'sticky-head';
    line.setAttribute('data-row', String(row));
    line.style.height = `${height()}px`;
    line.style.zIndex = String(-depth);
    const frozen = document.createElement('div');
    frozen.className = 'sticky-frozen';
    const label = document.createElement('div');
    owner.drawHead(row, label, GUTTER_WIDTH);
    let left = GUTTER_WIDTH;
    frozen.style.width = `${left}px`;
    for (const { field, width, frozen: isFrozen } of columns()) {
      if (group.figures.some((figure) => figure.field === field.id)) {
        const cell = document.createElement('div');
        cell.className = 'sticky-cell';
        cell.style.left = `${left}px`;
        cell.style.width = `${width}px`;
        const figures = document.createElement('span');
        owner.drawFigures(row, field.id, figures, GUTTER_WIDTH);
        cell.append(figures);
        (isFrozen === 'yes' ? frozen : line).append(cell);
      }
      left += width;
      if (isFrozen === 'yes') frozen.style.width = `${left}px`;
    }
    frozen.append(label);
    line.append(frozen);
    return line;
  };
  const draw = (heads: readonly StickyHead[]) => {
    layer.replaceChildren(...heads.map(drawn));
    place(heads);
    shown = heads;
  };
  const found = () => owner.stickyHeads(top(), most());
  return {
    follow: () => {
      const heads = found();
      if (heads.length !== shown.length || heads.some(({ group }, at) => group !== shown[at]?.group)) draw(heads);
      else if (heads.some((head, at) => head.top !== shown[at]?.top)) {
        place(heads);
        shown = heads;
      }
    },
    redraw: () => {
      const heads = found();
      if (heads.length || shown.length) draw(heads);
    },
  };
}
