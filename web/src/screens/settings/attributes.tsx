/** The fields of a project: add, rename, reorder, index, delete. */
import { useState } from 'preact/hooks';
import type { FieldFormat } from '../../fields/format';
import type { Attribute, DeletedAttribute, FieldType } from '../../api/types';
import type { Definitions } from '../../project/definitions';
import type { Deleted } from '../../project/deleted';
import type { Beside, SettingsPlace } from '../../project/panels';
import type { People } from '../../project/people';
import { Icon } from '../../ui/icon';
import { neighbour, useSorting } from '../../ui/sorting';
import { unsaved } from '../../ui/unsaved';
import { words } from '../../words';
import { DeletedSection } from '../deleted-section';
import { BuildProgress } from './build-progress';
import { Clash, textOf } from './clash';
import { Confirm } from './confirm';
import { DefaultEditor, FormatEditor, type Default } from './field-format';
import { OptionsEditor, type OptionInput } from './options-editor';
import { seen, useDraft } from './use-draft';

const TYPES: readonly FieldType[] = ['text', 'number', 'date', 'datetime', 'bool', 'enum', 'multi_enum', 'user'];

interface AttributesProps {
  readonly definitions: Definitions;
  readonly deleted: Deleted<DeletedAttribute>;
  readonly people: People;
  /** The field, or the place of a new one, that the settings are opened for. */
  readonly place: SettingsPlace | null;
  readonly onCreated: (field: Attribute, beside: Beside) => void;
}

export function Attributes({ definitions, deleted, people, place, onCreated }: AttributesProps) {
  const attributes = definitions.project.value.attributes ?? [];
  const keys = attributes.map(({ id }) => id);
  const [outcome, setOutcome] = useState('');
  const move = (key: string, before: string | null) => {
    void definitions.move(key, before);
    const moved = definitions.project.peek().attributes ?? [];
    const at = moved.findIndex(({ id }) => id === key);
    setOutcome(words.sorting.moved(moved[at]?.name ?? key, at + 1, moved.length));
  };
  const sorted = useSorting<HTMLUListElement>(move);
  return (
    <section class="section">
      <h3>{words.settings.fields}</h3>
      {attributes.length === 0 && <p class="soft">{words.settings.noFields}</p>}
      <ul class="attributes" ref={sorted}>
        {attributes.map((attribute) => (
          <AttributeRow
            key={attribute.id}
            attribute={attribute}
            neighbours={{ up: neighbour(keys, attribute.id, -1), down: neighbour(keys, attribute.id, 1) }}
            onMove={(before) => move(attribute.id, before)}
            act={place?.kind === 'field' && place.field === attribute.id ? place.act : null}
            definitions={definitions}
            deleted={deleted}
          />
        ))}
      </ul>
      <p class="visually-hidden" role="status">
        {outcome}
      </p>
      <NewAttribute definitions={definitions} place={place?.kind === 'new' ? place : null} onCreated={onCreated} />
      <DeletedSection deleted={deleted} people={people} texts={words.deletedFields} />
    </section>
  );
}

/** The parts of a field that the form changes. Only texts have `search`, and only some types have `options`. */
interface Defined {
  readonly name: string;
  readonly required: boolean;
  readonly indexed: boolean;
  readonly search?: boolean;
  readonly options?: readonly OptionInput[];
  readonly description: string;
  readonly format: FieldFormat | null;
  readonly default: Default;
}

const PARTS: Readonly<Record<keyof Defined, string>> = words.settings.parts;

function definedBy({ name, type, required, indexed, search, options, description, format, default: value }: Attribute): Defined {
  return {
    name,
    required,
    indexed,
    ...(type === 'text' ? { search } : {}),
    ...(options ? { options } : {}),
    description: description ?? '',
    format,
    default: value,
  };
}

