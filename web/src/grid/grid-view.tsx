/** The grid of an open project: holds the library's element, and carries state between it and the model. */
import { computed, effect, signal, type ReadonlySignal } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { showSummary } from './footer-text';
import { valuesFor } from './group-entries';
import { showFigures, showGroup } from './group-head';
import { headRoom } from './head-room';
import { keyOf, noteOf, refusedText, type Mark } from '../edits/marks';
import { isDraft, memberOf, unavailableIn } from '../fields/values';
import type { ProjectModel } from '../project/model';
import { findUsers } from '../project/queries';
import type { Group } from '../rows/layout';
import { commonShift, type Moved, type Moving } from '../rows/moves';
import { headsAbove, stickyHeads } from '../rows/sticky';
import { contains, coversColumns, filledTo, rectangleOf, rectanglesOf, withRows, type Cell, type Rectangle } from '../selection/range';
import { fittingWidth, moved, resized } from '../view/columns';
import { isTyping } from '../ui/typing';
import { Arranging } from './arranging';
import { functionsOf } from '../view/footers';
import { colorOfCell } from '../view/rules';
import { sortedBy } from '../view/view';
import { words } from '../words';
import { mountGrid } from './ag/adapter';
import { permits } from '../auth/session';
import { ContextMenu, subjectOf, type OpenContext } from './context-menu';
import { focusSelection } from './focus-selection';
import type { Grid, GridColumn, GridOwner } from './grid';
import { pressed } from './keys';
import { rowColor } from './row-color';
import type { MenuSources } from './menu-sources';
import { Note } from '../cells/note';
import { SummaryMenu } from './summary-menu';

export interface GridViewProps extends MenuSources {
  /** Called with the grid when it is ready. */
  readonly onReady: (grid: Grid) => void;
}

export function GridView({ model, actions, onAdd, onReady }: GridViewProps) {
  const host = useRef<HTMLDivElement>(null);
  const grid = useRef<Grid | null>(null);
  const arranging = useMemo(
    () =>
      new Arranging(model, actions, ({ first, last }) => {
        const column = model.selection.peek()?.anchor.column ?? 0;
        grid.current?.focus({ row: first, column });
        model.selection.value = { anchor: { row: first, column }, reach: { row: last, column } };
      }),
    [model, actions],
  );
  const [menu, setMenu] = useState<OpenContext | null>(null);
  const [summary, setSummary] = useState<OpenFooter | null>(null);
  // The column whose head had the focus before the menu.
  const head = useRef('');
  // Whether the focus was in the grid before the menu. It may be scrolled out of the document.
  const hadFocus = useRef(false);
  const noteFocus = () => (hadFocus.current = host.current?.contains(document.activeElement) ?? false);
  const openContext = (opened: OpenContext) => {
    noteFocus();
    const isFromHead = opened.context.kind === 'head' && opened.anchor.contains(document.activeElement);
    head.current = isFromHead ? opened.context.field : '';
    setMenu(opened);
  };
  const openFooter = (opened: OpenFooter) => {
    noteFocus();
    setSummary(opened);
  };
  useEffect(() => {
    const element = host.current;
    const ready = (mounted: Grid) => {
      grid.current = mounted;
      onReady(mounted);
    };
    return element ? connect(element, { model, actions, arranging, onAdd, onReady: ready, openContext, openFooter }) : undefined;
  }, [model]);
  const isOpen = menu !== null || summary !== null;
  useEffect(() => {
    // The element that had the focus before the menu may have been drawn again.
    if (isOpen || !hadFocus.current || document.activeElement !== document.body) return;
    const button = grid.current?.headOf(head.current)?.querySelector<HTMLElement>('.head-menu');
    if (button) button.focus();
    else focusSelection(grid.current, model);
  }, [isOpen]);
  return (
    <>
      <div class="grid ag-theme-gridview" ref={host} />
      {summary && <SummaryMenu key={summary.field} model={model} {...summary} onClose={() => setSummary(null)} />}
      {menu && (
        <ContextMenu
          key={keyOfMenu(menu)}
          {...menu}
          sources={{ model, actions, onAdd }}
          grid={grid.current}
          arranging={arranging}
          // Another one may be open by then.
          onClose={() => setMenu((now) => (now === menu ? null : now))}
        />
      )}
    </>
  );
}

