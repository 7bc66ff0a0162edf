/** The grid on AG Grid Community. Its infinite row model knows the number of rows, but not their content. */
import {
  CellStyleModule,
  ColumnApiModule,
  createGrid,
  CustomEditorModule,
  EventApiModule,
  InfiniteRowModelModule,
  ModuleRegistry,
  PinnedRowModule,
  RenderApiModule,
  RowApiModule,
  RowStyleModule,
  ScrollApiModule,
  type ColDef,
  type GridApi,
  type IRowNode,
} from 'ag-grid-community';
import { valueOf } from '../../fields/values';
import type { Cell } from '../../selection/range';
import type { RowHeight } from '../../view/view';
import type { Grid, GridColumn, GridOwner } from '../grid';
import { IssueCell, type CellParams } from './cell';
import { paint } from './classes';
import { CellEditing, type Edited } from './editor';
import { followFocus } from './focus';
import { FooterCell } from './footer';
import { ColumnHeader, type HeaderParams } from './header';
import { followPointer } from './pointer';
import { keepTogether } from './scroll-bar';
import { keepWheelExact, ratioOf } from './wheel';
import { WideRow } from './wide';

ModuleRegistry.registerModules([
  CellStyleModule,
  ColumnApiModule,
  CustomEditorModule,
  EventApiModule,
  InfiniteRowModelModule,
  PinnedRowModule,
  RenderApiModule,
  RowApiModule,
  RowStyleModule,
  ScrollApiModule,
]);

const HEADER_HEIGHT = 34;
/** Rows of one block of the row model. A block holds only the numbers of its rows. */
const BLOCK = 500;

/** How many frames an editor waits for its row. */
const FRAMES_TO_WAIT = 60;

/** All that the library holds of a row. */
const PLACEHOLDER = { here: true };
type Placeholder = typeof PLACEHOLDER;

export interface MountOptions {
  readonly label: string;
  readonly height: RowHeight;
  readonly length: number;
  readonly columns: readonly GridColumn[];
}

