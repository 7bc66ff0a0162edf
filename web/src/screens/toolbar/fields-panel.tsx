/** The fields that are columns, their order, and which of them stay when the grid is scrolled sideways. */
import { useState } from 'preact/hooks';
import type { ProjectModel } from '../../project/model';
import { frozen, hidden, moved, shown } from '../../view/columns';
import type { Column } from '../../view/view';
import { Icon } from '../../ui/icon';
import { Moves, SIDEWAYS } from '../../ui/moves';
import { useSorting } from '../../ui/sorting';
import { words } from '../../words';

/** From this number of fields on they can be searched. */
const MANY = 12;

export function FieldsPanel({ model }: { readonly model: ProjectModel }) {
  const [wanted, setWanted] = useState('');
  const columns = model.columns.value;
  const set = (next: readonly Column[]) => model.change({ columns: next }, { replace: true });
  const [outcome, setOutcome] = useState('');
  const move = (field: string, before: string | null) => {
    const next = moved(columns, field, before);
    set(next);
    const name = model.fields.find(({ id }) => id === field)?.name ?? field;
    setOutcome(words.sorting.moved(name, next.findIndex((column) => column.field === field) + 1, next.length));
  };
  const sorted = useSorting<HTMLUListElement>(move);
  const place = new Map(columns.map(({ field }, at) => [field, at]));
  const fields = [...model.fields]
    .filter(({ name }) => name.toLocaleLowerCase().includes(wanted.trim().toLocaleLowerCase()))
    .sort((a, b) => (place.get(a.id) ?? Infinity) - (place.get(b.id) ?? Infinity));
  return (
    <>
      {model.fields.length > MANY && (
        <input
          type="search"
          aria-label={words.toolbar.findField}
          placeholder={words.toolbar.findField}
          value={wanted}
          onInput={(event) => setWanted(event.currentTarget.value)}
        />
      )}
      <ul class="field-list" ref={sorted}>
        {fields.map(({ id, name, type }) => {
          const at = place.get(id);
          const column = at === undefined ? undefined : columns[at];
          return (
            <li key={id} {...(column && !wanted.trim() && { 'data-item': id, 'data-kind': 'shown' })}>
              <span class="grip" aria-hidden="true">
                {column && !wanted.trim() && <Icon name="grip" />}
              </span>
              <label>
                <input
                  type="checkbox"
                  checked={column !== undefined}
                  disabled={column !== undefined && columns.length === 1}
                  onChange={() => set(column ? hidden(columns, id) : shown(columns, id, model.fields))}
                />
                <Icon name={type} />
                <span>{name}</span>
              </label>
              {column && at !== undefined && (
                <>
                  <button
                    class={`icon-button${column.frozen ? ' is-set' : ''}`}
                    type="button"
                    aria-pressed={column.frozen}
                    aria-label={words.toolbar.freeze(name)}
                    title={words.toolbar.freeze(name)}
                    onClick={() => set(frozen(columns, id, !column.frozen))}
                  >
                    <Icon name="pin" />
                  </button>
                  <Moves labels={SIDEWAYS} name={name} keys={columns.map(({ field }) => field)} item={id} onMove={move} />
                </>
              )}
            </li>
          );
        })}
      </ul>
      <p class="visually-hidden" role="status">
        {outcome}
      </p>
      <button class="button" type="button" onClick={() => model.change({ columns: null })}>
        {words.toolbar.allFields}
      </button>
    </>
  );
}
