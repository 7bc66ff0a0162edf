/** The builder of filters. Input takes effect when it is applied, so that no incomplete filter is sent. */
import { useRef, useState } from 'preact/hooks';
import type { Field } from '../../fields/fields';
import type { ProjectModel } from '../../project/model';
import {
  added,
  conditionsIn,
  depthOf,
  fromFilter,
  JOINS,
  levels,
  MAX_CONDITIONS,
  MAX_DEPTH,
  newCondition,
  NO_CONDITIONS,
  operatorsOf,
  toFilter,
  withField,
  withOperator,
  type ConditionDraft,
  type Draft,
  type GroupDraft,
} from '../../view/filters';
import { ownTimezone } from '../../view/relative';
import { filterText } from '../../cells/filter-text';
import { useItemFocus } from '../../ui/focus';
import { Icon } from '../../ui/icon';
import { words } from '../../words';
import { Operands } from './operands';

export function FilterPanel({ model, close }: { readonly model: ProjectModel; readonly close: () => void }) {
  const [draft, setDraft] = useState(() => begun(model));
  const filter = toFilter(draft, model.fields);
  const tooMany = conditionsIn(filter) > MAX_CONDITIONS;
  const apply = (next: GroupDraft) => {
    model.change({ filter: toFilter(next, model.fields) });
    close();
  };
  return (
    <form
      class="filter-panel"
      onSubmit={(event) => {
        event.preventDefault();
        apply(draft);
      }}
    >
      <FilterGroup draft={draft} fields={model.fields} room={MAX_DEPTH} onChange={setDraft} />
      {tooMany && <p role="alert">{words.filter.tooMany(MAX_CONDITIONS)}</p>}
      <div class="row-end">
        <button class="button" type="button" onClick={() => apply(NO_CONDITIONS)}>
          {words.filter.clear}
        </button>
        <button class="button primary" type="submit" disabled={tooMany}>
          {words.filter.apply}
        </button>
      </div>
    </form>
  );
}

/** The present filter, with a new condition if one was requested, or if there is none yet. */
function begun(model: ProjectModel): GroupDraft {
  const draft = fromFilter(model.view.peek().filter, model.fields);
  const asked = model.panels.filtering.peek() ?? (draft.parts.length ? null : 'name');
  const field = model.field(asked ?? '');
  return field ? added(draft, newCondition(field)) : draft;
}

interface PartProps<D extends Draft> {
  readonly draft: D;
  readonly fields: readonly Field[];
  /** Levels that may still be nested here. */
  readonly room: number;
  readonly onChange: (draft: D) => void;
}

/** The inputs of a group of conditions. */
export function FilterGroup({ draft, fields, room, onChange }: PartProps<GroupDraft>) {
  const put = (at: number, part: Draft) => onChange({ ...draft, parts: draft.parts.map((present, place) => (place === at ? part : present)) });
  const list = useRef<HTMLUListElement>(null);
  const add = useRef<HTMLButtonElement>(null);
  const { removed } = useItemFocus(list, add);
  const within = room - levels(draft.join);
  const [first] = fields.filter(({ id }) => id === 'name');
  const fits = (join: GroupDraft['join']) => depthOf({ ...draft, join }) <= room;
  return (
    <fieldset class="filter-group">
      <legend class="visually-hidden">{words.filter.group}</legend>
      <select
        aria-label={words.filter.join}
        value={draft.join}
        onChange={(event) => {
          const join = JOINS.find((one) => one === event.currentTarget.value);
          if (join) onChange({ ...draft, join });
        }}
      >
        {JOINS.map((join) => (
          <option key={join} value={join} disabled={!fits(join)}>
            {words.filter.joins[join]}
          </option>
        ))}
      </select>
      <ul ref={list}>
        {draft.parts.map((part, at) => (
          <li key={at}>
            {part.kind === 'condition' && <Condition draft={part} fields={fields} room={within} onChange={(next) => put(at, next)} />}
            {part.kind === 'group' && <FilterGroup draft={part} fields={fields} room={within} onChange={(next) => put(at, next)} />}
            {part.kind === 'fixed' && <span class="fixed-part">{filterText(part.filter, fields)}</span>}
            <button
              class="icon-button"
              type="button"
              aria-label={words.filter.remove}
              title={words.filter.remove}
              onClick={() => {
                removed(at, draft.parts.length);
                onChange({ ...draft, parts: draft.parts.filter((_, place) => place !== at) });
              }}
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ul>
      <div class="row">
        {first && (
          <button ref={add} class="button" type="button" onClick={() => onChange({ ...draft, parts: [...draft.parts, newCondition(first)] })}>
            <Icon name="plus" />
            {words.filter.addCondition}
          </button>
        )}
        {within > 0 && first && (
          <button
            class="button"
            type="button"
            onClick={() => onChange({ ...draft, parts: [...draft.parts, { kind: 'group', join: 'or', parts: [newCondition(first)] }] })}
          >
            <Icon name="plus" />
            {words.filter.addGroup}
          </button>
        )}
      </div>
    </fieldset>
  );
}

function Condition({ draft, fields, room, onChange }: PartProps<ConditionDraft>) {
  const field = fields.find(({ id }) => id === draft.field);
  if (!field) return null;
  return (
    <div class="condition">
      <select
        aria-label={words.toolbar.field}
        value={draft.field}
        onChange={(event) => {
          const next = fields.find(({ id }) => id === event.currentTarget.value);
          if (next) onChange(withField(draft, next));
        }}
      >
        {fields.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <select
        aria-label={words.filter.operator}
        value={draft.op}
        onChange={(event) => {
          const op = operatorsOf(field.type).find((one) => one === event.currentTarget.value);
          if (op) onChange(withOperator(draft, op, field, ownTimezone()));
        }}
      >
        {operatorsOf(field.type).map((op) => (
          <option key={op} value={op}>
            {words.filter.operators[op]}
          </option>
        ))}
      </select>
      <Operands
        key={field.id}
        field={field}
        op={draft.op}
        values={draft.values}
        hasRoom={room > 0}
        onChange={(values, op = draft.op) => onChange({ ...draft, op, values })}
      />
    </div>
  );
}
