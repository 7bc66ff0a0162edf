/** The settings of a board: the field of its columns, their order and limits, the fields on the cards, and a figure. */
import { useMemo, useState } from 'preact/hooks';
import type { Actions } from '../project/actions';
import type { ProjectModel } from '../project/model';
import { FormulaMark } from '../ui/formula-mark';
import { Icon } from '../ui/icon';
import { Moves, SIDEWAYS } from '../ui/moves';
import { useSorting } from '../ui/sorting';
import { movedBefore } from '../view/moved';
import { canColumn, MAX_CARD_FIELDS, MAX_CARDS, type Board as Settings } from '../view/board';
import { functionsOf, summaryFunction } from '../view/footers';
import { words as pageWords } from '../words';
import { Board } from './board';
import type { Column } from './columns';
import { boardWords } from './words';

const words = boardWords.panel;

/** From this number of fields on they can be searched. */
const MANY = 12;

export function BoardPanel({ model, actions }: { readonly model: ProjectModel; readonly actions: Actions }) {
  const board = useMemo(() => new Board(model, actions), [model, actions]);
  const settings = board.settings.value;
  if (!settings) return null;
  return (
    <div class="board-panel">
      <label class="board-by">
        {words.by}
        <select value={settings.by} onChange={(event) => board.set({ by: event.currentTarget.value, columns: [] })}>
          {model.fields.filter(canColumn).map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <Columns board={board} />
      <CardFields board={board} settings={settings} />
      <Aggregate board={board} settings={settings} />
    </div>
  );
}

function Columns({ board }: { readonly board: Board }) {
  const [outcome, setOutcome] = useState('');
  const columns = board.all.value;
  const move = (key: string, before: string | null) => {
    board.moveColumn(key, before);
    const at = board.all.peek().findIndex((column) => column.key === key);
    const column = board.all.peek()[at];
    if (column) setOutcome(pageWords.sorting.moved(board.nameOf(column), at + 1, columns.length));
  };
  const sorted = useSorting<HTMLUListElement>(move);
  return (
    <fieldset class="board-part">
      <legend>{words.columns}</legend>
      <ul class="field-list" ref={sorted}>
        {columns.map((column) => (
          <li key={column.key} data-item={column.key} data-kind="column">
            <span class="grip" aria-hidden="true">
              <Icon name="grip" />
            </span>
            <label>
              <input type="checkbox" checked={!column.hidden} onChange={() => board.setColumn(column, { hidden: !column.hidden })} />
              <span>{board.nameOf(column)}</span>
            </label>
            <Limit board={board} column={column} />
            <Moves labels={SIDEWAYS} name={board.nameOf(column)} keys={columns.map(({ key }) => key)} item={column.key} onMove={move} />
          </li>
        ))}
      </ul>
      <p class="visually-hidden" role="status">
        {outcome}
      </p>
    </fieldset>
  );
}

function Limit({ board, column }: { readonly board: Board; readonly column: Column }) {
  const label = words.limit(board.nameOf(column));
  // What is typed stays when the board is drawn again meanwhile.
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <input
      class="board-limit"
      type="number"
      min={1}
      max={MAX_CARDS}
      step={1}
      aria-label={label}
      title={label}
      placeholder={words.limitShort}
      value={typed ?? column.limit ?? ''}
      onInput={(event) => setTyped(event.currentTarget.value)}
      onChange={(event) => {
        const { value, validity } = event.currentTarget;
        if (!validity.valid) return;
        board.setColumn(column, { limit: value === '' ? null : Number(value) });
        setTyped(null);
      }}
    />
  );
}

function CardFields({ board, settings }: { readonly board: Board; readonly settings: Settings }) {
  const [wanted, setWanted] = useState('');
  const { card } = settings;
  const move = (id: string, before: string | null) => board.set({ card: movedBefore(card, id, (one) => one === before) });
  const sorted = useSorting<HTMLUListElement>(move);
  const { fields } = board.model;
  const chosen = card.flatMap((id) => fields.find((field) => field.id === id) ?? []);
  const found = fields.filter(({ id, name }) => id !== 'name' && !card.includes(id) && name.toLocaleLowerCase().includes(wanted.trim().toLocaleLowerCase()));
  return (
    <fieldset class="board-part">
      <legend>{words.card}</legend>
      {fields.length > MANY && (
        <input type="search" aria-label={words.find} placeholder={words.find} value={wanted} onInput={(event) => setWanted(event.currentTarget.value)} />
      )}
      <ul class="field-list" ref={sorted}>
        {[...chosen, ...found].map(({ id, name, type, formula }) => {
          const isChosen = card.includes(id);
          return (
            <li key={id} {...(isChosen && { 'data-item': id, 'data-kind': 'field' })}>
              <span class="grip" aria-hidden="true">
                {isChosen && <Icon name="grip" />}
              </span>
              <label>
                <input
                  type="checkbox"
                  checked={isChosen}
                  disabled={!isChosen && card.length >= MAX_CARD_FIELDS}
                  onChange={() => board.set({ card: isChosen ? card.filter((one) => one !== id) : [...card, id] })}
                />
                <Icon name={type} />
                <span>{name}</span>
                <FormulaMark formula={formula} />
              </label>
              {isChosen && <Moves labels={words} name={name} keys={card} item={id} onMove={move} />}
            </li>
          );
        })}
      </ul>
      {card.length >= MAX_CARD_FIELDS && <p class="soft">{words.full(MAX_CARD_FIELDS)}</p>}
    </fieldset>
  );
}

function Aggregate({ board, settings: { aggregate } }: { readonly board: Board; readonly settings: Settings }) {
  const numbers = board.model.fields.filter(({ type, id }) => type === 'number' && id !== 'num');
  if (!numbers.length) return null;
  return (
    <fieldset class="board-part">
      <legend>{words.aggregate}</legend>
      <div class="row">
        <select
          aria-label={words.aggregate}
          value={aggregate?.field ?? ''}
          onChange={(event) => {
            const field = event.currentTarget.value;
            board.set({ aggregate: field ? { field, function: aggregate?.function ?? 'sum' } : null });
          }}
        >
          <option value="">{words.noAggregate}</option>
          {numbers.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
        {aggregate && (
          <select
            aria-label={words.function}
            value={aggregate.function}
            onChange={(event) => {
              const fn = summaryFunction(event.currentTarget.value);
              if (fn) board.set({ aggregate: { ...aggregate, function: fn } });
            }}
          >
            {functionsOf('number').map((fn) => (
              <option key={fn} value={fn}>
                {pageWords.summary.functions[fn]}
              </option>
            ))}
          </select>
        )}
      </div>
    </fieldset>
  );
}
