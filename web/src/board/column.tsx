/** A column of a board: its head, the form of a new card, and its cards, of which only those in view are drawn. */
import type { VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { pill } from '../cells/show';
import { formatFigure } from '../grid/figures';
import { Icon } from '../ui/icon';
import { words as pageWords } from '../words';
import type { Board, ShownColumn } from './board';
import { Card, cardHeight, pitchOf } from './card';
import { DraftForm } from './draft-form';
import { drawn, heightOf, isStretched, offsetAt, placeAt, revealing, scrolledTo, topOf } from './viewport';
import { boardWords as words } from './words';

export interface OpenMenu {
  readonly anchor: HTMLElement;
  readonly at: { readonly x: number; readonly y: number } | null;
  /** A column, or a card of it. */
  readonly column: string;
  readonly num: number | null;
}

interface ColumnProps {
  readonly board: Board;
  readonly column: ShownColumn;
  /** Whether it is in view, or nearly. */
  readonly isNear: boolean;
  readonly hint: string;
  readonly openMenu: (menu: OpenMenu) => void;
  readonly onKey: (event: KeyboardEvent, column: ShownColumn) => void;
  readonly onPress: (event: MouseEvent, column: ShownColumn) => void;
}

export function ColumnView(props: ColumnProps) {
  const { board, column } = props;
  const carried = board.carried.value;
  const name = board.nameOf(column);
  const { draft } = board.cards.value;
  const isTarget = carried?.over === column.key && board.takes(column);
  return (
    <div class={`board-column${isTarget ? ' is-target' : ''}`} data-column={column.key} role="group" aria-label={words.column(name, column.lane.length)}>
      <Head {...props} name={name} />
      {draft && board.cards.value.columnOf(draft) === column.key && <DraftForm key={draft.num} board={board} row={draft} />}
      <Cards {...props} name={name} />
    </div>
  );
}

function Head({ board, column, name, openMenu }: ColumnProps & { readonly name: string }) {
  const { limit, figure, lane, value } = column;
  const field = figure ? board.model.field(figure.field) : undefined;
  const over = limit === null ? 0 : lane.length - limit;
  return (
    <header class="board-head">
      <div class="board-title">
        <Name board={board} column={column} name={name} />
        <span class={`board-count${over > 0 ? ' is-over' : ''}`}>{words.count(lane.length, limit)}</span>
        {board.canMove && board.takes(column) && (
          <button class="icon-button" type="button" aria-label={words.add(name)} title={words.add(name)} onClick={() => board.add(column)}>
            <Icon name="plus" />
          </button>
        )}
        <button
          class="icon-button"
          type="button"
          aria-haspopup="menu"
          aria-label={words.menu(name)}
          title={words.menu(name)}
          onClick={(event) => openMenu({ anchor: event.currentTarget, at: null, column: column.key, num: null })}
        >
          <Icon name="more" />
        </button>
      </div>
      {(over > 0 || (figure && field && figure.value !== null)) && (
        <div class="board-facts">
          {figure && field && figure.value !== null && <span>{pageWords.groups.figure(figure.fn, field.name, formatFigure(field, figure.fn, figure.value))}</span>}
          {over > 0 && <span class="board-over">{words.over(over)}</span>}
        </div>
      )}
      {value === null && <span class="visually-hidden">{pageWords.groups.empty}</span>}
    </header>
  );
}

function Name({ board, column, name }: Pick<ColumnProps, 'board' | 'column'> & { readonly name: string }) {
  const element = useRef<HTMLSpanElement>(null);
  const { field } = board;
  const { value } = column;
  useLayoutEffect(() => {
    if (!element.current) return;
    if (field?.options.length && typeof value === 'string') element.current.replaceChildren(pill(field, value));
    else element.current.textContent = name;
  }, [field, value, name]);
  return <span ref={element} class="board-name" title={name} />;
}

function hasKeyboard(element: HTMLElement): boolean {
  return element.matches(':focus-visible');
}

/** Where the carried cards go. */
function DropLine({ top }: { readonly top: number }) {
  const line = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (line.current) line.current.style.transform = `translateY(${top}px)`;
  }, [top]);
  return <div ref={line} class="card-drop-line" />;
}

/** A card as it was drawn last. */
interface DrawnCard {
  readonly inputs: readonly unknown[];
  readonly card: VNode;
}

function viewOf({ scrollTop, clientHeight }: HTMLElement): { readonly scrolled: number; readonly height: number } {
  return { scrolled: scrollTop, height: clientHeight };
}