interface RowProps {
  readonly attribute: Attribute;
  /** The fields before which it comes one place up or down; null for the end, undefined if there is no such place. */
  readonly neighbours: Readonly<Record<'up' | 'down', string | null | undefined>>;
  readonly onMove: (before: string | null) => void;
  /** What the settings are opened for, if that is this field. */
  readonly act: 'edit' | 'delete' | null;
  readonly definitions: Definitions;
  readonly deleted: Deleted<DeletedAttribute>;
}

function AttributeRow({ attribute, neighbours, onMove, act, definitions, deleted }: RowProps) {
  const { id, type, build } = attribute;
  const draft = useDraft(attribute.version, definedBy(attribute));
  const { name, required, indexed, search, options, description, format } = draft.value;
  const address = (project: string) => ({ project, attribute: id });
  const save = () =>
    definitions.change(async (api, project) => {
      const body = {
        name,
        required,
        indexed,
        ...(search === undefined ? {} : { search }),
        ...(options ? { options: [...options] } : {}),
        description,
        format,
        default: draft.value.default,
      };
      await api.call('PATCH', '/v1/projects/{project}/attributes/{attribute}', { path: address(project), body, headers: draft.seen });
      draft.taken();
    });
  const remove = async () => {
    const taken = await definitions.change((api, project) =>
      api.call('DELETE', '/v1/projects/{project}/attributes/{attribute}', { path: address(project), headers: seen(attribute) }),
    );
    if (taken) await deleted.expect((one) => one.id === id);
  };
  return (
    <li data-item={id} data-kind="field">
      <span class="grip" aria-hidden="true">
        <Icon name="grip" />
      </span>
      <details open={act !== null}>
        <summary>
          <Icon name={type} />
          <span class="attribute-name">{attribute.name}</span>
          <span class="soft">{words.settings.types[type]}</span>
          {build && <BuildProgress build={build} />}
        </summary>
        <form
          class="form"
          data-still
          {...unsaved(draft.isChanged)}
          onSubmit={(event) => {
            event.preventDefault();
            void save();
          }}
        >
          <label>
            {words.settings.name}
            <input required autofocus={act === 'edit'} value={name} onInput={(event) => draft.put({ name: event.currentTarget.value })} />
          </label>
          <p class="soft">{words.settings.typeFixed(attribute.name)}</p>
          <label>
            {words.settings.description}
            <textarea rows={2} maxLength={1000} value={description} onInput={(event) => draft.put({ description: event.currentTarget.value })} />
          </label>
          <FormatEditor type={type} format={format} onChange={(next) => draft.put({ format: next })} />
          <DefaultEditor type={type} options={options ?? []} value={draft.value.default} onChange={(next) => draft.put({ default: next })} />
          <Check label={words.settings.required} checked={required} onChange={(on) => draft.put({ required: on })} />
          <Check label={words.settings.indexed} checked={indexed} onChange={(on) => draft.put({ indexed: on })} />
          {search !== undefined && <Check label={words.settings.search} checked={search} onChange={(on) => draft.put({ search: on })} />}
          {options && <OptionsEditor label={words.settings.options} options={options} onChange={(options) => draft.put({ options })} />}
          <Clash
            parts={draft.clashing.map((part) => ({ name: PARTS[part], yours: textOf(draft.value[part]), theirs: textOf(definedBy(attribute)[part]) }))}
            onYours={draft.keepYours}
            onTheirs={draft.keepTheirs}
          />
          <div class="row-end">
            <Confirm
              label={words.settings.deleteField}
              question={words.settings.deleteFieldWhy(attribute.name)}
              isAsked={act === 'delete'}
              onConfirm={() => void remove()}
            />
            <button class="button primary" type="submit" disabled={definitions.busy.value || draft.clashing.length > 0}>
              {words.settings.save}
            </button>
          </div>
        </form>
      </details>
      {(['up', 'down'] as const).map((way) => (
        <button
          key={way}
          class="icon-button"
          type="button"
          disabled={neighbours[way] === undefined}
          aria-label={MOVES[way](attribute.name)}
          title={MOVES[way](attribute.name)}
          onClick={() => onMove(neighbours[way] ?? null)}
        >
          <Icon name={way} />
        </button>
      ))}
    </li>
  );
}