interface OpenFooter {
  readonly field: string;
  readonly anchor: HTMLElement;
}

/** Distinguishes a menu from the one that was open before it. */
function keyOfMenu({ context, subject, at }: OpenContext): string {
  return JSON.stringify([context, subject.kind === 'issue' && subject.num, at]);
}

interface Connection extends GridViewProps {
  readonly arranging: Arranging;
  readonly openContext: (menu: OpenContext) => void;
  readonly openFooter: (menu: OpenFooter) => void;
}

/** Mount the grid and keep it as the model says. Returns how to take it away again. */
function connect(element: HTMLElement, connection: Connection): () => void {
  const { model, actions, arranging, onReady } = connection;
  const { rows } = model;
  // The range that the fill handle would fill, while it is dragged.
  let fill: Rectangle | null = null;
  let endFill: (() => void) | null = null;
  const width = signal(element.clientWidth);
  const roomOf = (group: Group, gutter: number) => headRoom(model.columns.peek(), group.figures, gutter, width.peek());
  const owner: GridOwner = {
    at: (index) => rows.at(index),
    rowClasses: (index) => [...rowClasses(model, index), ...(arranging.carries(index) ? ['is-carried'] : [])],
    cellClasses: (index, field) => cellClasses(model, fill, index, field),
    note: (index, field) => noteOf(markAt(model, index, field)),
    drawHead: (index, head, gutter) => {
      const slot = rows.at(index);
      if (slot.kind !== 'group') return;
      const { group } = slot;
      showGroup(head, group, {
        ...roomOf(group, gutter),
        fields: model.fields,
        unit: model.view.peek().groups[group.depth]?.unit ?? null,
        mayAdd: model.canEdit && valuesFor(group, model) !== null,
      });
    },
    drawFigures: (index, id, cell, gutter) => {
      const slot = rows.at(index);
      const field = model.field(id);
      if (slot.kind !== 'group' || !field) return;
      if (roomOf(slot.group, gutter).listed.has(id)) cell.replaceChildren();
      else showFigures(cell, slot.group, field);
    },
    stickyHeads: (top, max) => stickyHeads(rows.layout, top, max),
    headsAbove: (index, max) => headsAbove(rows.layout, index, max),
    toggle: (index) => {
      const slot = rows.at(index);
      if (slot.kind === 'group') model.toggleGroup(slot.group.key);
    },
    addIn: (index) => {
      const slot = rows.at(index);
      const values = slot.kind === 'group' && model.canEdit ? valuesFor(slot.group, model) : null;
      if (values) connection.onAdd(values);
    },
    drawFooter: (id, footer) => {
      const field = model.field(id);
      if (!field) return;
      const fn = functionsOf(field.type).find((one) => one === memberOf(model.view.peek().footers, id)) ?? null;
      showSummary(footer, field, fn, model.summaries.values.peek().get(id));
    },
    openFooter: (field, anchor) => connection.openFooter({ field, anchor }),
    show: (range) => model.show(range),
    sort: (field, add) => model.change({ sort: sortedBy(model.view.peek().sort, field, { add }) }),
    openContext: (context, anchor, at) => {
      const subject = subjectOf(context, model);
      if (subject) connection.openContext({ context, subject, anchor, at });
    },
    selectColumn: (field, how) => model.selectColumn(field, how),
    isChosen: (field) => {
      const selection = model.selection.peek();
      const column = model.columns.peek().findIndex((one) => one.field === field);
      const isWhole = (range: Rectangle) => coversColumns(range, model.size) && column >= range.left && column <= range.right;
      return selection !== null && rectanglesOf(selection).some(isWhole);
    },
    isSelected: (cell) => model.isSelected(cell),
    addField: () => model.panels.openSettings({ kind: 'new', beside: null, like: null }),
    isChecked: (index) => {
      const slot = rows.at(index);
      return slot.kind === 'issue' && model.checked.has(slot.row.num);
    },
    checkedAll: () => {
      if (!model.checked.nums.peek().size) return 'none';
      const loaded = rows.loaded();
      return loaded.length > 0 && loaded.every((num) => model.checked.has(num)) ? 'all' : 'some';
    },
    check: (index, extend) => void actions.check(index, extend),
    checkAll: () => actions.checkLoaded(),
    expand: (index) => {
      const slot = rows.at(index);
      if (slot.kind === 'issue' && !isDraft(slot.row.num)) model.panels.open({ kind: 'issue', num: slot.row.num });
    },
    resize: (field, width) => model.change({ columns: resized(model.columns.peek(), field, width) }, { replace: true }),
    move: (field, before) => model.change({ columns: moved(model.columns.peek(), field, before) }, { replace: true }),
    mayDrag: () => model.canPlace,
    drag: (index) => {
      const text = arranging.start(index);
      grid.repaint();
      return text;
    },
    draggedOver: (edge) => arranging.over(edge),
    dragged: (take) => {
      if (take) void arranging.drop();
      else arranging.cancel();
      grid.repaint();
    },
    mayEdit: (index, field) => {
      const type = model.field(field);
      return model.canEdit && type?.editable === true && type.type !== 'bool' && rows.at(index).kind === 'issue';
    },
    refuseEdit: (cell) => actions.refuseEdit(cell),
    mayCreateOptions: permits(model.role, 'admin'),
    refused: (index, field) => refusedText(markAt(model, index, field)),
    editing: (index, field) => {
      // The editor says itself what was refused.
      note.hide();
      const slot = rows.at(index);
      const type = model.field(field);
      if (slot.kind !== 'issue' || !type) return { take: () => undefined, end: () => undefined };
      const { take, end } = actions.open(slot.row, type);
      return {
        take: (typed) => {
          take(typed);
          // A row that was no issue is gone with its editor, which had the focus, unless the user has clicked elsewhere.
          const last = model.size.rows - 1;
          if (index > last && last >= 0 && element.contains(document.activeElement)) grid.focus({ row: last, column: model.columns.peek().findIndex((column) => column.field === field) });
        },
        end,
      };
    },
    suggestUsers: (prefix) => findUsers(model.api, prefix),
    clicked: (cell) => actions.toggle(cell),
    focused: (cell) => model.moveTo(cell),
    anchor: () => model.selection.peek()?.anchor ?? null,
    reached: (reach, only = false) => {
      const selection = model.selection.peek();
      if (selection) model.selection.value = only ? { anchor: selection.anchor, reach } : { ...selection, reach };
    },
    added: (cell) => model.addRange(cell),
    pressed: () => (model.adding.value = false),
    filling: (to) => {
      const { range } = model;
      endFill ??= model.hold();
      if (range) fill = filledTo(range, to);
      grid.repaint();
    },
    filled: (take) => {
      const { range } = model;
      const target = fill;
      const release = endFill;
      fill = endFill = null;
      if (range && target && take) {
        model.selection.value = {
          anchor: { row: target.top, column: target.left },
          reach: { row: target.bottom, column: target.right },
        };
        void actions.fill(range, target, { continues: true }).finally(() => release?.());
      } else release?.();
      grid.repaint();
    },
    key: (event) =>
      pressed(event, {
        model,
        actions,
        grid,
        openMenu: (column) => {
          const field = model.fieldAt(column);
          const anchor = field && grid.headOf(field.id);
          if (field && anchor) owner.openContext({ kind: 'head', field: field.id }, anchor, null);
        },
        openContext: (cell) => {
          const anchor = grid.elementOf(cell);
          if (anchor) owner.openContext({ kind: 'cell', cell }, anchor, null);
        },
        check: (row) => void actions.check(row, false),
        moveRow: model.canPlace ? (row, by) => void arranging.step(row, by) : null,
      }),
  };
  const resizing = new ResizeObserver(() => (width.value = element.clientWidth));
  resizing.observe(element);
  const columns = computed(() => columnsOf(model, width.value));
  const grid = mountGrid(element, owner, {
    label: words.project.grid(model.project.name),
    height: model.view.peek().height,
    length: rows.layout.length,
    columns: columns.peek(),
    mayAdd: permits(model.role, 'admin'),
  });
  let { layout } = rows;
  const drawCells = inOneFrame(() => grid.refresh());
  // By how many rows those in view have moved, until they are drawn.
  let shifted: { readonly by: number; readonly focus: Cell | null } | null = null;
  const draw = () => {
    const moved = shifted;
    shifted = null;
    drawRows(moved !== null);
    if (moved) grid.shift(moved.by, moved.focus);
  };
  const move = (now: Moved, { isOwn }: Moving) => {
    const inView = grid.inView();
    const selection = model.selection.peek();
    const by = commonShift(inView, now);
    const row = selection?.anchor.row ?? -1;
    // A user at the beginning without a row in focus sees the rows that arrive there.
    const follows = !isOwn && (!inView.atTop || (row >= inView.first && row <= inView.last));
    if (selection) model.selection.value = withRows(selection, (at) => now(at) ?? at);
    shifted = { by: follows ? by : 0, focus: model.selection.peek()?.anchor ?? null };
  };
  const drawRows = (atOnce: boolean) => {
    if (rows.layout === layout) {
      if (atOnce) grid.refresh();
      else drawCells();
      return;
    }
    if (rows.layout.length !== layout.length) grid.setLength(rows.layout.length);
    layout = rows.layout;
    grid.refresh();
  };
  const note = new Note();
  const sayNote = () => {
    const focus = model.selection.peek()?.anchor;
    const field = focus && model.fieldAt(focus.column);
    const cell = focus ? grid.elementOf(focus) : null;
    const mark = focus && field ? noteOf(markAt(model, focus.row, field.id)) : '';
    const hint = actions.readOnly.hint.peek();
    const isHinted = hint?.cell.row === focus?.row && hint?.cell.column === focus?.column;
    const refusal = mark || (isHinted ? (hint?.text ?? '') : '');
    const text = refusal || (focus && field ? whyEmpty(model, focus.row, field.id) : '');
    note.show(text, cell && isInView(cell) ? cell : null, { quiet: !refusal });
  };
  // The note goes along with its cell. An editor says itself what was refused.
  const followNote = inOneFrame(() => {
    if (element.querySelector('.ag-cell-inline-editing')) note.hide();
    else sayNote();
  });
  element.addEventListener('scroll', followNote, { capture: true });
  const paste = (event: ClipboardEvent) => {
    if (isTyping(document.activeElement) || !element.contains(document.activeElement)) return;
    event.preventDefault();
    void actions.paste(event.clipboardData?.getData('text/plain') ?? '');
  };
  document.addEventListener('paste', paste);
  const stopping = [
    rows.onChange(draw),
    rows.onMove(move),
    rows.onChange(followNote),
    model.selection.subscribe(sayNote),
    model.editor.marks.subscribe(sayNote),
    actions.readOnly.hint.subscribe(sayNote),
    model.selection.subscribe((selection) => {
      const { row, column } = actions.readOnly.hint.peek()?.cell ?? {};
      if (selection?.anchor.row !== row || selection?.anchor.column !== column) actions.readOnly.hint.value = null;
    }),
    () => note.destroy(),
    () => resizing.disconnect(),
    ...[model.summaries.values, model.view].map((drawn: ReadonlySignal<unknown>) => whenChanged(drawn, () => grid.refreshFooter())),
    whenChanged(columns, (next) => grid.setColumns(next)),
    effect(() => grid.setHeight(model.view.value.height)),
    effect(() => grid.setDraggable(model.canPlace)),
    model.finding.reached.subscribe((cell) => {
      if (cell) grid.reveal(cell);
    }),
    // Everything that changes the look of rows and cells.
    ...[model.view, model.selection, model.checked.nums, model.editor.marks, model.misfits, model.live.others, model.finding.sought].map((look: ReadonlySignal<unknown>) =>
      whenChanged(look, () => grid.repaint()),
    ),
    () => document.removeEventListener('paste', paste),
  ];
  grid.repaint();
  onReady(grid);
  return () => {
    for (const stop of stopping) stop();
    grid.destroy();
  };
}