export function mountGrid(host: HTMLElement, owner: GridOwner, options: MountOptions): Grid {
  let { length, height, columns } = options;
  const api: GridApi<Placeholder> = createGrid<Placeholder>(host, {
    theme: 'legacy',
    rowModelType: 'infinite',
    rowHeight: height,
    headerHeight: HEADER_HEIGHT,
    rowBuffer: 8,
    cacheBlockSize: BLOCK,
    maxBlocksInCache: 6,
    infiniteInitialRowCount: length,
    datasource: {
      getRows: (block) =>
        block.successCallback(new Array(Math.max(0, Math.min(block.endRow, length) - block.startRow)).fill(PLACEHOLDER), length),
    },
    columnDefs: definitions(columns, owner),
    defaultColDef: {
      sortable: false,
      suppressHeaderMenuButton: true,
      suppressKeyboardEvent: ({ event, editing, node, column }) => {
        if (node.rowPinned) return footerKey(event, column.getColId(), owner);
        if (!editing) return owner.key(event);
        if (event.key === 'Escape') owner.commit(node.rowIndex ?? -1, column.getColId(), null);
        return leftByKey(event, api);
      },
    },
    suppressDragLeaveHidesColumns: true,
    suppressOverlays: ['noRows'], // the page has words of its own for a grid without rows
    animateRows: false,
    // Cells are drawn with their rows. The library would draw them in frames of its own, and rows stayed blank when it
    // waited too long.
    suppressAnimationFrame: true,
    suppressRowTransform: true,
    stopEditingWhenCellsLoseFocus: true,
    enterNavigatesVerticallyAfterEdit: true,
    pinnedBottomRowData: [PLACEHOLDER],
    getRowClass: ({ node }) => (node.rowPinned ? ['footer'] : [...owner.rowClasses(node.rowIndex ?? -1)]),
    isFullWidthRow: ({ rowNode }) => !rowNode.rowPinned && owner.at(rowNode.rowIndex ?? -1).kind === 'group',
    fullWidthCellRenderer: WideRow,
    fullWidthCellRendererParams: { owner },
    onViewportChanged: ({ firstRow, lastRow }) => owner.show({ first: firstRow, last: lastRow }),
    onColumnResized: ({ finished, source, column }) => {
      if (finished && column && source === 'uiColumnResized') owner.resize(column.getColId(), column.getActualWidth());
    },
    onColumnMoved: ({ finished, source, column }) => {
      if (!finished || !column || source !== 'uiColumnMoved') return;
      const order = api.getAllDisplayedColumns().map((one) => one.getColId());
      owner.move(column.getColId(), order[order.indexOf(column.getColId()) + 1] ?? null);
    },
    onCellClicked: ({ rowPinned, column, event }) => {
      const cell = event?.target instanceof Element ? event.target.closest<HTMLElement>('.ag-cell') : null;
      if (rowPinned && cell) owner.openFooter(column.getColId(), cell);
      const isBox = event?.target instanceof Element && event.target.closest('.tick') !== null;
      const isPlain = event instanceof MouseEvent && !event.shiftKey && !event.ctrlKey && !event.metaKey;
      const at = cell && cellOf(cell);
      if (!rowPinned && isBox && isPlain && at) owner.clicked(at);
    },
  });
  api.setGridAriaProperty('label', options.label);

  const columnOf = (field: string) => columns.findIndex((column) => column.field.id === field);
  const fieldAt = (column: number) => columns[column]?.field.id ?? '';
  const cellOf = (element: Element): Cell | null => {
    const line = element.closest('.ag-row');
    const row = Number(line?.getAttribute('row-index') ?? NaN);
    // The head of a group spans all columns.
    const column = line?.classList.contains('ag-full-width-row') ? 0 : columnOf(element.closest('.ag-cell')?.getAttribute('col-id') ?? '');
    return Number.isNaN(row) || column < 0 ? null : { row, column };
  };
  const viewport = host.querySelector<HTMLElement>('.ag-grid-viewport');
  const bar = host.querySelector<HTMLElement>('.ag-body-vertical-scroll-viewport');
  if (!viewport || !bar) throw new Error('The grid has no viewport, or no scroll bar.');
  const ratio = () => ratioOf(length, height, viewport.clientHeight - HEADER_HEIGHT - height, viewport.scrollHeight - HEADER_HEIGHT - height);
  const focus = followFocus(host, cellOf, owner);
  const stopping = [
    focus.stop,
    keepWheelExact(viewport, ratio),
    keepTogether(bar, viewport),
    followPointer({
      viewport,
      owner,
      footer: () => height,
      cellOf,
      pressed: focus.report,
      tapped: (cell) => {
        focus.report(cell);
        api.setFocusedCell(cell.row, fieldAt(cell.column));
      },
      hold: (cell) => {
        api.stopEditing();
        focus.know(cell);
        grid.elementOf(cell)?.focus({ preventScroll: true });
      },
    }),
  ];

  const grid: Grid = {
    setColumns: (next) => {
      columns = next;
      api.setGridOption('columnDefs', definitions(columns, owner));
      paint(host, owner);
    },
    setHeight: (next) => {
      if (next === height) return;
      height = next;
      api.setGridOption('rowHeight', next);
    },
    setLength: (next) => {
      length = next;
      api.setRowCount(next, true);
      api.refreshInfiniteCache();
    },
    refresh: ({ whole } = { whole: false }) => {
      if (whole) api.redrawRows();
      else api.refreshCells();
      paint(host, owner);
    },
    refreshFooter: () => {
      api.forEachPinnedRow('bottom', (footer: IRowNode<Placeholder>) => api.refreshCells({ rowNodes: [footer], force: true }));
    },
    repaint: () => paint(host, owner),
    inView: () => {
      const { top, bottom } = viewport.getBoundingClientRect();
      const shown = [...host.querySelectorAll('.ag-row')].flatMap((line) => {
        const box = line.getBoundingClientRect();
        const index = Number(line.getAttribute('row-index'));
        return Number.isNaN(index) || box.top < top + HEADER_HEIGHT - 1 || box.bottom > bottom - height + 1 ? [] : [index];
      });
      return { first: Math.min(...shown), last: Math.max(...shown), atTop: viewport.scrollTop === 0 };
    },
    shift: (rows, cell) => {
      if (rows) viewport.scrollTop += (rows * height) / ratio();
      if (!cell || !host.contains(document.activeElement)) return;
      focus.know(cell);
      // The browser reports the scroll with the next frame. The next key belongs to this issue even before that.
      viewport.dispatchEvent(new Event('scroll'));
      api.setFocusedCell(cell.row, fieldAt(cell.column));
    },
    reveal: ({ row, column }) => {
      api.ensureIndexVisible(row);
      api.ensureColumnVisible(fieldAt(column));
    },
    focus: (cell) => {
      grid.reveal(cell);
      focus.report(cell);
      api.setFocusedCell(cell.row, fieldAt(cell.column));
    },
    edit: (cell) => {
      grid.reveal(cell);
      focus.report(cell);
      // The library creates the block of a row that comes into view within some frames.
      const begin = (frames: number) => {
        if (api.getDisplayedRowAtIndex(cell.row)?.data) {
          // Tab and Enter go on from here.
          api.setFocusedCell(cell.row, fieldAt(cell.column));
          api.startEditingCell({ rowIndex: cell.row, colKey: fieldAt(cell.column) });
        } else if (frames > 0) requestAnimationFrame(() => begin(frames - 1));
      };
      requestAnimationFrame(() => begin(FRAMES_TO_WAIT));
    },
    elementOf: ({ row, column }) =>
      host.querySelector<HTMLElement>(`.ag-row[row-index="${row}"] .ag-cell[col-id="${fieldAt(column)}"]`),
    headOf: (field) => host.querySelector<HTMLElement>(`.ag-header-cell[col-id="${field}"]`),
    destroy: () => {
      for (const stop of stopping) stop();
      api.destroy();
    },
  };
  return grid;
}

