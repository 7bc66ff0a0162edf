/** A card: the name of an issue, and the chosen fields below it. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { showCell } from '../cells/show';
import { keyOf, noteOf } from '../edits/marks';
import type { Field } from '../fields/fields';
import { unavailableIn, valueOf, type Row } from '../fields/values';
import { rowColor } from '../grid/row-color';
import type { Slot } from '../rows/store';
import { Icon } from '../ui/icon';
import { colorOfCell } from '../view/rules';
import type { Board } from './board';
import { boardWords as words } from './words';

/** Pixels: the space above and below the content, the two lines of the name, and each field. */
const PADDING = 18;
const NAME = 36;
const LINE = 22;
/** Pixels between two cards. */
const GAP = 8;

/** The height of a card in pixels, without the space to the next. */
export function cardHeight(fields: number): number {
  return pitchOf(fields) - GAP;
}

/** Pixels from the top of a card to that of the next. */
export function pitchOf(fields: number): number {
  return PADDING + NAME + fields * LINE + GAP;
}

interface CardProps {
  readonly board: Board;
  readonly slot: Slot;
  readonly fields: readonly Field[];
  /** The id of the element. */
  readonly id: string;
  /** Pixels from the top of the column's content. */
  readonly top: number;
  readonly height: number;
  /** From 0. */
  readonly place: number;
  readonly count: number;
  readonly isActive: boolean;
}

export function Card({ slot, ...props }: CardProps) {
  const element = useRef<HTMLDivElement>(null);
  const { top, height, id, place, count } = props;
  useLayoutEffect(() => {
    const { style } = element.current ?? {};
    if (!style) return;
    style.transform = `translateY(${top}px)`;
    style.height = `${height}px`;
  }, [top, height]);
  const row = slot.kind === 'issue' ? slot.row : null;
  return (
    <div
      ref={element}
      id={id}
      class={row ? classesOf(row, props) : `card is-${slot.kind}`}
      role="option"
      aria-posinset={place + 1}
      aria-setsize={count}
      aria-selected={row !== null && props.board.model.checked.nums.value.has(row.num)}
      aria-busy={slot.kind === 'loading'}
      {...(row && { 'data-card': row.num })}
    >
      {row ? <Content row={row} {...props} /> : <span class="visually-hidden">{slot.kind === 'gone' ? words.gone : words.loading}</span>}
    </div>
  );
}

function classesOf(row: Row, { board, isActive }: Pick<CardProps, 'board' | 'isActive'>): string {
  const { model } = board;
  const color = rowColor(model, row);
  const mark = model.editor.marks.value.get(keyOf(row.num, board.settings.value?.by ?? ''));
  return [
    'card',
    ...(color ? ['is-colored', `is-${color}`] : []),
    ...(mark ? [`is-${mark.kind}`] : []),
    ...(model.misfits.value.has(row.num) ? ['is-misfit'] : []),
    ...(model.live.others.value.some(({ num }) => num === row.num) ? ['is-others-place'] : []),
    ...(isActive ? ['is-active'] : []),
    ...(board.carried.value?.nums.includes(row.num) ? ['is-carried'] : []),
  ].join(' ');
}

function Content({ row, board, fields }: Pick<CardProps, 'board' | 'fields'> & { readonly row: Row }) {
  const { model } = board;
  const note = noteOf(model.editor.marks.value.get(keyOf(row.num, board.settings.value?.by ?? '')));
  return (
    <>
      <div class="card-head">
        <span class={`card-name${model.finding.sought.value && model.finding.has(row, 'name') ? ' is-found' : ''}`}>{String(valueOf(row, 'name') ?? '')}</span>
        <span class="card-num">
          <span class="visually-hidden">{words.number(row.num)}</span>
          <span aria-hidden="true">{row.num}</span>
        </span>
        <span class="card-tools" aria-hidden="true">
          <span class="card-open" data-open="" title={words.open}>
            <Icon name="expand" />
          </span>
          {board.canMove && (
            <span class="grip">
              <Icon name="grip" />
            </span>
          )}
        </span>
      </div>
      {note && <span class="card-note">{note}</span>}
      {fields.map((field) => {
        if (valueOf(row, field.id) === null && !unavailableIn(row, field.id)) return null;
        const color = colorOfCell(model.ruling.value, row, field.id);
        const mark = model.editor.marks.value.get(keyOf(row.num, field.id));
        const classes = [
          'card-line',
          ...(color ? ['is-tinted', `is-${color}`] : []),
          ...(mark ? [`is-${mark.kind}`] : []),
          ...(model.computing.isOutdated(row, field.id) ? ['is-outdated'] : []),
          ...(model.finding.sought.value && model.finding.has(row, field.id) ? ['is-found'] : []),
        ];
        return (
          <div key={field.id} class={classes.join(' ')}>
            <span class="card-field">{field.name}</span>
            <Value field={field} row={row} />
          </div>
        );
      })}
    </>
  );
}

function Value({ field, row }: { readonly field: Field; readonly row: Row }) {
  const element = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (element.current) showCell(element.current, field, row, { links: false });
  }, [field, row]);
  return <span ref={element} class={`cell cell-${field.type}`} />;
}