/** Draw what a signal changes. The grid is mounted with the present value, and would be drawn twice. */
function whenChanged<T>(changing: ReadonlySignal<T>, draw: (value: T) => void): () => void {
  let isMounted = false;
  const stop = changing.subscribe((value) => {
    if (isMounted) draw(value);
  });
  isMounted = true;
  return stop;
}

/** Whether the middle of a cell is seen, and not scrolled out of the grid. */
function isInView(cell: Element): boolean {
  const { left, top, width, height } = cell.getBoundingClientRect();
  return cell.contains(document.elementFromPoint(left + width / 2, top + height / 2));
}

/** Many changes between two frames are drawn once. */
function inOneFrame(draw: () => void): () => void {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      draw();
    });
  };
}

function rowClasses(model: ProjectModel, index: number): readonly string[] {
  const slot = model.rows.at(index);
  if (slot.kind !== 'issue') return [`is-${slot.kind}`];
  const color = rowColor(model, slot.row);
  return [
    ...(color ? ['is-colored', `is-${color}`] : []),
    ...(model.misfits.peek().has(slot.row.num) ? ['is-misfit'] : []),
    ...(model.live.others.peek().some(({ num }) => num === slot.row.num) ? ['is-others-place'] : []),
  ];
}

function markAt(model: ProjectModel, row: number, field: string): Mark | undefined {
  const slot = model.rows.at(row);
  return slot.kind === 'issue' ? model.editor.marks.peek().get(keyOf(slot.row.num, field)) : undefined;
}

