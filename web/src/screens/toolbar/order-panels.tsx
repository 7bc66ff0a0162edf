/** The keys of the order and of the groups: up to three each, the first the most important. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Field } from '../../fields/fields';
import type { ProjectModel } from '../../project/model';
import { allClosed } from '../../rows/groups';
import { groupOrder, orderText } from '../../view/address';
import { canOrder, summaryFunction } from '../../view/footers';
import { groupKeyOf, groupProposed, isWidthOfRanges, MAX_GROUPS, MAX_SORT_KEYS, type GroupKey, type GroupOrder } from '../../view/view';
import type { SortKey } from '../../api/types';
import { formatNumber } from '../../cells/format';
import { parseNumber } from '../../cells/parse';
import { exactOf } from '../../api/json';
import { useItemFocus } from '../../ui/focus';
import { Icon } from '../../ui/icon';
import { StepButton } from '../../ui/step-button';
import { words } from '../../words';
import { ManualOrder } from './manual-order';

const UNITS = [null, 'year', 'month', 'day'] as const;

export function SortPanel({ model }: { readonly model: ProjectModel }) {
  return (
    <>
      {model.view.value.manual === null && (
        <SortKeys
          keys={model.view.value.sort}
          fields={model.fields}
          none={words.toolbar.noSort}
          onChange={(sort) => model.change({ sort })}
        />
      )}
      <ManualOrder model={model} />
    </>
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
      make={(field, before): SortKey => ({ direction: 'asc', nulls: 'last', ...before, field: field.id })}
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
  const set = (groups: readonly GroupKey[]) => model.change({ groups, closed: [], ...(!groups.length && { groupOrder: null }) });
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
        propose={groupProposed}
        make={(field) => groupKeyOf(field)}
        inputs={(key, change) =>
          model.field(key.field)?.type === 'number' ? (
            <Width key={key.field} of={key} onChange={change} />
          ) : isTime(key.field) && (
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
      {grouped && <Order model={model} />}
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

/** The width of ranges of numbers; empty for each number. It takes effect when the user leaves it or presses Enter. */
function Width({ of: key, onChange }: { readonly of: GroupKey; readonly onChange: (key: GroupKey) => void }) {
  const input = useRef<HTMLInputElement>(null);
  const [wrong, setWrong] = useState(false);
  const shown = key.width === undefined ? '' : formatNumber(exactOf(key.width));
  useEffect(() => {
    if (input.current) input.current.value = shown;
    setWrong(false);
  }, [shown]);
  const enter = (text: string) => {
    if (text === '') {
      setWrong(false);
      // A saved view may have ranges between bounds. They stay until a width replaces them.
      if (key.width !== undefined) onChange({ field: key.field, unit: null });
      return;
    }
    const parsed = parseNumber(text);
    const digits = parsed.ok ? String(parsed.value) : '';
    setWrong(!isWidthOfRanges(digits));
    if (isWidthOfRanges(digits)) onChange({ field: key.field, unit: null, width: String(exactOf(digits)) });
  };
  return (
    <>
      <input
        ref={input}
        class="width"
        inputMode="decimal"
        aria-label={words.groups.width}
        aria-invalid={wrong}
        placeholder={key.bins ? words.groups.bounds : words.groups.eachNumber}
        defaultValue={shown}
        onChange={(event) => enter(event.currentTarget.value.trim())}
      />
      {wrong && (
        <p class="bad" role="alert">
          {words.groups.notWidth}
        </p>
      )}
    </>
  );
}

