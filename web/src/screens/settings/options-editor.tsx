/** The options of a field, or the states of a project: their order, values and colors. */
import { colorOfPlace } from '../../cells/colors';
import type { Option } from '../../fields/fields';
import { COLORS } from '../../fields/palette';
import { Icon } from '../../ui/icon';
import { words } from '../../words';

export interface OptionInput {
  /** Undefined for a new one. */
  readonly id?: string;
  readonly value: string;
  readonly color: Option['color'];
}

interface OptionsEditorProps {
  readonly label: string;
  readonly options: readonly OptionInput[];
  readonly onChange: (options: readonly OptionInput[]) => void;
}

export function OptionsEditor({ label, options, onChange }: OptionsEditorProps) {
  const put = (at: number, change: Partial<OptionInput>) =>
    onChange(options.map((option, place) => (place === at ? { ...option, ...change } : option)));
  const swap = (at: number) =>
    onChange(options.flatMap((option, place) => (place === at - 1 ? [options[at] ?? option, option] : place === at ? [] : [option])));
  return (
    <fieldset class="options-editor">
      <legend>{label}</legend>
      <ol>
        {options.map((option, at) => (
          <li key={option.id ?? `new ${at}`}>
            <span class={`swatch pill-${option.color ?? colorOfPlace(at)}`} aria-hidden="true" />
            <select
              aria-label={words.settings.colorOf(option.value)}
              value={option.color ?? ''}
              onChange={(event) => put(at, { color: COLORS.find((color) => color === event.currentTarget.value) ?? null })}
            >
              <option value="">{words.settings.noColor}</option>
              {COLORS.map((color) => (
                <option key={color} value={color}>
                  {words.settings.colors[color]}
                </option>
              ))}
            </select>
            <input
              required
              aria-label={words.settings.option}
              value={option.value}
              onInput={(event) => put(at, { value: event.currentTarget.value })}
            />
            <button class="icon-button" type="button" disabled={at === 0} aria-label={words.settings.earlier(option.value)} onClick={() => swap(at)}>
              <Icon name="up" />
            </button>
            <button
              class="icon-button"
              type="button"
              aria-label={words.settings.dropOption(option.value)}
              onClick={() => onChange(options.filter((_, place) => place !== at))}
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ol>
      <button class="button" type="button" onClick={() => onChange([...options, { value: '', color: null }])}>
        <Icon name="plus" />
        {words.settings.option}
      </button>
    </fieldset>
  );
}