/** Why a formula has no value in a cell; empty for other cells. */
function whyEmpty(model: ProjectModel, row: number, field: string): string {
  const slot = model.rows.at(row);
  const reason = slot.kind === 'issue' ? unavailableIn(slot.row, field) : undefined;
  return reason ? words.computed.unavailable[reason] : '';
}

function cellClasses(model: ProjectModel, fill: Rectangle | null, row: number, fieldId: string): readonly string[] {
  const classes: string[] = [];
  const slot = model.rows.at(row);
  const color = slot.kind === 'issue' ? colorOfCell(model.ruling.peek(), slot.row, fieldId) : null;
  if (color) classes.push('is-tinted', `is-${color}`);
  const selection = model.selection.peek();
  if (slot.kind === 'issue' && model.finding.has(slot.row, fieldId)) classes.push('is-found');
  const cell = { row, column: model.columns.peek().findIndex(({ field }) => field === fieldId) };
  if (slot.kind === 'issue' && model.computing.isOutdated(slot.row, fieldId)) classes.push('is-outdated');
  if (selection) {
    const range = rectangleOf(selection);
    for (const one of rectanglesOf(selection)) {
      if (!contains(one, cell)) continue;
      classes.push('is-selected');
      if (row === one.top) classes.push('is-top');
      if (row === one.bottom) classes.push('is-bottom');
      if (cell.column === one.left) classes.push('is-left');
      if (cell.column === one.right) classes.push('is-right');
      // Only a single range can be dragged over others.
      if (row === one.bottom && cell.column === one.right && model.canEdit && !selection.others && slot.kind !== 'group') classes.push('is-corner');
    }
    if (fill && contains(fill, cell) && !contains(range, cell)) classes.push('is-filling');
  }
  const mark = markAt(model, row, fieldId);
  return mark ? [...classes, `is-${mark.kind}`] : classes;
}

function columnsOf(model: ProjectModel, width: number): readonly GridColumn[] {
  const { sort } = model.view.value;
  const columns = model.columns.value;
  return fittingWidth(columns, width).flatMap(({ field: id, width, frozen: isFrozen }, at) => {
    const field = model.field(id);
    const frozen = isFrozen ? 'yes' : columns[at]?.frozen ? 'no-room' : 'no';
    const place = sort.findIndex((key) => key.field === id);
    const key = sort[place];
    return field
      ? [{ field, width, frozen, sort: key ? { direction: key.direction, rank: sort.length > 1 ? place + 1 : null } : null }]
      : [];
  });
}
