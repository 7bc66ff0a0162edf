/** The form of a new field. */
import { useMemo, useRef, useState } from 'preact/hooks';
import type { Attribute, FieldType, Project } from '../../api/types';
import type { Field } from '../../fields/fields';
import type { Definitions } from '../../project/definitions';
import { defaultAmong } from '../../project/drafted-options';
import type { Beside, SettingsPlace } from '../../project/panels';
import type { SampleRow } from '../../project/sample';
import { Icon } from '../../ui/icon';
import { unsaved } from '../../ui/unsaved';
import { words } from '../../words';
import { FormulaEditor } from './formula/formula-editor';

const TYPES: readonly FieldType[] = ['text', 'number', 'date', 'datetime', 'bool', 'enum', 'multi_enum', 'user'];
/** The entry for a field that a formula computes, among the types. */
const FORMULA = 'formula' as const;

interface NewProps {
  readonly definitions: Definitions;
  readonly place: Extract<SettingsPlace, { kind: 'new' }> | null;
  readonly fields: readonly Field[];
  readonly rows: readonly SampleRow[];
  readonly onCreated: (field: Attribute, beside: Beside) => void;
}

export function NewAttribute({ definitions, place, fields, rows, onCreated }: NewProps) {
  // The first field that is created is the one that was asked for.
  const [asked, setAsked] = useState(place);
  const copiedIn = ({ attributes = [] }: Project) => attributes.find(({ id }) => id === asked?.like);
  const [begun] = useState(() => {
    const like = copiedIn(definitions.project.peek());
    return {
      name: like ? words.settings.copyOf(like.name) : '',
      type: like?.formula === undefined ? (like?.type ?? 'text') : FORMULA,
      options: like?.options?.map(({ value }) => value).join('\n') ?? '',
      formula: like?.formula ?? '',
    };
  });
  const [name, setName] = useState(begun.name);
  const [type, setType] = useState<FieldType | typeof FORMULA>(begun.type);
  const [options, setOptions] = useState(begun.options);
  const [formula, setFormula] = useState(begun.formula);
  const form = useRef<HTMLFormElement>(null);
  const checks = useMemo(() => definitions.checks(rows.map(({ num }) => num), null), [definitions]);
  const hasOptions = type === 'enum' || type === 'multi_enum';
  const entered = { name, options, formula };
  const isUnsaved = (['name', 'options', 'formula'] as const).some((part) => entered[part] !== (asked ? begun[part] : ''));
  const isCreating = useRef(false);
  const create = async () => {
    if (isCreating.current) return;
    isCreating.current = true;
    await createOne().finally(() => (isCreating.current = false));
  };
  const createOne = async () => {
    const listed = options.split('\n').map((one) => one.trim()).filter(Boolean);
    // The fields may have been changed right before the settings were opened.
    const now = await definitions.read();
    const like = copiedIn(now);
    const position = asked?.beside ? positionBeside(now.attributes ?? [], asked.beside) : null;
    const created: Attribute[] = [];
    // The check has the type of the result.
    const checked = type === FORMULA ? await checks.check(formula) : null;
    const typed = type === FORMULA ? checked?.type : type;
    if (!typed) {
      form.current?.querySelector<HTMLElement>('.formula-text textarea')?.focus();
      return;
    }
    const taken = await definitions.change(async (api, project) => {
      const answer = await api.call('POST', '/v1/projects/{project}/attributes', {
        path: { project },
        body: {
          ...(like?.type === typed ? definitionOf(like, type === FORMULA, listed) : {}),
          name,
          type: typed,
          ...(type === FORMULA ? { formula } : {}),
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
    // What the user has typed meanwhile is for the next field.
    setName((now) => (now === name ? '' : now));
    setOptions((now) => (now === options ? '' : now));
    setFormula((now) => (now === formula ? '' : now));
  };
  return (
    <form
      ref={form}
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
        onChange={(event) => setType([...TYPES, FORMULA].find((one) => one === event.currentTarget.value) ?? 'text')}
      >
        {TYPES.map((one) => (
          <option key={one} value={one}>
            {words.settings.types[one]}
          </option>
        ))}
        <option value={FORMULA}>{words.computed.title}</option>
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
      {type === FORMULA && (
        <FormulaEditor checks={checks} fields={fields} rows={rows} value={formula} format={null} isShown onChange={setFormula} />
      )}
      <button class="button" type="submit" disabled={definitions.busy.value}>
        <Icon name="plus" />
        {words.settings.addField}
      </button>
    </form>
  );
}

/** The definition of a field for another one like it, with these options: all but its name, its formula and its place. */
function definitionOf({ type, required, indexed, search, description, format, default: value, options }: Attribute, isComputed: boolean, listed: readonly string[]) {
  const kept = options ? defaultAmong(value, listed) : value;
  return { ...(isComputed ? {} : { required, default: kept }), indexed, ...(type === 'text' ? { search } : {}), description, format };
}

/** The place of a new field beside a column: before the own fields of the project, among them, or after them. */
function positionBeside(attributes: readonly Attribute[], { field, side }: Beside): number | null {
  const position = attributes.find(({ id }) => id === field)?.position ?? null;
  if (position !== null) return side === 'before' ? position : position + 1;
  return FIRST.has(field) ? 0 : null;
}

/** The fields of every issue that precede the own fields of a project. */
const FIRST: ReadonlySet<string> = new Set(['num', 'name', 'state']);
