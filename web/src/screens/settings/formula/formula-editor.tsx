/** The editor of a formula: its text, and below it the type of the result and the first values, or the error. */
import { useEffect, useId, useState } from 'preact/hooks';
import type { FieldType } from '../../../api/types';
import { plainField, type Field } from '../../../fields/fields';
import type { FieldFormat } from '../../../fields/format';
import type { FormulaChecks, FormulaState } from '../../../project/formula-checks';
import type { SampleRow } from '../../../project/sample';
import { reasonOf } from '../../../ui/refusal';
import { words } from '../../../words';
import { ShownValue } from '../../value-editor';
import { FUNCTIONS } from './completion';
import { FormulaText } from './formula-text';
import { callAt, placeOfError } from './tokens';
import { formulaWords } from './words';

interface FormulaEditorProps {
  readonly checks: FormulaChecks;
  readonly fields: readonly Field[];
  /** The issues whose values are shown. */
  readonly rows: readonly SampleRow[];
  readonly value: string;
  /** How values are shown; null for the usual way of their type. */
  readonly format: FieldFormat | null;
  /** Whether it can be seen. Otherwise nothing is checked. */
  readonly isShown: boolean;
  readonly onChange: (text: string) => void;
}

export function FormulaEditor({ checks, fields, rows, value, format, isShown, onChange }: FormulaEditorProps) {
  const id = useId();
  const [caret, setCaret] = useState(0);
  useEffect(() => {
    if (isShown) checks.typed(value);
  }, [checks, value, isShown]);
  useEffect(() => () => checks.stop(), [checks]);
  const state = checks.state.value;
  const wrong = state.kind === 'refused' && state.position !== null ? placeOfError(value, state.position) : null;
  const call = callAt(value, caret);
  const called = FUNCTIONS.find(({ name }) => name === call?.name);
  return (
    <div class="formula-editor">
      <label for={`${id}-text`}>{formulaWords.label}</label>
      <FormulaText
        fields={fields}
        value={value}
        onChange={onChange}
        onCaret={setCaret}
        wrong={wrong}
        isInvalid={state.kind === 'refused'}
        areaId={`${id}-text`}
        describedBy={`${id}-state ${id}-hint`}
      />
      <p id={`${id}-hint`} class="soft formula-hint">
        {called ? formulaWords.explained(formulaWords.signature(called.name, called.parameters), called.summary) : formulaWords.hint}
      </p>
      <p id={`${id}-state`} class={state.kind === 'refused' ? 'bad formula-state' : 'formula-state'} role="status">
        {sentenceOf(state, wrong ? value.slice(wrong.from, wrong.to) : null)}
      </p>
      {state.kind === 'valid' && (
        <>
          {state.checked.formula !== value.trim() && <p class="soft formula-hint">{formulaWords.printed(state.checked.formula)}</p>}
          <Values id={id} rows={rows} type={state.checked.type} format={format} values={state.checked.values} />
        </>
      )}
    </div>
  );
}

/** `part`: the part of the text that an error is about; null if it has no place. */
function sentenceOf(state: FormulaState, part: string | null): string {
  switch (state.kind) {
    case 'empty':
      return formulaWords.empty;
    case 'checking':
      return formulaWords.checking;
    case 'valid':
      return formulaWords.result(words.settings.types[state.checked.type]);
    case 'refused':
      return part === null ? state.message : formulaWords.at(part, state.message);
    case 'failed':
      return formulaWords.unchecked(reasonOf(state.error));
  }
}

type Checked = Extract<FormulaState, { kind: 'valid' }>['checked'];

interface ValuesProps {
  readonly id: string;
  readonly rows: readonly SampleRow[];
  readonly type: FieldType;
  readonly format: FieldFormat | null;
  readonly values: Checked['values'];
}

function Values({ id, rows, type, format, values }: ValuesProps) {
  const names = new Map(rows.map(({ num, name }) => [num, name]));
  const field = plainField('', '', type, { format });
  if (!values.length) return null;
  return (
    <table class="table formula-values">
      <caption>{formulaWords.values}</caption>
      <tbody>
        {values.map(({ num, value, unavailable }) => (
          <tr key={num}>
            <th scope="row">{formulaWords.issue(num, names.get(num) ?? '')}</th>
            <td>{unavailable ? <span class="soft">{words.computed.unavailable[unavailable]}</span> : <ShownValue id={`${id}-${num}`} field={field} value={value} />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
