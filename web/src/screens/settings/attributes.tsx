/** The fields of a project: add, rename, reorder, index, delete. */
import { useMemo, useState } from 'preact/hooks';
import type { FieldFormat } from '../../fields/format';
import type { Attribute, DeletedAttribute } from '../../api/types';
import type { Field } from '../../fields/fields';
import { fieldsOf } from '../../fields/fields';
import type { Definitions } from '../../project/definitions';
import type { Deleted } from '../../project/deleted';
import { changedDefault, draftedDefault, namedDefault, sentOptions, type Default, type OptionInput } from '../../project/drafted-options';
import type { Beside, SettingsPlace } from '../../project/panels';
import type { People } from '../../project/people';
import type { SampleRow } from '../../project/sample';
import { FormulaMark } from '../../ui/formula-mark';
import { Icon } from '../../ui/icon';
import { neighbour, useSorting } from '../../ui/sorting';
import { StepButton } from '../../ui/step-button';
import { unsaved } from '../../ui/unsaved';
import { words } from '../../words';
import { DeletedSection } from '../deleted-section';
import { BuildProgress } from './build-progress';
import { Clash, textOf } from './clash';
import { Confirm } from './confirm';
import { DefaultEditor, FormatEditor } from './field-format';
import { FormulaEditor } from './formula/formula-editor';
import { formulaWords } from './formula/words';
import { NewAttribute } from './new-attribute';
import { OptionsEditor } from './options-editor';
import { seen, useDraft } from './use-draft';

interface AttributesProps {
  readonly definitions: Definitions;
  readonly deleted: Deleted<DeletedAttribute>;
  readonly people: People;
  /** The field, or the place of a new one, that the settings are opened for. */
  readonly place: SettingsPlace | null;
  /** The issues for which formulas show values. */
  readonly rows: readonly SampleRow[];
  readonly onCreated: (field: Attribute, beside: Beside) => void;
}

export function Attributes({ definitions, deleted, people, place, rows, onCreated }: AttributesProps) {
  const attributes = definitions.project.value.attributes ?? [];
  const fields = fieldsOf(definitions.project.value, words.fields);
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
            fields={fields}
            rows={rows}
          />
        ))}
      </ul>
      <p class="visually-hidden" role="status">
        {outcome}
      </p>
      <NewAttribute definitions={definitions} place={place?.kind === 'new' ? place : null} fields={fields} rows={rows} onCreated={onCreated} />
      <DeletedSection deleted={deleted} people={people} texts={words.deletedFields} />
    </section>
  );
}

/**
 * The parts of a field that the form changes. Only texts have `search`, and only some types have `options`. A computed field
 * has a `formula`, and neither `required` nor a default.
 */
interface Defined {
  readonly name: string;
  readonly formula?: string;
  readonly required?: boolean;
  readonly indexed: boolean;
  readonly search?: boolean;
  readonly options?: readonly OptionInput[];
  readonly description: string;
  readonly format: FieldFormat | null;
  readonly default?: Default;
}

const PARTS: Readonly<Record<keyof Defined, string>> = words.settings.parts;

function definedBy({ name, type, formula, required, indexed, search, options, description, format, default: value }: Attribute): Defined {
  return {
    name,
    ...(formula === undefined ? { required, default: draftedDefault(value, options) } : { formula }),
    indexed,
    ...(type === 'text' ? { search } : {}),
    ...(options ? { options } : {}),
    description: description ?? '',
    format,
  };
}

function shownPart(defined: Defined, part: keyof Defined): string {
  return textOf(part === 'default' ? namedDefault(defined.default ?? null, defined.options) : defined[part]);
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
  readonly fields: readonly Field[];
  readonly rows: readonly SampleRow[];
}

function AttributeRow({ attribute, neighbours, onMove, act, definitions, deleted, fields, rows }: RowProps) {
  const { id, type, build } = attribute;
  const [isOpen, setOpen] = useState(act !== null);
  const now = definedBy(attribute);
  const draft = useDraft(attribute.version, now);
  const { name, formula, required, indexed, search, options, description, format, default: value } = draft.value;
  const checks = useMemo(() => definitions.checks(rows.map(({ num }) => num), id), [definitions, id]);
  const address = (project: string) => ({ project, attribute: id });
  const save = () =>
    definitions.change(async (api, project) => {
      const body = {
        name,
        ...(required === undefined ? {} : { required }),
        // A formula that is saved again is built again.
        ...(formula === undefined || formula === attribute.formula ? {} : { formula }),
        indexed,
        ...(search === undefined ? {} : { search }),
        ...(options ? { options: sentOptions(options) } : {}),
        description,
        format,
        ...(value === undefined ? {} : changedDefault(value, now.default ?? null, options)),
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
      <details open={act !== null} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <Icon name={type} />
          <span class="attribute-name">{attribute.name}</span>
          <FormulaMark formula={attribute.formula ?? null} />
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
          {formula !== undefined && (
            <FormulaEditor
              checks={checks}
              fields={fields.filter((field) => field.id !== id)}
              rows={rows}
              value={formula}
              format={format}
              isShown={isOpen}
              onChange={(text) => draft.put({ formula: text })}
            />
          )}
          {formula !== undefined && build && <p class="soft">{formulaWords.building}</p>}
          <p class="soft">{formula === undefined ? words.settings.typeFixed(attribute.name) : formulaWords.typeFixed}</p>
          <label>
            {words.settings.description}
            <textarea rows={2} maxLength={1000} value={description} onInput={(event) => draft.put({ description: event.currentTarget.value })} />
          </label>
          <FormatEditor type={type} format={format} onChange={(next) => draft.put({ format: next })} />
          {value !== undefined && <DefaultEditor type={type} options={options ?? []} value={value} onChange={(next) => draft.put({ default: next })} />}
          {required !== undefined && <Check label={words.settings.required} checked={required} onChange={(on) => draft.put({ required: on })} />}
          <Check label={words.settings.indexed} checked={indexed} onChange={(on) => draft.put({ indexed: on })} />
          {search !== undefined && <Check label={words.settings.search} checked={search} onChange={(on) => draft.put({ search: on })} />}
          {options && <OptionsEditor label={words.settings.options} options={options} onChange={(options) => draft.put({ options })} />}
          <Clash
            parts={draft.clashing.map((part) => ({ name: PARTS[part], yours: shownPart(draft.value, part), theirs: shownPart(now, part) }))}
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
        <StepButton
          key={way}
          way={way}
          label={MOVES[way](attribute.name)}
          isAtEnd={neighbours[way] === undefined}
          act={() => onMove(neighbours[way] ?? null)}
        />
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
