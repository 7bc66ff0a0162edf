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
import { unavailableIn, valueOf, type Row } from '../../fields/values';
import type { Cell, Choosing } from '../../selection/range';
import type { RowHeight } from '../../view/view';
import { words } from '../../words';
import { pointIn } from '../../place';
import { followContext } from '../../ui/context';
import type { Context, Grid, GridColumn, GridOwner } from '../grid';
import { AddHead } from './add';
import { IssueCell, type CellParams } from './cell';
import { choosingBy } from './choosing';
import { paint } from './classes';
import { followTruncated } from './clipped';
import { CellEditing, type Edited } from './editor';
import { followFocus } from './focus';
import { contentWidth } from './fit';
import { FooterCell } from './footer';
import { GutterCell, GutterHead } from './gutter';
import { ColumnHeader, type HeaderParams } from './header';
import { followPointer } from './pointer';
import { followRowDrag } from './row-drag';
import { keepTogether } from './scroll-bar';
import { ADD, ADD_WIDTH, GUTTER, GUTTER_WIDTH, isField } from './special';
import { stickAt } from './sticky';
import { tabbed } from './tab';
import { keepWheelExact, ratioOf } from './wheel';

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
/** Rows of this height have two lines of text. */
const TALL: RowHeight = 56;
/** Rows of one block of the row model. A block holds only the numbers of its rows. */
const BLOCK = 500;