/**
 * Handle the keys that end an editor. Returns whether the key was taken.
 *
 * Tab takes the value and goes to the next cell, without editing that one too. Escape keeps the former value, at once.
 * The library would close the editor a moment later, and the keys that follow would still go into it.
 */
function leftByKey(event: KeyboardEvent, api: GridApi<Placeholder>): boolean {
  if (event.key !== 'Tab' && event.key !== 'Escape') return false;
  event.preventDefault();
  api.stopEditing(event.key === 'Escape');
  if (event.key === 'Escape') return true;
  if (event.shiftKey) api.tabToPreviousCell();
  else api.tabToNextCell();
  return true;
}

/**
 * Handle a key at the head of a column: Enter sorts, Alt and the arrow open the menu. Returns whether the key was
 * taken.
 */
function headKey(event: KeyboardEvent, field: string, owner: GridOwner): boolean {
  const head = event.target instanceof Element ? event.target.closest<HTMLElement>('.ag-header-cell') : null;
  if (event.key === 'Enter') owner.sort(field, event.shiftKey);
  else if (event.key === 'ArrowDown' && event.altKey && head) owner.openMenu(field, head);
  else return false;
  event.preventDefault();
  return true;
}

/** Handle a key at the summary of a column. Returns whether the key was taken. */
function footerKey(event: KeyboardEvent, field: string, owner: GridOwner): boolean {
  const cell = event.target instanceof Element ? event.target.closest<HTMLElement>('.ag-cell') : null;
  if (!cell || (event.key !== 'Enter' && event.key !== ' ')) return false;
  event.preventDefault();
  owner.openFooter(field, cell);
  return true;
}

function definitions(columns: readonly GridColumn[], owner: GridOwner): ColDef<Placeholder>[] {
  return columns.map((column) => ({
    colId: column.field.id,
    headerName: column.field.name,
    width: column.width,
    pinned: column.frozen ? 'left' : null,
    lockPinned: true,
    suppressHeaderKeyboardEvent: ({ event }) => headKey(event, column.field.id, owner),
    headerComponent: ColumnHeader,
    headerComponentParams: { own: { column, owner } satisfies HeaderParams },
    cellRendererSelector: ({ node }) => ({ component: node.rowPinned ? FooterCell : IssueCell }),
    cellRendererParams: { field: column.field, owner } satisfies CellParams,
    editable: ({ node }) => !node.rowPinned && owner.mayEdit(node.rowIndex ?? -1, column.field.id),
    cellEditor: CellEditing,
    cellEditorParams: { field: column.field, owner } satisfies CellParams,
    // The owner shows the value and writes it; the library keeps none.
    valueSetter: ({ node, newValue }) => {
      owner.commit(node?.rowIndex ?? -1, column.field.id, (newValue as Edited).typed);
      return false;
    },
    // The library compares these values to know which cells to draw again.
    valueGetter: ({ node }) => {
      if (node?.rowPinned) return null;
      const slot = owner.at(node?.rowIndex ?? -1);
      return slot.kind === 'issue' ? valueOf(slot.row, column.field.id) : slot.kind;
    },
    cellClass: column.field.type === 'number' ? 'numeric' : '',
  }));
}