/** The order of the groups: of their fields, by their number of issues, or by a summary of a number column. */
function Order({ model }: { readonly model: ProjectModel }) {
  const { groupOrder: present, footers } = model.view.value;
  const set = (order: GroupOrder | null) => model.change({ groupOrder: order });
  const offered = Object.entries(footers).flatMap(([field, name]): readonly Ranked[] => {
    const fn = summaryFunction(name);
    return fn && canOrder(fn) && model.field(field)?.type === 'number' ? [{ field, fn }] : [];
  });
  const all: readonly Ranked[] = [{ field: null, fn: 'count' }, ...offered];
  const isPresent = ({ field, fn }: Ranked) => field === present?.field && fn === present.fn;
  const listed = present && !all.some(isPresent) ? [...all, present] : all;
  const valueOf = (one: Ranked) => orderText({ ...one, direction: 'asc' });
  return (
    <div class="row group-order">
      <label>
        {words.groups.order}{' '}
        <select
          value={present ? valueOf(present) : ''}
          onChange={(event) => {
            const chosen = groupOrder(event.currentTarget.value);
            set(chosen && { ...chosen, direction: present?.direction ?? 'desc' });
          }}
        >
          <option value="">{words.groups.byFields}</option>
          {listed.map((one) => (
            <option key={valueOf(one)} value={valueOf(one)}>
              {one.field === null ? words.groups.byCount : words.groups.function(one.fn, model.field(one.field)?.name ?? one.field)}
            </option>
          ))}
        </select>
      </label>
      {present && (
        <select
          aria-label={words.toolbar.direction}
          value={present.direction}
          onChange={(event) => set({ ...present, direction: event.currentTarget.value === 'desc' ? 'desc' : 'asc' })}
        >
          <option value="desc">{words.toolbar.descending}</option>
          <option value="asc">{words.toolbar.ascending}</option>
        </select>
      )}
    </div>
  );
}

type Ranked = Pick<GroupOrder, 'field' | 'fn'>;

interface KeysProps<K extends { readonly field: string }> {
  readonly keys: readonly K[];
  readonly fields: readonly Field[];
  readonly most: number;
  readonly none: string;
  /** The field of a new key; without it the first free one. */
  readonly propose?: (free: readonly Field[]) => Field | undefined;
  /** The key of a field: a new one, or in place of the key of another field. */
  readonly make: (field: Field, before?: K) => K;
  readonly inputs: (key: K, change: (key: K) => void) => ComponentChildren;
  readonly onChange: (keys: readonly K[]) => void;
}

function Keys<K extends { readonly field: string }>({ keys, fields, most, none, propose = ([first]) => first, make, inputs, onChange }: KeysProps<K>) {
  const free = fields.filter(({ id }) => !keys.some((key) => key.field === id));
  const next = propose(free);
  const list = useRef<HTMLOListElement>(null);
  const add = useRef<HTMLButtonElement>(null);
  const { focus, removed } = useItemFocus(list, add);
  const put = (at: number, key: K) => onChange(keys.map((present, place) => (place === at ? key : present)));
  const up = (at: number) => {
    focus(at - 1, 'button');
    onChange(keys.flatMap((key, place) => (place === at - 1 ? [keys[at] ?? key, key] : place === at ? [] : [key])));
  };
  const remove = (at: number) => {
    removed(at, keys.length);
    onChange(keys.filter((_, place) => place !== at));
  };
  return (
    <>
      {keys.length === 0 && <p class="soft">{none}</p>}
      <ol class="keys" ref={list}>
        {keys.map((key, at) => (
          // By its place: its select keeps the focus while it changes the field.
          <li key={at}>
            <select
              aria-label={words.toolbar.field}
              value={key.field}
              onChange={(event) => {
                const field = fields.find(({ id }) => id === event.currentTarget.value);
                if (field) put(at, make(field, key));
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
            <StepButton way="up" label={words.toolbar.earlier} isAtEnd={at === 0} act={() => up(at)} />
            <button class="icon-button" type="button" aria-label={words.toolbar.remove} onClick={() => remove(at)}>
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ol>
      {keys.length < most && next && (
        <button
          ref={add}
          class="button"
          type="button"
          onClick={() => {
            focus(keys.length, 'select');
            onChange([...keys, make(next)]);
          }}
        >
          <Icon name="plus" />
          {words.toolbar.addKey}
        </button>
      )}
    </>
  );
}