/** Heads of groups that stay at the top take at most one part of so many of the view. */
const PART_FOR_STICKY = 3;

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
  /** Whether the user may add fields. */
  readonly mayAdd: boolean;
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
    // The first block has the length. Rows before it would be drawn twice.
    infiniteInitialRowCount: 1,
    datasource: {
      getRows: (block) =>
        block.successCallback(new Array(Math.max(0, Math.min(block.endRow, length) - block.startRow)).fill(PLACEHOLDER), length),
    },
    columnDefs: definitions(),
    defaultColDef: {
      sortable: false,
      suppressHeaderMenuButton: true,
      suppressKeyboardEvent: ({ event, editing, node, column }) => {
        if (node.rowPinned) return footerKey(event, column.getColId(), owner);
        if (isGroup(node.rowIndex ?? -1)) return groupKey(event, node.rowIndex ?? -1, column.getColId(), owner);
        if (column.getColId() === GUTTER) return gutterKey(event, node.rowIndex ?? -1, owner);
        if (!editing) return owner.key(event);
        if (event.key === 'Escape') for (const editor of api.getCellEditorInstances()) if (editor instanceof CellEditing) editor.leave();
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
    tabToNextCell: (step) => tabbed(step, api, isGroup),
    pinnedBottomRowData: [PLACEHOLDER],
    getRowClass: ({ node }) => (node.rowPinned ? ['footer'] : [...owner.rowClasses(node.rowIndex ?? -1)]),
    onViewportChanged: ({ firstRow, lastRow }) => owner.show({ first: firstRow, last: lastRow }),
    onColumnResized: ({ api: resized, finished, source, column, columns: changed }) => {
      // Their cells have more room or less.
      if (finished && changed) resized.refreshCells({ force: true, columns: changed });
      if (finished && column && source === 'uiColumnResized') owner.resize(column.getColId(), column.getActualWidth());
    },
    onColumnMoved: ({ finished, source, column }) => {
      if (!finished || !column || source !== 'uiColumnMoved') return;
      const order = api.getAllDisplayedColumns().map((one) => one.getColId()).filter(isField);
      owner.move(column.getColId(), order[order.indexOf(column.getColId()) + 1] ?? null);
    },
    // Its value may be at the end of a cell that is only partly in view.
    onCellEditingStarted: ({ column }) => api.ensureColumnVisible(column),
    onCellDoubleClicked: ({ rowPinned, rowIndex, column }) => {
      if (!rowPinned && rowIndex !== null && isField(column.getColId())) owner.refuseEdit({ row: rowIndex, column: columnOf(column.getColId()) });
    },
    onCellClicked: ({ rowPinned, column, event }) => {
      const cell = event?.target instanceof Element ? event.target.closest<HTMLElement>('.ag-cell') : null;
      if (!isField(column.getColId())) return;
      if (rowPinned && cell) owner.openFooter(column.getColId(), cell);
      const isBox = event?.target instanceof Element && event.target.closest('.tick') !== null;
      const isPlain = event instanceof MouseEvent && !event.shiftKey && !event.ctrlKey && !event.metaKey;
      const at = cell && cellOf(cell);
      if (!rowPinned && isBox && isPlain && at) owner.clicked(at);
    },
  });
  api.setGridAriaProperty('label', options.label);
  host.classList.toggle('is-tall', height === TALL);

  function select(field: string, how: Choosing): void {
    focus.forget();
    owner.selectColumn(field, how);
  }

  function definitions(): ColDef<Placeholder>[] {
    return [gutterOf(owner), ...columns.map((column) => definitionOf(column, owner, select)), ...(options.mayAdd ? [addOf(owner)] : [])];
  }

  /** Whether the head of a group is in a row; it is in none if the row is not a number. */
  const isGroup = (row: number) => row >= 0 && owner.at(row).kind === 'group';
  const columnOf = (field: string) => columns.findIndex((column) => column.field.id === field);
  const fieldAt = (column: number) => columns[column]?.field.id ?? '';
  const cellOf = (element: Element): Cell | null => {
    const row = rowOf(element);
    const column = columnOf(element.closest('.ag-cell')?.getAttribute('col-id') ?? '');
    return Number.isNaN(row) || column < 0 ? null : { row, column };
  };
  /** The focused cell, if an element of the library has the focus. For the label of a group it is the first one. */
  const focusedAt = (element: Element): Cell | null => {
    const row = rowOf(element);
    return isGroup(row) && element.closest(`.ag-cell[col-id="${GUTTER}"]`) ? { row, column: 0 } : cellOf(element);
  };
  const pressedAt = (element: Element): { readonly context: Context; readonly anchor: HTMLElement } | null => {
    if (element.closest('.ag-cell-inline-editing')) return null;
    const sticky = element.closest<HTMLElement>('.sticky-head');
    if (sticky) return { anchor: sticky, context: { kind: 'group', row: rowOf(sticky) } };
    const anchor = element.closest<HTMLElement>('.ag-cell, .ag-header-cell');
    const column = anchor?.getAttribute('col-id') ?? '';
    const line = anchor?.closest('.ag-row:not(.footer)');
    const row = Number(line?.getAttribute('row-index') ?? NaN);
    if (!anchor) return null;
    if (anchor.matches('.ag-header-cell')) return isField(column) ? { anchor, context: { kind: 'head', field: column } } : null;
    if (Number.isNaN(row)) return null;
    if (isGroup(row)) return { anchor, context: { kind: 'group', row } };
    if (column === GUTTER) return { anchor, context: { kind: 'row', row } };
    const cell = cellOf(anchor);
    return cell && { anchor, context: { kind: 'cell', cell } };
  };
  const viewport = host.querySelector<HTMLElement>('.ag-grid-viewport');
  const area = host.querySelector<HTMLElement>('.ag-grid-scrollable-area');
  const bar = host.querySelector<HTMLElement>('.ag-body-vertical-scroll-viewport');
  if (!viewport || !area || !bar) throw new Error('The grid has no viewport, or no scroll bar.');
  const ratio = () => ratioOf(length, height, viewport.clientHeight - HEADER_HEIGHT - height, viewport.scrollHeight - HEADER_HEIGHT - height);
  const firstRow = () => (viewport.scrollTop * ratio()) / height;
  const mostSticky = () => Math.max(1, Math.floor((viewport.clientHeight - HEADER_HEIGHT - height) / height / PART_FOR_STICKY));
  const sticky = stickAt({ area, owner, columns: () => columns, height: () => height, top: firstRow, most: mostSticky });
  /** Scroll a row that heads at the top cover below them. Returns whether it was covered. */
  const uncover = (row: number): boolean => {
    const first = row - owner.headsAbove(row, mostSticky());
    if (first >= firstRow()) return false;
    viewport.scrollTop = (first * height) / ratio();
    return true;
  };
  const toggle = (row: number) => {
    owner.toggle(row);
    // The rows in view have left with their group: the head stays where the user has pressed it. The library draws it now.
    if (uncover(row)) viewport.dispatchEvent(new Event('scroll'));
    api.setFocusedCell(row, GUTTER);
  };
  const lead = (cell: Cell) => {
    focus.know(cell);
    // The view stays where the user has scrolled it, if it has the cell.
    if (!grid.elementOf(cell)) grid.reveal(cell);
    api.setFocusedCell(cell.row, fieldAt(cell.column));
  };
  const focus = followFocus({ host, owner, cellOf: focusedAt, fieldAt, lead });
  const stopping = [
    focus.stop,
    keepWheelExact(viewport, ratio),
    keepTogether(bar, viewport),
    // Before the library changes the document, so that the positions are known without another layout.
    listen(viewport, 'scroll', sticky.follow, { capture: true }),
    // The library has moved the focus by then.
    listen(host, 'keydown', () => {
      const cell = document.activeElement && host.contains(document.activeElement) ? focusedAt(document.activeElement) : null;
      if (cell) uncover(cell.row);
    }),
    followContext({
      host,
      find: pressedAt,
      open: ({ context, anchor }, at) => owner.openContext(context, anchor, pointIn(anchor, at)),
      rested: ({ context }) => {
        if (context.kind !== 'cell' || owner.isSelected(context.cell)) return;
        focus.report(context.cell);
        api.setFocusedCell(context.cell.row, fieldAt(context.cell.column));
      },
    }),
    followGutter(host, owner, toggle),
    followTruncated(host),
    followRowDrag({ host, viewport, owner, head: HEADER_HEIGHT, foot: () => height }),
    fitByDoubleClick(host, owner),
    followPointer({
      viewport,
      owner,
      footer: () => height,
      cellOf,
      pressed: (cell) => {
        owner.pressed();
        focus.report(cell);
      },
      added: (cell) => {
        focus.know(cell);
        owner.added(cell);
      },
      tapped: (cell) => {
        owner.pressed();
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
      const hadFocus = host.contains(document.activeElement);
      columns = next;
      api.setGridOption('columnDefs', definitions());
      const anchor = owner.anchor();
      // The column in focus may be hidden now.
      if (hadFocus && anchor && document.activeElement === document.body) lead(anchor);
      // The figures of groups may have other places now.
      api.refreshCells({ rowNodes: api.getRenderedNodes().filter(({ rowIndex }) => isGroup(rowIndex ?? -1)), force: true });
      paint(host, owner);
      sticky.redraw();
    },
    setHeight: (next) => {
      if (next === height) return;
      height = next;
      host.classList.toggle('is-tall', height === TALL);
      api.setGridOption('rowHeight', next);
      // Their cells have more lines or fewer.
      api.refreshCells({ force: true });
      sticky.redraw();
    },
    setLength: (next) => {
      length = next;
      api.setRowCount(next, true);
      api.refreshInfiniteCache();
    },
    setDraggable: (draggable) => host.classList.toggle('is-draggable', draggable),
    refresh: () => {
      api.refreshCells();
      paint(host, owner);
      sticky.follow();
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
      uncover(row);
      api.ensureColumnVisible(fieldAt(column));
    },
    focus: (cell) => {
      grid.reveal(cell);
      focus.report(cell);
      api.setFocusedCell(cell.row, fieldAt(cell.column));
    },
    edit: (place) => {
      const first = place();
      grid.reveal(first);
      focus.report(first);
      // The library creates the block of a row that comes into view within some frames.
      const begin = (frames: number) => {
        const cell = place();
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
    width: () => host.clientWidth,
    fit: (field) => fit(host, field, owner),
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

/** Whether a key asks for the menu of what has the focus. */
function asksForMenu({ key, shiftKey, altKey }: KeyboardEvent): boolean {
  return key === 'ContextMenu' || (key === 'F10' && shiftKey) || (key === 'ArrowDown' && altKey);
}

/**
 * Handle a key at the head of a column: Enter or Space selects it, and keys of cells are for the selected columns.
 * Returns whether the key was taken.
 */
function headKey(event: KeyboardEvent, field: string, owner: GridOwner, select: (field: string, how: Choosing) => void): boolean {
  const { target, key } = event;
  const head = target instanceof Element ? target.closest<HTMLElement>('.ag-header-cell') : null;
  // The head's own buttons take their keys.
  if (target instanceof HTMLButtonElement && (key === 'Enter' || key === ' ')) return true;
  if (key === 'Enter' || key === ' ') select(field, choosingBy(event));
  else if (asksForMenu(event) && head) owner.openContext({ kind: 'head', field }, head, null);
  else if (event.ctrlKey || event.metaKey || key === 'Delete' || key === 'Backspace') return owner.isChosen(field) && owner.key(event);
  else return false;
  event.preventDefault();
  return true;
}

/**
 * Handle a key at the head of a group: Enter and Space open or close the group, → opens and ← closes it. If it is so
 * already, an arrow goes to the next cell, as in other rows. Returns whether the key was taken.
 */
function groupKey(event: KeyboardEvent, index: number, column: string, owner: GridOwner): boolean {
  const { target, key } = event;
  const cell = target instanceof Element ? target.closest<HTMLElement>('.ag-cell') : null;
  const slot = owner.at(index);
  const isPlain = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (target !== cell && (key === 'Enter' || key === ' ')) return true;
  const isOpen = slot.kind === 'group' && slot.group.open;
  if (isPlain && (key === 'Enter' || key === ' ' || key === (isOpen ? 'ArrowLeft' : 'ArrowRight'))) owner.toggle(index);
  else if (asksForMenu(event) && cell && column === GUTTER) owner.openContext({ kind: 'group', row: index }, cell, null);
  else return owner.key(event);
  event.preventDefault();
  return true;
}

/** Handle a key at the gutter. Returns whether the key was taken. */
function gutterKey(event: KeyboardEvent, index: number, owner: GridOwner): boolean {
  const { target, key } = event;
  const cell = target instanceof Element ? target.closest<HTMLElement>('.ag-cell') : null;
  if (target !== cell && (key === 'Enter' || key === ' ')) return true;
  if (key === ' ') owner.check(index, event.shiftKey);
  else if (key === 'Enter') owner.expand(index);
  else if (asksForMenu(event) && cell) owner.openContext({ kind: 'row', row: index }, cell, null);
  // The keys of cells have no meaning here, and the library has none for these.
  else return key.length === 1 || key === 'Delete' || key === 'Backspace' || key === 'F2';
  event.preventDefault();
  return true;
}

/** The row of the screen of an element: of the library, or of a head that stays at the top. */
function rowOf(element: Element): number {
  const line = element.closest('.ag-row, .sticky-head');
  return Number(line?.getAttribute('row-index') ?? line?.getAttribute('data-row') ?? NaN);
}

function listen(target: HTMLElement, type: string, act: () => void, options: AddEventListenerOptions = {}): () => void {
  target.addEventListener(type, act, options);
  return () => target.removeEventListener(type, act, options);
}

/** Listen to the boxes and buttons of the gutter. Returns how to stop. */
function followGutter(host: HTMLElement, owner: GridOwner, toggle: (row: number) => void): () => void {
  const clicked = ({ target, shiftKey }: MouseEvent) => {
    if (!(target instanceof Element)) return;
    const index = rowOf(target);
    if (target.closest('.group-toggle')) toggle(index);
    else if (target.closest('.group-add')) owner.addIn(index);
    else if (target.closest('.gutter-all')) owner.checkAll();
    else if (target.closest('.gutter-box')) owner.check(index, shiftKey);
    else if (target.closest('.gutter-open')) owner.expand(index);
    else return;
    // The browser has changed the box; the owner knows whether that holds.
    paint(host, owner);
  };
  host.addEventListener('click', clicked);
  return () => host.removeEventListener('click', clicked);
}

function fit(host: HTMLElement, column: string, owner: GridOwner): void {
  const width = column && contentWidth(host, column);
  if (width) owner.resize(column, width);
}

/** Fit a column to its content at a double click on its edge. Returns how to stop. */
function fitByDoubleClick(host: HTMLElement, owner: GridOwner): () => void {
  const clicked = ({ target }: MouseEvent) => {
    const edge = target instanceof Element ? target.closest('.ag-header-cell-resize') : null;
    const column = edge?.closest('.ag-header-cell')?.getAttribute('col-id') ?? '';
    if (isField(column)) fit(host, column, owner);
  };
  host.addEventListener('dblclick', clicked);
  return () => host.removeEventListener('dblclick', clicked);
}

/** Handle a key at the summary of a column. Returns whether the key was taken. */
function footerKey(event: KeyboardEvent, field: string, owner: GridOwner): boolean {
  const cell = event.target instanceof Element ? event.target.closest<HTMLElement>('.ag-cell') : null;
  if (!isField(field)) return event.key.length === 1;
  if (!cell || (event.key !== 'Enter' && event.key !== ' ')) return false;
  event.preventDefault();
  owner.openFooter(field, cell);
  return true;
}

/** The parts that the columns beside the fields have in common. */
const FIXED: ColDef<Placeholder> = {
  headerName: '',
  suppressMovable: true,
  resizable: false,
  editable: false,
};

function gutterOf(owner: GridOwner): ColDef<Placeholder> {
  return {
    ...FIXED,
    colId: GUTTER,
    headerName: words.gutter.title,
    width: GUTTER_WIDTH,
    pinned: 'left',
    lockPinned: true,
    lockPosition: 'left',
    headerComponent: GutterHead,
    headerComponentParams: { owner },
    cellRenderer: GutterCell,
    cellRendererParams: { owner },
    suppressHeaderKeyboardEvent: ({ event }) => {
      if (event.key !== ' ' && event.key !== 'Enter') return false;
      if (event.target instanceof HTMLInputElement) return true;
      event.preventDefault();
      owner.checkAll();
      return true;
    },
    valueGetter: ({ node }) => {
      if (node?.rowPinned) return null;
      const slot = owner.at(node?.rowIndex ?? -1);
      return slot.kind === 'issue' ? slot.row.num : slot.kind === 'group' ? slot.group : slot.kind;
    },
  };
}

function addOf(owner: GridOwner): ColDef<Placeholder> {
  return {
    ...FIXED,
    colId: ADD,
    headerName: words.header.add,
    width: ADD_WIDTH,
    lockPosition: 'right',
    suppressNavigable: true,
    headerComponent: AddHead,
    headerComponentParams: { owner },
    valueGetter: () => null,
    suppressHeaderKeyboardEvent: ({ event }) => {
      if (event.key !== ' ' && event.key !== 'Enter') return false;
      event.preventDefault();
      owner.addField();
      return true;
    },
  };
}

/** What a cell shows, for the library's comparison: a value, or why there is none. */
function comparedOf(row: Row, field: string): unknown {
  return valueOf(row, field) ?? unavailableIn(row, field) ?? null;
}

function definitionOf(column: GridColumn, owner: GridOwner, select: (field: string, how: Choosing) => void): ColDef<Placeholder> {
  return {
    colId: column.field.id,
    headerName: column.field.name,
    width: column.width,
    pinned: column.frozen === 'yes' ? 'left' : null,
    lockPinned: true,
    suppressHeaderKeyboardEvent: ({ event }) => headKey(event, column.field.id, owner, select),
    headerComponent: ColumnHeader,
    headerComponentParams: { own: { column, owner, onSelect: select } satisfies HeaderParams },
    cellRendererSelector: ({ node }) => ({ component: node.rowPinned ? FooterCell : IssueCell }),
    // The library would copy an object, and with it the field, which would then miss new options.
    cellRendererParams: (): CellParams => ({ field: column.field, owner }),
    editable: ({ node }) => !node.rowPinned && owner.mayEdit(node.rowIndex ?? -1, column.field.id),
    cellEditor: CellEditing,
    cellEditorParams: (): CellParams => ({ field: column.field, owner }),
    // The owner shows the value and writes it; the library keeps none.
    valueSetter: ({ newValue }) => {
      const { cell, typed } = newValue as Edited;
      cell.take(typed);
      return false;
    },
    // The library compares these values to know which cells to draw again.
    valueGetter: ({ node }) => {
      if (node?.rowPinned) return null;
      const slot = owner.at(node?.rowIndex ?? -1);
      return slot.kind === 'issue' ? comparedOf(slot.row, column.field.id) : slot.kind === 'group' ? slot.group : slot.kind;
    },
    cellClass: column.field.type === 'number' ? 'numeric' : '',
  };
}
