/** The fields of a project: add, rename, reorder, index, delete. */
import { useState } from 'preact/hooks';
import type { Attribute, FieldType } from '../../api/types';
import type { Definitions } from '../../project/definitions';
import { Icon } from '../../ui/icon';
import { words } from '../../words';
import { BuildProgress } from './build-progress';
import { Confirm } from './confirm';
import { OptionsEditor, type OptionInput } from './options-editor';

const TYPES: readonly FieldType[] = ['text', 'number', 'date', 'datetime', 'bool', 'enum', 'multi_enum', 'user'];

export function Attributes({ definitions }: { readonly definitions: Definitions }) {
  const attributes = definitions.project.value.attributes ?? [];
  return (
    <section class="section">
      <h3>{words.settings.fields}</h3>
      <ul class="attributes">
        {attributes.map((attribute, at) => (
          <AttributeRow key={`${attribute.id} ${attribute.version}`} attribute={attribute} before={attributes[at - 1]} definitions={definitions} />
        ))}
      </ul>
      <NewAttribute definitions={definitions} />
    </section>
  );
}

interface RowProps {
  readonly attribute: Attribute;
  readonly before: Attribute | undefined;
  readonly definitions: Definitions;
}

function AttributeRow({ attribute, before, definitions }: RowProps) {
  const { id, type, build } = attribute;
  const [name, setName] = useState(attribute.name);
  const [required, setRequired] = useState(attribute.required);
  const [indexed, setIndexed] = useState(attribute.indexed);
  const [search, setSearch] = useState(attribute.search);
  const [options, setOptions] = useState<readonly OptionInput[]>(attribute.options ?? []);
  const hasOptions = type === 'enum' || type === 'multi_enum';
  const patch = (body: { name?: string; required?: boolean; indexed?: boolean; search?: boolean; position?: number; options?: OptionInput[] }) =>
    definitions.change((api, project) =>
      api.call('PATCH', '/v1/projects/{project}/attributes/{attribute}', { path: { project, attribute: id }, body }),
    );
  return (
    <li>
      <details>
        <summary>
          <Icon name={type} />
          <span class="attribute-name">{attribute.name}</span>
          <span class="soft">{words.settings.types[type]}</span>
          {build && <BuildProgress build={build} />}
        </summary>
        <form
          class="form"
          onSubmit={(event) => {
            event.preventDefault();
            void patch({ name, required, indexed, ...(type === 'text' ? { search } : {}), ...(hasOptions ? { options: [...options] } : {}) });
          }}
        >
          <label>
            {words.settings.name}
            <input required value={name} onInput={(event) => setName(event.currentTarget.value)} />
          </label>
          <Check label={words.settings.required} checked={required} onChange={setRequired} />
          <Check label={words.settings.indexed} checked={indexed} onChange={setIndexed} />
          {type === 'text' && <Check label={words.settings.search} checked={search} onChange={setSearch} />}
          {hasOptions && <OptionsEditor label={words.settings.options} options={options} onChange={setOptions} />}
          <div class="row-end">
            <Confirm
              label={words.settings.deleteField}
              question={words.settings.deleteFieldWhy(attribute.name)}
              onConfirm={() =>
                void definitions.change((api, project) =>
                  api.call('DELETE', '/v1/projects/{project}/attributes/{attribute}', { path: { project, attribute: id } }),
                )
              }
            />
            <button class="button primary" type="submit" disabled={definitions.busy.value}>
              {words.settings.save}
            </button>
          </div>
        </form>
      </details>
      <button
        class="icon-button"
        type="button"
        disabled={!before || definitions.busy.value}
        aria-label={words.settings.earlier(attribute.name)}
        title={words.settings.earlier(attribute.name)}
        onClick={() => {
          if (before?.position !== null && before?.position !== undefined) void patch({ position: before.position });
        }}
      >
        <Icon name="up" />
      </button>
    </li>
  );
}

function Check({ label, checked, onChange }: { readonly label: string; readonly checked: boolean; readonly onChange: (on: boolean) => void }) {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      {label}
    </label>
  );
}

function NewAttribute({ definitions }: { readonly definitions: Definitions }) {
  const [name, setName] = useState('');
  const [type, setType] = useState<FieldType>('text');
  const [options, setOptions] = useState('');
  const hasOptions = type === 'enum' || type === 'multi_enum';
  const create = async () => {
    const listed = options.split('\n').map((one) => one.trim()).filter(Boolean);
    const taken = await definitions.change((api, project) =>
      api.call('POST', '/v1/projects/{project}/attributes', {
        path: { project },
        body: { name, type, ...(hasOptions ? { options: listed } : {}) },
        headers: { 'Idempotency-Key': crypto.randomUUID() },
      }),
    );
    if (!taken) return;
    setName('');
    setOptions('');
  };
  return (
    <form
      class="new-field"
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
    >
      <input
        required
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
