/** The board in the place of the grid: its columns beside each other, and the hidden ones at the end. */
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Cell } from '../selection/range';
import type { MenuSources } from '../grid/menu-sources';
import { moveEntries } from '../grid/move-entries';
import { rowEntries } from '../grid/row-entries';
import { pointIn } from '../place';
import { followContext } from '../ui/context';
import { Menu, type MenuEntry } from '../ui/menu';
import { neighbour } from '../ui/sorting';
import { Board, type ShownColumn } from './board';
import { ColumnView, type OpenMenu } from './column';
import { beginDrag } from './drag';
import { boardWords as words } from './words';

/** Columns that are drawn beyond the edges of the view, in pixels. */
const NEAR = 320;

/** What the page does with the board, as with the grid. */
export interface BoardHandle {
  focus(cell: Cell): void;
  reveal(cell: Cell): void;
  edit(cell: Cell): void;
  /** Show the form of a new card. */
  add(): void;
}

export interface BoardViewProps extends MenuSources {
  readonly onReady: (board: BoardHandle) => void;
}

export function BoardView({ model, actions, onAdd, onReady }: BoardViewProps) {
  const board = useMemo(() => new Board(model, actions), [model, actions]);
  const root = useRef<HTMLDivElement>(null);
  const hint = useId();
  const [menu, setMenu] = useState<OpenMenu | null>(null);
  useEffect(() => board.connect(), [board]);
  useEffect(() => {
    const goTo = ({ row }: Cell) => board.goTo(row);
    onReady({ focus: goTo, reveal: ({ row }) => board.goTo(row, { takesFocus: false }), edit: goTo, add: () => board.add() });
  }, [board]);
  useEffect(() => {
    const host = root.current;
    if (!host) return;
    return followContext({
      host,
      find: (element) => {
        const anchor = element.closest<HTMLElement>('[data-card]');
        const column = anchor?.closest<HTMLElement>('[data-column]')?.dataset['column'];
        return anchor && column !== undefined ? { anchor, column, num: Number(anchor.dataset['card']) } : null;
      },
      open: ({ anchor, column, num }, at) => {
        board.choose(column, num, { reveals: false });
        setMenu({ anchor, at: pointIn(anchor, at), column, num });
      },
    });
  }, [board]);
  const near = useNear(root, board.shown.value.length);
  const press = (event: PointerEvent) => {
    if (!root.current) return;
    beginDrag(event, root.current, {
      start: (num) => {
        if (!board.pickUp(num, null)) return null;
        const { name = '', nums = [] } = board.carried.peek() ?? {};
        return nums.length === 1 ? name : words.cards(nums.length);
      },
      over: (column, y) => board.carryTo(column, y),
      drop: () => board.drop({ reveals: false }),
      cancel: () => board.cancel(),
    });
  };
  return (
    <>
      <div ref={root} class={`board${board.carried.value ? ' is-carrying' : ''}`} role="group" aria-label={words.label(model.project.name)} onPointerDown={press}>
        {board.shown.value.map((column, at) => (
          <ColumnView
            key={column.key}
            board={board}
            column={column}
            isNear={at >= near.first && at <= near.last}
            hint={hint}
            openMenu={setMenu}
            onKey={(event, of) => pressed(event, board, of, setMenu)}
            onPress={(event, of) => clicked(event, board, of)}
          />
        ))}
        <Rest board={board} />
      </div>
      <p id={hint} hidden>
        {board.canMove ? (board.model.canPlace ? words.keysManual : words.keys) : words.viewKeys}
      </p>
      <p class="visually-hidden" aria-live="assertive">
        {board.announcement.value}
      </p>
      {menu && (
        <Menu
          key={`${menu.column} ${menu.num}`}
          anchor={menu.anchor}
          at={menu.at}
          label={labelOf(menu, board)}
          groups={entriesOf(menu, board, { model, actions, onAdd })}
          onClose={() => setMenu((now) => (now === menu ? null : now))}
        />
      )}
    </>
  );
}

