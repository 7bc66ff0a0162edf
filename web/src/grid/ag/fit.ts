/** The width that the drawn content of a column needs. */
import { fitLater, unfit } from './clipped';

/** Pixels beside the content of a cell, and beside the name in a head: its icon, the gaps, and the sort arrow. */
const BESIDE_CELL = 20;
const BESIDE_NAME = 66;

/** Pixels; 0 if nothing of the column is drawn. */
export function contentWidth(host: Element, column: string): number {
  const cells = [...host.querySelectorAll<HTMLElement>(`.ag-cell[col-id="${column}"] > .cell, .ag-cell[col-id="${column}"] .ag-cell-value > .cell`)];
  for (const cell of cells) unfit(cell);
  const name = host.querySelector(`.ag-header-cell[col-id="${column}"] .head-name`);
  const widths = [...cells.map((cell) => widthIn(cell) + BESIDE_CELL), ...(name ? [widthIn(name) + BESIDE_NAME] : [])];
  for (const cell of cells) fitLater(cell);
  return Math.ceil(Math.max(0, ...widths));
}

/** The width of what an element contains, also of what it cuts off. */
function widthIn(element: Element): number {
  const content = document.createRange();
  content.selectNodeContents(element);
  return content.getBoundingClientRect().width;
}