function Cards({ board, column, name, isNear, hint, onKey, onPress }: ColumnProps & { readonly name: string }) {
  const list = useRef<HTMLDivElement>(null);
  const space = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ scrolled: 0, height: 0 });
  const fields = board.fields.value;
  const extent = { count: column.lane.length, pitch: pitchOf(fields.length) };
  const shown = drawn(extent, view.scrolled, view.height);
  const latest = useRef({ extent });
  latest.current = { extent };
  const drawnBefore = useRef(new Map<number, DrawnCard>());
  // The first card in view: it stays in its place when cards come or go above it.
  const anchor = useRef<{ readonly num: number; readonly place: number } | null>(null);
  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return;
    const look = () => setView(viewOf(element));
    const resizing = new ResizeObserver(look);
    resizing.observe(element);
    board.views.set(column.key, {
      reveal: (place) => {
        element.scrollTop = revealing(latest.current.extent, place, element.scrollTop, element.clientHeight);
        look();
      },
      focus: () => element.focus({ preventScroll: true }),
      isFocused: () => hasKeyboard(element),
      placeAt: (y) => placeAt(latest.current.extent, y - element.getBoundingClientRect().top, element.scrollTop, element.clientHeight),
      extent: () => ({ top: drawn(latest.current.extent, element.scrollTop, element.clientHeight).top, page: Math.max(1, Math.floor(element.clientHeight / latest.current.extent.pitch)) }),
    });
    look();
    return () => {
      resizing.disconnect();
      board.views.delete(column.key);
      board.look(column, null);
    };
  }, [board, column.key]);
  useLayoutEffect(() => {
    if (space.current) space.current.style.height = `${heightOf(extent)}px`;
  }, [heightOf(extent)]);
  useLayoutEffect(() => {
    const element = list.current;
    const before = anchor.current;
    const now = before && view.scrolled > 0 ? board.placeOf(before.num) : undefined;
    if (element && before && now?.column.key === column.key && now.place !== before.place) {
      const offset = offsetAt(extent, element.scrollTop, element.clientHeight);
      element.scrollTop = scrolledTo(extent, offset + (now.place - before.place) * extent.pitch, element.clientHeight);
      setView(viewOf(element));
    }
  }, [column.lane]);
  useLayoutEffect(() => {
    const top = board.at(column, shown.top);
    anchor.current = top.kind === 'issue' ? { num: top.row.num, place: shown.top } : null;
    board.look(column, isNear ? shown : null);
  });
  const focus = board.focus.value;
  const idOf = (place: number) => `card-${column.key}-${place}`;
  const place = focus?.column === column.key ? board.placeOf(focus.num)?.place : undefined;
  const carried = board.carried.value;
  const dropsAt = carried?.over === column.key && board.takes(column) ? carried.place : null;
  // A card that is drawn already is drawn again only if one of these has changed, or a signal that it reads.
  const before = drawnBefore.current;
  drawnBefore.current = new Map();
  const looks = [fields, extent.count, board.model.view.value, board.model.ruling.value];
  const cards = [];
  for (let at = shown.first; isNear && view.height > 0 && at <= shown.last; at += 1) {
    const slot = board.at(column, at);
    const top = topOf(extent, at, view.scrolled, view.height);
    const inputs = [slot.kind === 'issue' ? slot.row : slot.kind, top, at === place, ...looks];
    const known = before.get(at);
    const isSame = known?.inputs.every((input, index) => input === inputs[index]) ?? false;
    const card = isSame && known ? known.card : (
      <Card
        key={at}
        board={board}
        slot={slot}
        fields={fields}
        id={idOf(at)}
        top={top}
        height={cardHeight(fields.length)}
        place={at}
        count={extent.count}
        isActive={at === place}
      />
    );
    drawnBefore.current.set(at, { inputs, card });
    cards.push(card);
  }
  return (
    <div
      ref={list}
      class="board-cards"
      role="listbox"
      tabIndex={0}
      aria-label={words.column(name, extent.count)}
      aria-describedby={hint}
      aria-multiselectable="true"
      aria-activedescendant={place !== undefined && place >= shown.first && place <= shown.last ? idOf(place) : undefined}
      onScroll={({ currentTarget }) => {
        const next = viewOf(currentTarget);
        // Between two cards nothing is drawn again, unless the scroll bar moves by less than the cards do.
        if (isStretched(extent) || drawn(extent, next.scrolled, next.height).top !== shown.top) setView(next);
      }}
      // A press chooses the card under it.
      onFocus={({ currentTarget, relatedTarget }) => {
        const isFromElsewhere = !currentTarget.matches(':active') && !(relatedTarget instanceof Element && relatedTarget.closest('.board'));
        if (!board.returned(column, isFromElsewhere) && hasKeyboard(currentTarget)) board.entered(column);
      }}
      onKeyDown={(event) => onKey(event, column)}
      onClick={(event) => onPress(event, column)}
      onDblClick={(event) => onPress(event, column)}
    >
      <div ref={space} class="board-space">
        {cards}
        {dropsAt !== null && <DropLine top={topOf(extent, dropsAt, view.scrolled, view.height)} />}
      </div>
      {extent.count === 0 && (
        <p class="board-none" aria-hidden="true">
          {words.none}
        </p>
      )}
    </div>
  );
}
