/** The keys of the order and of the groups: up to three each, the first the most important. */
import type { ComponentChildren } from 'preact';
import type { Field } from '../../fields/fields';
import type { ProjectModel } from '../../project/model';
import { allClosed } from '../../rows/groups';
import { MAX_GROUPS, MAX_SORT_KEYS, type GroupKey } from '../../view/view';
import type { SortKey } from '../../api/types';
import { Icon } from '../../ui/icon';
import { words } from '../../words';

const UNITS = [null, 'year', 'month', 'day'] as const;

export function SortPanel({ model }: { readonly model: ProjectModel }) {
  return (
    <SortKeys
      keys={model.view.value.sort}
      fields={model.fields}
      none={words.toolbar.noSort}
      onChange={(sort) => model.change({ sort })}
    />
  );
}

interface SortKeysProps {
  readonly keys: readonly SortKey[];
  readonly fields: readonly Field[];
  /** The text if there is no key. */
  readonly none: string;
  readonly onChange: (keys: readonly SortKey[]) => void;
}

export function SortKeys(props: SortKeysProps) {
  return (
    <Keys
      {...props}
      most={MAX_SORT_KEYS}
      make={(field): SortKey => ({ field: field.id, direction: 'asc', nulls: 'last' })}
      inputs={(key, change) => (
        <>
          <select
            aria-label={words.toolbar.direction}
            value={key.direction}
            onChange={(event) => change({ ...key, direction: event.currentTarget.value === 'desc' ? 'desc' : 'asc' })}
          >
            <option value="asc">{words.toolbar.ascending}</option>
            <option value="desc">{words.toolbar.descending}</option>
          </select>
          <select
            aria-label={words.toolbar.nulls}
            value={key.nulls}
            onChange={(event) => change({ ...key, nulls: event.currentTarget.value === 'first' ? 'first' : 'last' })}
          >
            <option value="last">{words.toolbar.nullsLast}</option>
            <option value="first">{words.toolbar.nullsFirst}</option>
          </select>
        </>
      )}
    />
  );
}

export function GroupPanel({ model }: { readonly model: ProjectModel }) {
  const set = (groups: readonly GroupKey[]) => model.change({ groups, closed: [] });
  const isTime = (id: string) => ['date', 'datetime'].includes(model.field(id)?.type ?? '');
  const grouped = model.view.value.groups.length > 0;
  const setClosed = (closed: readonly string[]) => model.change({ closed }, { replace: true });
  return (
    <>
      <Keys
        keys={model.view.value.groups}
        fields={model.fields.filter(({ id }) => id !== 'num')}
        most={MAX_GROUPS}
        none={words.toolbar.noGroups}
        onChange={set}
        make={(field): GroupKey => ({ field: field.id, unit: isTime(field.id) ? 'month' : null })}
        inputs={(key, change) =>
          isTime(key.field) && (
            <select
              aria-label={words.toolbar.unit}
              value={key.unit ?? ''}
              onChange={(event) => change({ ...key, unit: UNITS.find((unit) => unit === event.currentTarget.value) ?? null })}
            >
              {UNITS.map((unit) => (
                <option key={unit} value={unit ?? ''}>
                  {words.toolbar.units[unit ?? 'none']}
                </option>
              ))}
            </select>
          )
        }
      />
      {grouped && (
        <div class="row fold">
          <button class="button" type="button" onClick={() => setClosed(allClosed(model.groups.levels.peek()))}>
            {words.groups.close}
          </button>
          <button class="button" type="button" onClick={() => setClosed([])}>
            {words.groups.open}
          </button>
        </div>
      )}
    </>
  );
}

interface KeysProps<K extends { readonly field: string }> {
  readonly keys: readonly K[];
  readonly fields: readonly Field[];
  readonly most: number;
  readonly none: string;
  readonly make: (field: Field) => K;
  readonly inputs: (key: K, change: (key: K) => void) => ComponentChildren;
  readonly onChange: (keys: readonly K[]) => void;
}

function Keys<K extends { readonly field: string }>({ keys, fields, most, none, make, inputs, onChange }: KeysProps<K>) {
  const free = fields.filter(({ id }) => !keys.some((key) => key.field === id));
  const [next] = free;
  const put = (at: number, key: K) => onChange(keys.map((present, place) => (place === at ? key : present)));
  const up = (at: number) => onChange(keys.flatMap((key, place) => (place === at - 1 ? [keys[at] ?? key, key] : place === at ? [] : [key])));
  return (
    <>
      {keys.length === 0 && <p class="soft">{none}</p>}
      <ol class="keys">
        {keys.map((key, at) => (
          <li key={key.field}>
            <select
              aria-label={words.toolbar.field}
              value={key.field}
              onChange={(event) => {
                const field = fields.find(({ id }) => id === event.currentTarget.value);
                if (field) put(at, make(field));
              }}
            >
              {fields
                .filter((field) => field.id === key.field || free.includes(field))
                .map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
            </select>
            {inputs(key, (changed) => put(at, changed))}
            <button class="icon-button" type="button" disabled={at === 0} aria-label={words.toolbar.earlier} onClick={() => up(at)}>
              <Icon name="up" />
            </button>
            <button
              class="icon-button"
              type="button"
              aria-label={words.toolbar.remove}
              onClick={() => onChange(keys.filter((_, place) => place !== at))}
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ol>
      {keys.length < most && next && (
        <button class="button" type="button" onClick={() => onChange([...keys, make(next)])}>
          <Icon name="plus" />
          {words.toolbar.addKey}
        </button>
      )}
    </>
  );
}