const MOVES = { up: words.settings.earlier, down: words.settings.later } as const;

function Check({ label, checked, onChange }: { readonly label: string; readonly checked: boolean; readonly onChange: (on: boolean) => void }) {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      {label}
    </label>
  );
}

interface NewProps {
  readonly definitions: Definitions;
  readonly place: Extract<SettingsPlace, { kind: 'new' }> | null;
  readonly onCreated: (field: Attribute, beside: Beside) => void;
}

function NewAttribute({ definitions, place, onCreated }: NewProps) {
  const attributes = definitions.project.value.attributes ?? [];
  // The first field that is created is the one that was asked for.
  const [asked, setAsked] = useState(place);
  const like = attributes.find(({ id }) => id === asked?.like);
  const [begun] = useState(() => ({ name: like ? words.settings.copyOf(like.name) : '', options: like?.options?.map(({ value }) => value).join('\n') ?? '' }));
  const [name, setName] = useState(begun.name);
  const [type, setType] = useState<FieldType>(like?.type ?? 'text');
  const [options, setOptions] = useState(begun.options);
  const hasOptions = type === 'enum' || type === 'multi_enum';
  const isUnsaved = asked ? name !== begun.name || options !== begun.options : name !== '' || options !== '';
  const create = async () => {
    const listed = options.split('\n').map((one) => one.trim()).filter(Boolean);
    const position = asked?.beside ? positionBeside(attributes, asked.beside) : null;
    const created: Attribute[] = [];
    const taken = await definitions.change(async (api, project) => {
      const answer = await api.call('POST', '/v1/projects/{project}/attributes', {
        path: { project },
        body: {
          ...(like?.type === type ? definitionOf(like) : {}),
          name,
          type,
          ...(hasOptions ? { options: listed.map((value) => ({ value, color: like?.options?.find((one) => one.value === value)?.color ?? null })) } : {}),
          ...(position === null ? {} : { position }),
        },
        headers: { 'Idempotency-Key': crypto.randomUUID() },
      });
      created.push(answer.body);
    });
    if (!taken) return;
    for (const field of created) if (asked?.beside) onCreated(field, asked.beside);
    setAsked(null);
    setName('');
    setOptions('');
  };
  return (
    <form
      class="new-field"
      {...unsaved(isUnsaved)}
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
    >
      <input
        required
        autofocus={place !== null}
        aria-label={words.settings.newField}
        placeholder={words.settings.newField}
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <select
        aria-label={words.settings.type}
        value={type}
        onChange={(event) => setType(TYPES.find((one) => one === event.currentTarget.value) ?? 'text')}
      >
        {TYPES.map((one) => (
          <option key={one} value={one}>
            {words.settings.types[one]}
          </option>
        ))}
      </select>
      {hasOptions && (
        <textarea
          required
          rows={3}
          aria-label={words.settings.optionsByLine}
          placeholder={words.settings.optionsByLine}
          value={options}
          onInput={(event) => setOptions(event.currentTarget.value)}
        />
      )}
      <button class="button" type="submit" disabled={definitions.busy.value}>
        <Icon name="plus" />
        {words.settings.addField}
      </button>
    </form>
  );
}

/** The definition of a field for another one like it: all but its name, its options and its place. */
function definitionOf({ type, required, indexed, search, description, format, default: value }: Attribute) {
  return { required, indexed, ...(type === 'text' ? { search } : {}), description, format, default: value };
}

/** The place of a new field beside a column: before the own fields of the project, among them, or after them. */
function positionBeside(attributes: readonly Attribute[], { field, side }: Beside): number | null {
  const position = attributes.find(({ id }) => id === field)?.position ?? null;
  if (position !== null) return side === 'before' ? position : position + 1;
  return FIRST.has(field) ? 0 : null;
}

/** The fields of every issue that precede the own fields of a project. */
const FIRST: ReadonlySet<string> = new Set(['num', 'name', 'state']);
