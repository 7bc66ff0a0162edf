/** The options of a field, or the states of a project: their order, values and colors. */
import { useRef, useState } from 'preact/hooks';
import { colorOfPlace } from '../../cells/colors';
import type { Option } from '../../fields/fields';
import { COLORS } from '../../fields/palette';
import { useItemFocus } from '../../ui/focus';
import { Icon } from '../../ui/icon';
import { neighbour, useSorting } from '../../ui/sorting';
import { StepButton } from '../../ui/step-button';
import { movedBefore } from '../../view/moved';
import { words } from '../../words';

export interface OptionInput {
  /** Undefined for a new one. */
  readonly id?: string;
  readonly value: string;
  readonly color: Option['color'];
}

interface Item {
  readonly key: string;
  readonly option: OptionInput;
}

interface OptionsEditorProps {
  readonly label: string;
  readonly options: readonly OptionInput[];
  readonly onChange: (options: readonly OptionInput[]) => void;
}

export function OptionsEditor({ label, options, onChange }: OptionsEditorProps) {
  const [outcome, setOutcome] = useState('');
  const [known, setKnown] = useState<readonly string[]>([]);
  // An option that has no id yet keeps its key when it moves. After a change from elsewhere, the keys begin again.
  const fits = known.length === options.length && options.every(({ id }, at) => id === undefined || id === known[at]);
  const keys = fits ? known : options.map(({ id }, at) => id ?? `new ${at}`);
  const set = (items: readonly Item[]) => {
    setKnown(items.map(({ key }) => key));
    onChange(items.map(({ option }) => option));
  };
  const items = options.map((option, at) => ({ key: keys[at] ?? '', option }));
  const put = (at: number, change: Partial<OptionInput>) =>
    set(items.map((item, place) => (place === at ? { ...item, option: { ...item.option, ...change } } : item)));
  const move = (key: string, before: string | null) => {
    const item = items.find((one) => one.key === key);
    if (!item) return;
    const next = movedBefore(items, item, (one) => one.key === before);
    set(next);
    setOutcome(words.sorting.moved(item.option.value, next.indexOf(item) + 1, next.length));
  };
  const sorted = useSorting<HTMLOListElement>(move);
  const add = useRef<HTMLButtonElement>(null);
  const { removed } = useItemFocus(sorted, add);
  const step = (key: string, by: -1 | 1) => {
    const before = neighbour(keys, key, by);
    if (before !== undefined) move(key, before);
  };
  return (
    <fieldset class="options-editor">
      <legend>{label}</legend>
      <ol ref={sorted}>
        {items.map(({ key, option }, at) => (
          <li key={key} data-item={key} data-kind="option">
            <span class="grip" aria-hidden="true">
              <Icon name="grip" />
            </span>
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
            <StepButton way="up" label={words.settings.earlier(option.value)} isAtEnd={at === 0} act={() => step(key, -1)} />
            <StepButton way="down" label={words.settings.later(option.value)} isAtEnd={at === options.length - 1} act={() => step(key, 1)} />
            <button
              class="icon-button"
              type="button"
              aria-label={words.settings.dropOption(option.value)}
              onClick={() => {
                removed(at, items.length);
                set(items.filter((_, place) => place !== at));
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
      <button ref={add} class="button" type="button" onClick={() => set([...items, { key: `added ${crypto.randomUUID()}`, option: { value: '', color: null } }])}>
        <Icon name="plus" />
        {words.settings.option}
      </button>
    </fieldset>
  );
}
