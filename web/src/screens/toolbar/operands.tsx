/** The operands of a condition: the inputs that fit the type of its field, and the relative values that it may have. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { givenText } from '../../cells/filter-text';
import { isComposing } from '../../composing';
import type { Field } from '../../fields/fields';
import { fromLines, toLines } from '../../selection/clipboard';
import { choicesOf, operandOf, type Choice, type Given, type Operator } from '../../view/filters';
import { isPeriod, isSame, ME, ownTimezone } from '../../view/relative';
import { words } from '../../words';

interface OperandsProps {
  readonly field: Field;
  readonly op: Operator;
  readonly values: readonly Given[];
  /** Whether the condition may become two that are joined. */
  readonly hasRoom: boolean;
  /** `op` if a chosen value comes with another operator. */
  readonly onChange: (values: readonly Given[], op?: Operator) => void;
}

export function Operands({ field, op, values, hasRoom, onChange }: OperandsProps) {
  const [first = '', second = ''] = values;
  const choices = choicesOf(field.type, op, ownTimezone()).filter(({ given }) => hasRoom || !isPeriod(given));
  const value = (label: string, given: Given, put: (given: Given) => readonly Given[]) => (
    <Value field={field} op={op} label={label} given={given} choices={choices} onChange={(next, other) => onChange(put(next), other)} />
  );
  switch (operandOf(field.type, op)) {
    case 'none':
      return null;
    case 'one':
      return value(words.filter.value, first, (next) => [next]);
    case 'two':
      return (
        <>
          {value(words.filter.from, first, (next) => [next, second])}
          {value(words.filter.to, second, (next) => [first, next])}
        </>
      );
    case 'many':
      if (field.options.length) return <Options field={field} chosen={textsIn(values)} onChange={onChange} />;
      return field.type === 'user' ? <Users values={values} onChange={onChange} /> : <Lines values={textsIn(values)} onChange={onChange} />;
  }
}

function textsIn(values: readonly Given[]): readonly string[] {
  return values.filter((one) => typeof one === 'string');
}

interface ValueProps {
  readonly field: Field;
  readonly op: Operator;
  readonly label: string;
  readonly given: Given;
  readonly choices: readonly Choice[];
  readonly onChange: (given: Given, op?: Operator) => void;
}

/** A value: entered, or one of the relative values that the operator offers. */
function Value({ field, op, label, given, choices, onChange }: ValueProps) {
  const isEntered = typeof given === 'string';
  const input = isEntered && <Input field={field} label={label} value={given} onChange={onChange} />;
  if (isEntered && !choices.length) return input;
  const at = isEntered ? -1 : choices.findIndex((choice) => choice.op === undefined && isSame(choice.given, given));
  // A value from a link may be none that is offered, such as a day in another time zone.
  const all: readonly Choice[] = isEntered || at >= 0 ? choices : [...choices, { given }];
  return (
    <div class="operand">
      <select
        aria-label={words.filter.kindOf(label)}
        value={isEntered ? '' : String(at >= 0 ? at : all.length - 1)}
        onChange={(event) => {
          const choice = all[event.currentTarget.value === '' ? -1 : Number(event.currentTarget.value)];
          if (choice) onChange(choice.given, choice.op);
          else onChange('');
        }}
      >
        <option value="">{field.type === 'user' ? words.filter.oneUser : words.filter.exactly}</option>
        {all.map((choice, place) => (
          <option key={place} value={String(place)}>
            {choice.op === undefined ? givenText(choice.given, field.type, op) : words.filter.overdue}
          </option>
        ))}
      </select>
      {input}
    </div>
  );
}

/** Users by their ids, and the reader. */
function Users({ values, onChange }: { readonly values: readonly Given[]; readonly onChange: (values: readonly Given[]) => void }) {
  const me = values.filter((one) => typeof one !== 'string');
  return (
    <div class="users">
      <label>
        <input type="checkbox" checked={me.length > 0} onChange={(event) => onChange([...(event.currentTarget.checked ? [ME] : []), ...textsIn(values)])} />
        {words.relative.me}
      </label>
      <Lines values={textsIn(values)} onChange={(lines) => onChange([...me, ...lines])} />
    </div>
  );
}

function Options({ field, chosen, onChange }: { readonly field: Field; readonly chosen: readonly string[]; readonly onChange: (values: readonly string[]) => void }) {
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
function Lines({ values, onChange }: { readonly values: readonly string[]; readonly onChange: (values: readonly string[]) => void }) {
  const [typed, setText] = useState(() => toLines(values));
  // Another condition may have come to this place.
  const text = fromLines(typed).join('\n') === values.join('\n') ? typed : toLines(values);
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

interface InputProps {
  readonly field: Field;
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Input({ field, label, value, onChange }: InputProps): VNode {
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
            if (event.key !== 'Enter' || event.shiftKey || event.altKey || isComposing(event)) return;
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
function localOf(instant: string): string {
  const time = new Date(instant);
  if (Number.isNaN(time.getTime())) return '';
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

export function instantOf(local: string): string {
  const time = new Date(local);
  return Number.isNaN(time.getTime()) ? '' : time.toISOString().replace('.000', '');
}
