/** The grid on AG Grid Community: its infinite row model knows how many rows there are, and nothing of what they hold. */
import {
  CellStyleModule,
  ColumnApiModule,
  createGrid,
  CustomEditorModule,
  EventApiModule,
  InfiniteRowModelModule,
  ModuleRegistry,
  RenderApiModule,
  RowApiModule,
  RowStyleModule,
  ScrollApiModule,
  type ColDef,
  type GridApi,
} from 'ag-grid-community';
import { valueOf } from '../../fields/values';
import type { RowHeight } from '../../view/view';
import type { Grid, GridColumn, GridOwner } from '../grid';
import { Cell, type CellParams } from './cell';
import { ColumnHeader, type HeaderParams } from './header';
import { keepWheelExact, ratioOf } from './wheel';

ModuleRegistry.registerModules([
  CellStyleModule,
  ColumnApiModule,
  CustomEditorModule,
  EventApiModule,
  InfiniteRowModelModule,
  RenderApiModule,
  RowApiModule,
  RowStyleModule,
  ScrollApiModule,
]);

const HEADER_HEIGHT = 34;
/** Rows of one block of the row model. A block holds nothing but the numbers of its rows. */
const BLOCK = 500;

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
  let { length, height } = options;
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
    columnDefs: definitions(options.columns, owner),
    defaultColDef: { sortable: false, suppressHeaderMenuButton: true },
    suppressDragLeaveHidesColumns: true,
    suppressCellFocus: false,
    suppressColumnVirtualisation: false,
    animateRows: false,
    getRowClass: ({ node }) => [...owner.rowClasses(node.rowIndex ?? -1)],
    onViewportChanged: ({ firstRow, lastRow }) => owner.show({ first: firstRow, last: lastRow }),
    onColumnResized: ({ finished, source, column }) => {
      if (finished && column && source === 'uiColumnResized') owner.resize(column.getColId(), column.getActualWidth());
    },
    onColumnMoved: ({ finished, source, column }) => {
      if (!finished || !column || source !== 'uiColumnMoved') return;
      const order = api.getAllDisplayedColumns().map((one) => one.getColId());
      owner.move(column.getColId(), order[order.indexOf(column.getColId()) + 1] ?? null);
    },
  });
  api.setGridAriaProperty('label', options.label);

  const viewport = host.querySelector<HTMLElement>('.ag-grid-viewport');
  const undoWheel =
    viewport &&
    keepWheelExact(viewport, () =>
      ratioOf(length, height, viewport.clientHeight - HEADER_HEIGHT, viewport.scrollHeight - HEADER_HEIGHT),
    );

  return {
    setColumns: (columns) => api.setGridOption('columnDefs', definitions(columns, owner)),
    setHeight: (next) => {
      height = next;
      api.setGridOption('rowHeight', next);
    },
    setLength: (next) => {
      length = next;
      api.setRowCount(next, true);
    },
    refresh: () => {
      api.refreshCells();
      for (const row of host.querySelectorAll('.ag-row')) applyClasses(row, owner);
    },
    scrollTo: (index) => api.ensureIndexVisible(index),
    destroy: () => {
      undoWheel?.();
      api.destroy();
    },
  };
}

/** Give a row that is drawn the classes that its owner now has for it. All of them begin with `is-`. */
function applyClasses(row: Element, owner: GridOwner): void {
  const wanted = new Set(owner.rowClasses(Number(row.getAttribute('row-index'))));
  for (const name of [...row.classList]) if (name.startsWith('is-') && !wanted.has(name)) row.classList.remove(name);
  row.classList.add(...wanted);
}

function definitions(columns: readonly GridColumn[], owner: GridOwner): ColDef<Placeholder>[] {
  return columns.map((column) => ({
    colId: column.field.id,
    headerName: column.field.name,
    width: column.width,
    pinned: column.frozen ? 'left' : null,
    lockPinned: true,
    headerComponent: ColumnHeader,
    headerComponentParams: { own: { column, owner } satisfies HeaderParams },
    cellRenderer: Cell,
    cellRendererParams: { field: column.field, owner } satisfies CellParams,
    // What the library compares to know which cells to draw again.
    valueGetter: ({ node }) => {
      const slot = owner.at(node?.rowIndex ?? -1);
      return slot.kind === 'issue' ? valueOf(slot.row, column.field.id) : slot.kind;
    },
    cellClass: column.field.type === 'number' ? 'numeric' : '',
  }));
}
