/** The parts of a field's form that change no value: how the values are shown, and what new issues get. */
import type { FieldFormat } from '../../fields/format';
import type { FieldType } from '../../api/types';
import { presentDefault, type Default, type OptionInput } from '../../project/drafted-options';
import { words } from '../../words';

type FormatName = FieldFormat['as'];
type Setting = Exclude<keyof FieldFormat, 'as'>;

/** The formats of each type, and the settings that each format takes, as the API has them. */
const FORMATS: Readonly<Partial<Record<FieldType, Readonly<Partial<Record<FormatName, readonly Setting[]>>>>>> = {
  text: { long: [], markdown: [], url: [], email: [], phone: [] },
  number: {
    plain: ['decimals', 'thousands', 'unit'],
    currency: ['currency', 'decimals', 'thousands'],
    percent: ['decimals', 'thousands'],
    rating: ['max'],
    duration: [],
    progress: ['decimals'],
  },
  date: { iso: [], short: [], long: [] },
  datetime: { iso: [], short: [], long: [] },
  bool: { check: [], star: [] },
};

interface FormatEditorProps {
  readonly type: FieldType;
  readonly format: FieldFormat | null;
  readonly onChange: (format: FieldFormat | null) => void;
}

export function FormatEditor({ type, format, onChange }: FormatEditorProps) {
  const formats = FORMATS[type];
  if (!formats) return null;
  const settings = (format && formats[format.as]) ?? [];
  const put = (change: { readonly [name in Setting]?: FieldFormat[name] | undefined }) => format && onChange(sorted({ ...format, ...change }));
  const choose = (name: FormatName | undefined) => {
    if (!name) {
      onChange(null);
      return;
    }
    const kept: Partial<FieldFormat> = Object.fromEntries((formats[name] ?? []).map((setting) => [setting, format?.[setting]]));
    onChange(sorted({ ...kept, ...(name === 'currency' ? { currency: format?.currency ?? 'EUR' } : {}), as: name }));
  };
  return (
    <fieldset class="format-editor">
      <legend>{words.settings.format}</legend>
      <label>
        {words.settings.formatAs}
        <select value={format?.as ?? ''} onChange={(event) => choose(namesOf(formats).find((name) => name === event.currentTarget.value))}>
          <option value="">{words.settings.noFormat}</option>
          {namesOf(formats).map((name) => (
            <option key={name} value={name}>
              {words.settings.formats[name === 'long' && type !== 'text' ? 'longDate' : name]}
            </option>
          ))}
        </select>
      </label>
      {settings.includes('currency') && (
        <label>
          {words.settings.currency}
          <input
            required
            pattern="[A-Z]{3}"
            maxLength={3}
            size={4}
            value={format?.currency ?? ''}
            onInput={(event) => put({ currency: event.currentTarget.value.toUpperCase() })}
          />
        </label>
      )}
      {settings.includes('decimals') && (
        <NumberInput label={words.settings.decimals} least={0} most={10} value={format?.decimals} onChange={(decimals) => put({ decimals })} />
      )}
      {settings.includes('max') && (
        <NumberInput label={words.settings.stars} least={1} most={10} value={format?.max} onChange={(max) => put({ max })} />
      )}
      {settings.includes('unit') && (
        <label>
          {words.settings.unit}
          <input maxLength={16} size={8} value={format?.unit ?? ''} onInput={(event) => put({ unit: event.currentTarget.value || undefined })} />
        </label>
      )}
      {settings.includes('thousands') && (
        <label class="check">
          <input type="checkbox" checked={format?.thousands ?? true} onChange={(event) => put({ thousands: event.currentTarget.checked })} />
          {words.settings.thousands}
        </label>
      )}
    </fieldset>
  );
}

interface NumberInputProps {
  readonly label: string;
  readonly least: number;
  readonly most: number;
  readonly value: number | undefined;
  readonly onChange: (value: number | undefined) => void;
}

function NumberInput({ label, least, most, value, onChange }: NumberInputProps) {
  return (
    <label>
      {label}
      <input
        type="number"
        min={least}
        max={most}
        value={value ?? ''}
        onInput={({ currentTarget }) => onChange(currentTarget.value === '' ? undefined : currentTarget.valueAsNumber)}
      />
    </label>
  );
}

function namesOf(formats: object): readonly FormatName[] {
  return Object.keys(formats) as FormatName[];
}

/** The format with its settings in the order in which the API returns them, and without settings that are not set. */
function sorted({ as, ...settings }: { readonly as: FormatName } & { readonly [name in Setting]?: FieldFormat[name] | undefined }): FieldFormat {
  const set = Object.entries(settings).filter(([, value]) => value !== undefined);
  return { as, ...Object.fromEntries(set.sort(([one], [other]) => (one < other ? -1 : 1))) };
}

interface DefaultEditorProps {
  readonly type: FieldType;
  readonly options: readonly OptionInput[];
  readonly value: Default;
  readonly onChange: (value: Default) => void;
}

/** The value of new issues whose writer enters none. */
export function DefaultEditor({ type, options, value, onChange }: DefaultEditorProps) {
  if (type === 'multi_enum') {
    const chosen = Array.isArray(value) ? value : [];
    return (
      <fieldset class="format-editor">
        <legend>{words.settings.default}</legend>
        {choicesOf(options, chosen).map(({ id, value: name }) => (
          <label key={id} class="check">
            <input
              type="checkbox"
              checked={chosen.includes(id)}
              onChange={({ currentTarget }) => {
                const next = options.map((one) => one.id).filter((one) => (one === id ? currentTarget.checked : chosen.includes(one)));
                onChange(next.length ? next : null);
              }}
            />
            {name}
          </label>
        ))}
      </fieldset>
    );
  }
  if (type === 'enum' || type === 'bool') {
    const chosen = type === 'enum' ? presentDefault(value, options) : value;
    const choices =
      type === 'enum'
        ? choicesOf(options, [String(chosen)]).map((option) => [option.id, option.value] as const)
        : ([['true', words.cell.yes], ['false', words.cell.no]] as const);
    const taken = (text: string): Default => (text === '' ? null : type === 'bool' ? text === 'true' : text);
    return (
      <label>
        {words.settings.default}
        <select value={chosen === null ? '' : String(chosen)} onChange={(event) => onChange(taken(event.currentTarget.value))}>
          <option value="">{words.settings.noDefault}</option>
          {choices.map(([key, label]) => (
            <option key={key} value={key}>
              {label}
            </option>
          ))}
        </select>
      </label>
    );
  }
  return (
    <label>
      {words.settings.default}
      <input
        placeholder={words.settings.defaults[type]}
        value={value === null ? '' : String(value)}
        onInput={(event) => onChange(event.currentTarget.value || null)}
      />
    </label>
  );
}

/** The options that have a name, and the chosen ones, which may have none while they are renamed. */
function choicesOf(options: readonly OptionInput[], chosen: readonly string[]): readonly OptionInput[] {
  return options.filter(({ id, value }) => value || chosen.includes(id));
}
