/** The operands of a condition: the inputs that fit the type of its field. */
import { useState } from 'preact/hooks';
import type { Field } from '../../fields/fields';
import { fromLines, toLines } from '../../selection/clipboard';
import type { Operand } from '../../view/filters';
import { words } from '../../words';

interface OperandsProps {
  readonly field: Field;
  readonly operand: Operand;
  readonly values: readonly string[];
  readonly onChange: (values: readonly string[]) => void;
}

export function Operands({ field, operand, values, onChange }: OperandsProps) {
  const [first = '', second = ''] = values;
  switch (operand) {
    case 'none':
      return null;
    case 'one':
      return <Value field={field} label={words.filter.value} value={first} onChange={(value) => onChange([value])} />;
    case 'two':
      return (
        <>
          <Value field={field} label={words.filter.from} value={first} onChange={(value) => onChange([value, second])} />
          <Value field={field} label={words.filter.to} value={second} onChange={(value) => onChange([first, value])} />
        </>
      );
    case 'many':
      return field.options.length ? (
        <Options field={field} chosen={values} onChange={onChange} />
      ) : (
        <Lines values={values} onChange={onChange} />
      );
  }
}

function Options({ field, chosen, onChange }: { readonly field: Field; readonly chosen: readonly string[]; readonly onChange: OperandsProps['onChange'] }) {
  const order = field.options.map(({ value }) => value);
  return (
    <fieldset class="options">
      <legend class="visually-hidden">{words.filter.values}</legend>
      {order.map((value) => (
        <label key={value}>
          <input
            type="checkbox"
            checked={chosen.includes(value)}
            onChange={(event) =>
              onChange(order.filter((one) => (one === value ? event.currentTarget.checked : chosen.includes(one))))
            }
          />
          {value}
        </label>
      ))}
    </fieldset>
  );
}

/** Values, one a line. The text is kept as typed: half of a quoted value is no other value. */
function Lines({ values, onChange }: Pick<OperandsProps, 'values' | 'onChange'>) {
  const [text, setText] = useState(() => toLines(values));
  return (
    <textarea
      rows={3}
      aria-label={words.filter.values}
      placeholder={words.filter.values}
      value={text}
      onInput={({ currentTarget }) => {
        setText(currentTarget.value);
        onChange(fromLines(currentTarget.value));
      }}
    />
  );
}

interface ValueProps {
  readonly field: Field;
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Value({ field, label, value, onChange }: ValueProps) {
  switch (field.type) {
    case 'enum':
    case 'bool': {
      const choices = field.type === 'bool' ? [['true', words.cell.yes], ['false', words.cell.no]] : field.options.map((option) => [option.value, option.value]);
      return (
        <select aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          <option value="">{words.filter.choose}</option>
          {choices.map(([choice, name]) => (
            <option key={choice} value={choice}>
              {name}
            </option>
          ))}
        </select>
      );
    }
    case 'date':
      return <input type="date" aria-label={label} value={value} onInput={(event) => onChange(event.currentTarget.value)} />;
    case 'datetime':
      return (
        <input
          type="datetime-local"
          step="1"
          aria-label={label}
          value={localOf(value)}
          onInput={(event) => onChange(instantOf(event.currentTarget.value))}
        />
      );
    case 'number':
      return (
        <input
          type="text"
          inputMode="decimal"
          pattern="[\-+]?(\d+\.?\d*|\.\d+)([eE][\-+]?\d+)?"
          title={words.filter.number}
          aria-label={label}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      );
    case 'text':
      // A text may have several lines; Enter applies the filter nevertheless.
      return (
        <textarea
          rows={value.split('\n').length}
          aria-label={label}
          placeholder={label}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.altKey || event.isComposing) return;
            event.preventDefault();
            event.currentTarget.form?.requestSubmit();
          }}
        />
      );
    case 'user':
    case 'multi_enum':
      return <input type="text" aria-label={label} placeholder={label} value={value} onInput={(event) => onChange(event.currentTarget.value)} />;
  }
}

/** An instant as the input has it: in the reader's own time zone, without an offset. */
export function localOf(instant: string): string {
  const time = new Date(instant);
  if (Number.isNaN(time.getTime())) return '';
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

export function instantOf(local: string): string {
  const time = new Date(local);
  return Number.isNaN(time.getTime()) ? '' : time.toISOString().replace('.000', '');
}
