/** Classes of the owner on elements of the library. All of them begin with `is-`; the library's own stay. */
import type { GridOwner } from '../grid';
import { paintGutter, paintGutterHead } from './gutter';
import { isField } from './special';

export function setClasses(element: Element, names: readonly string[]): void {
  // Hundreds of cells are drawn in a frame, and few of them have had any.
  if (element.className.includes('is-')) {
    for (const name of [...element.classList]) {
      if (name.startsWith('is-') && !names.includes(name)) element.classList.remove(name);
    }
  }
  if (names.length) element.classList.add(...names);
}

/** Give a cell its classes and its note. */
export function paintCell(cell: HTMLElement, owner: GridOwner, index: number, field: string): void {
  const classes = owner.cellClasses(index, field);
  setClasses(cell, classes);
  const isBusy = classes.includes('is-outdated');
  if (isBusy !== cell.hasAttribute('aria-busy')) cell.toggleAttribute('aria-busy');
  const note = owner.note(index, field);
  if (cell.title !== note) cell.title = note;
  if (note) cell.setAttribute('aria-invalid', 'true');
  else if (cell.hasAttribute('aria-invalid')) cell.removeAttribute('aria-invalid');
}

/** Give all rows and cells that are drawn the classes that the owner now has for them. */
export function paint(host: HTMLElement, owner: GridOwner): void {
  for (const row of host.querySelectorAll<HTMLElement>('.ag-row:not(.footer)')) {
    const index = Number(row.getAttribute('row-index'));
    setClasses(row, owner.rowClasses(index));
    paintGutter(row, owner, index);
    for (const cell of row.querySelectorAll<HTMLElement>('.ag-cell')) {
      const column = cell.getAttribute('col-id') ?? '';
      if (isField(column)) paintCell(cell, owner, index, column);
    }
  }
  paintGutterHead(host, owner);
  for (const head of host.querySelectorAll('.ag-header-cell')) setClasses(head, owner.isChosen(head.getAttribute('col-id') ?? '') ? ['is-chosen'] : []);
}
