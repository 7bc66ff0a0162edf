/** The options of a field, or the states of a project: their order, values and colors. */
import { useRef, useState } from 'preact/hooks';
import { colorOfPlace } from '../../cells/colors';
import { COLORS } from '../../fields/palette';
import { newOption, type OptionInput } from '../../project/drafted-options';
import { useItemFocus } from '../../ui/focus';
import { Icon } from '../../ui/icon';
import { neighbour, useSorting } from '../../ui/sorting';
import { StepButton } from '../../ui/step-button';
import { movedBefore } from '../../view/moved';
import { words } from '../../words';

interface OptionsEditorProps {
  readonly label: string;
  readonly options: readonly OptionInput[];
  readonly onChange: (options: readonly OptionInput[]) => void;
}

export function OptionsEditor({ label, options, onChange }: OptionsEditorProps) {
  const [outcome, setOutcome] = useState('');
  const ids = options.map(({ id }) => id);
  const put = (id: string, change: Partial<OptionInput>) => onChange(options.map((one) => (one.id === id ? { ...one, ...change } : one)));
  const move = (id: string, before: string | null) => {
    const option = options.find((one) => one.id === id);
    if (!option) return;
    const next = movedBefore(options, option, (one) => one.id === before);
    onChange(next);
    setOutcome(words.sorting.moved(option.value, next.indexOf(option) + 1, next.length));
  };
  const sorted = useSorting<HTMLOListElement>(move);
  const add = useRef<HTMLButtonElement>(null);
  const { removed } = useItemFocus(sorted, add);
  const step = (id: string, by: -1 | 1) => {
    const before = neighbour(ids, id, by);
    if (before !== undefined) move(id, before);
  };
  return (
    <fieldset class="options-editor">
      <legend>{label}</legend>
      <ol ref={sorted}>
        {options.map((option, at) => (
          <li key={option.id} data-item={option.id} data-kind="option">
            <span class="grip" aria-hidden="true">
              <Icon name="grip" />
            </span>
            <span class={`swatch pill-${option.color ?? colorOfPlace(at)}`} aria-hidden="true" />
            <select
              aria-label={words.settings.colorOf(option.value)}
              value={option.color ?? ''}
              onChange={(event) => put(option.id, { color: COLORS.find((color) => color === event.currentTarget.value) ?? null })}
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
              onInput={(event) => put(option.id, { value: event.currentTarget.value })}
            />
            <StepButton way="up" label={words.settings.earlier(option.value)} isAtEnd={at === 0} act={() => step(option.id, -1)} />
            <StepButton way="down" label={words.settings.later(option.value)} isAtEnd={at === options.length - 1} act={() => step(option.id, 1)} />
            <button
              class="icon-button"
              type="button"
              aria-label={words.settings.dropOption(option.value)}
              onClick={() => {
                removed(at, options.length);
                onChange(options.filter((one) => one !== option));
              }}
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ol>
      <p class="visually-hidden" role="status">
        {outcome}
      </p>
      <button ref={add} class="button" type="button" onClick={() => onChange([...options, newOption()])}>
        <Icon name="plus" />
        {words.settings.option}
      </button>
    </fieldset>
  );
}