/** The columns that are in view, and just beyond. */
function useNear(root: { readonly current: HTMLElement | null }, count: number): { readonly first: number; readonly last: number } {
  const [near, setNear] = useState({ first: 0, last: 0 });
  useLayoutEffect(() => {
    const element = root.current;
    if (!element) return;
    const look = () => {
      const { left, right } = element.getBoundingClientRect();
      const columns = [...element.querySelectorAll(':scope > .board-column')].map((one) => one.getBoundingClientRect());
      const inView = columns.flatMap((box, at) => (box.right > left - NEAR && box.left < right + NEAR ? [at] : []));
      const [first = 0, last = 0] = [inView[0], inView.at(-1)];
      setNear((now) => (now.first === first && now.last === last ? now : { first, last }));
    };
    const resizing = new ResizeObserver(look);
    resizing.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    look();
    return () => {
      resizing.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [count]);
  return near;
}

/** The hidden columns, and the ones that are not loaded. */
function Rest({ board }: { readonly board: Board }) {
  const hidden = board.hidden.value;
  const left = board.all.value.length - hidden.length - board.shown.value.length;
  const more = board.model.groups.more.value;
  if (!hidden.length && left <= 0 && !more) return null;
  const over = board.carried.value?.over;
  return (
    <div class="board-rest">
      {(left > 0 || more) && (
        <button class="button" type="button" onClick={() => board.showMore()}>
          {more ? words.moreUnknown : words.more(left)}
        </button>
      )}
      {hidden.length > 0 && (
        <>
          <span class="board-rest-title">{words.hidden}</span>
          <ul>
            {hidden.map((column) => (
              <li key={column.key} data-column={column.key} class={over === column.key ? 'is-target' : ''}>
                <button type="button" title={words.show(board.nameOf(column))} onClick={() => board.setColumn(column, { hidden: false })}>
                  <span class="visually-hidden">{words.showing} </span>
                  <span class="board-rest-name">{board.nameOf(column)}</span>{' '}
                  <span class={`board-count${column.limit !== null && column.count > column.limit ? ' is-over' : ''}`}>{words.count(column.count, column.limit)}</span>
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

function labelOf({ num, column }: OpenMenu, board: Board): string {
  if (num !== null) return words.card(num);
  const found = board.all.peek().find(({ key }) => key === column);
  return found ? words.menu(board.nameOf(found)) : '';
}

function entriesOf({ num, column: key }: OpenMenu, board: Board, sources: MenuSources): readonly (readonly MenuEntry[])[] {
  const shown = board.shown.peek();
  const column = shown.find((one) => one.key === key);
  if (!column) return [];
  if (num !== null) return cardEntries(num, column, board, sources);
  const keys = shown.map((one) => one.key);
  const moves = ([['left', 'left', -1], ['right', 'right', 1]] as const).map(([text, icon, by]) => {
    const before = neighbour(keys, key, by);
    return { text: words[text], icon, disabled: before === undefined, act: () => board.moveColumn(key, before ?? null) };
  });
  const hide: MenuEntry = { text: words.hide, act: () => board.setColumn(column, { hidden: true }) };
  return [
    ...(board.canMove && board.takes(column) ? [[{ text: words.add(board.nameOf(column)), icon: 'plus' as const, act: () => board.add(column) }]] : []),
    [...moves, hide],
  ];
}

function cardEntries(num: number, from: ShownColumn, board: Board, sources: MenuSources): readonly (readonly MenuEntry[])[] {
  const row = board.model.rows.held(num);
  if (!row) return [];
  const targets = board.canMove ? board.all.peek().filter((column) => column.key !== from.key && board.takes(column)) : [];
  const moves = targets.map((column): MenuEntry => ({
    text: words.moveTo(board.nameOf(column)),
    act: () => {
      if (!board.pickUp(num, column.key)) return;
      board.drop({ reveals: true });
    },
  }));
  return [...rowEntries(row, sources, moveEntries(board.mover(num))), moves];
}

/** A click on a card: it gets the focus, is checked (Ctrl, Shift), or opens (twice, or its button). */
function clicked(event: MouseEvent, board: Board, column: ShownColumn): void {
  const card = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-card]') : null;
  if (!card) return;
  const num = Number(card.dataset['card']);
  if (event.ctrlKey || event.metaKey || event.shiftKey) {
    if (event.type === 'click') board.check(column, num, event.shiftKey ? 'extends' : 'toggles');
  }
  board.choose(column.key, num, { reveals: false });
  if (event.type === 'dblclick' || (event.target instanceof Element && event.target.closest('[data-open]'))) board.model.openIssue();
}

/** A key at the cards of a column. */
function pressed(event: KeyboardEvent, board: Board, column: ShownColumn, openMenu: (menu: OpenMenu) => void): void {
  const { model } = board;
  board.keepFocus();
  const num = board.focus.peek()?.num;
  const isOnCard = num !== undefined && board.focus.peek()?.column === column.key;
  const take = () => {
    event.preventDefault();
    event.stopPropagation();
  };
  if (board.carried.peek()) {
    if (event.key === ' ' || event.key === 'Enter') board.drop({ reveals: true });
    else if (event.key === 'Escape' || event.key === 'Tab') board.cancel();
    else if (!board.carryBy(event.key) && !event.key.startsWith('Arrow')) return;
    if (event.key !== 'Tab') take();
    return;
  }
  if ((event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) && isOnCard) {
    const list = event.currentTarget instanceof Element ? event.currentTarget : null;
    const card = list?.querySelector<HTMLElement>(`[data-card="${num}"]`);
    if (!card) return;
    take();
    openMenu({ anchor: card, at: { x: 0, y: card.clientHeight }, column: column.key, num });
    return;
  }
  const control = event.ctrlKey || event.metaKey;
  if (event.altKey) {
    if (!isOnCard || !model.canPlace || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
    take();
    void board.stepPlace(num, event.key === 'ArrowUp' ? -1 : 1);
    return;
  }
  if (event.key === ' ' && isOnCard) {
    take();
    if (control) model.checked.toggle(num);
    else if (board.pickUp(num, column.key)) board.announce();
  } else if (event.key === 'Enter' && isOnCard) {
    take();
    model.openIssue();
  } else if (event.key === 'Escape' && model.checked.nums.peek().size) {
    take();
    model.checked.clear();
  } else if (!control && board.step(event.key, column, { extends: event.shiftKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown') })) take();
  else if (event.key.startsWith('Arrow') || event.key === 'Home' || event.key === 'End' || event.key.startsWith('Page')) take();
}
