/** Gives many issues the same value of a field. */
import { useId, useState } from 'preact/hooks';
import { parseTyped } from '../../cells/parse';
import type { Typed } from '../../cells/editors/editor';
import { patchOf } from '../../edits/change';
import type { Field } from '../../fields/fields';
import type { CellValue } from '../../fields/values';
import type { BulkEdit } from '../../project/jobs';
import type { ProjectModel } from '../../project/model';
import type { Target } from '../../rows/targets';
import { useFocusAfterEdit } from '../../ui/focus';
import { unsaved } from '../../ui/unsaved';
import { words } from '../../words';
import { ShownValue, ValueEditor } from '../value-editor';

interface SetValueProps {
  readonly model: ProjectModel;
  readonly targets: readonly Target[];
  /** The number of issues to change; null if it is not known. */
  readonly count: number | null;
  /** The field that is chosen first. */
  readonly field: string | null;
  readonly onTake: (change: BulkEdit) => void;
}

export function SetValue({ model, targets, count, field: asked, onTake }: SetValueProps) {
  const fields = model.fields.filter(({ editable }) => editable);
  const [id, setId] = useState(asked ?? model.fieldAt(model.selection.peek()?.anchor.column ?? 0)?.id ?? '');
  const field = fields.find((one) => one.id === id) ?? fields.find((one) => !one.required) ?? fields[0];
  return (
    <>
      <label>
        {words.jobs.field}
        <select value={field?.id} onChange={(event) => setId(event.currentTarget.value)}>
          {fields.map((one) => (
            <option key={one.id} value={one.id}>
              {one.name}
            </option>
          ))}
        </select>
      </label>
      {field && (
        <NewValue
          key={field.id}
          model={model}
          field={field}
          count={count}
          disabled={!targets.length || model.jobs.busy.value}
          onTake={(value) => onTake({ set: patchOf([{ field: field.id, after: value }], model.fields) })}
        />
      )}
    </>
  );
}

interface NewValueProps {
  readonly model: ProjectModel;
  readonly field: Field;
  /** The number of issues to change; null if it is not known. */
  readonly count: number | null;
  readonly disabled: boolean;
  readonly onTake: (value: CellValue) => void;
}

function NewValue({ model, field, count, disabled, onTake }: NewValueProps) {
  const id = useId();
  // Undefined until one is chosen, so that no value is emptied by accident.
  const [value, setValue] = useState<CellValue | undefined>(undefined);
  const [editing, setEditing] = useState(false);
  const [problem, setProblem] = useState('');
  const [refused, setRefused] = useState<string | null>(null);
  const { button, ended } = useFocusAfterEdit(editing);
  const end = (typed: Typed | null, byKey: boolean) => {
    ended(byKey);
    setEditing(false);
    if (!typed) {
      setProblem('');
      setRefused(null);
      return;
    }
    const parsed = parseTyped(field, typed);
    setProblem(parsed.ok ? '' : parsed.message);
    setRefused(parsed.ok || !('text' in typed) ? null : typed.text);
    if (parsed.ok) setValue(parsed.value);
  };
  return (
    <>
      <div class="bulk-value" {...unsaved(value !== undefined)}>
        <span id={`${id}-name`}>{words.jobs.value}</span>
        {field.type === 'bool' ? (
          <select aria-labelledby={`${id}-name`} value={String(value)} onChange={({ currentTarget }) => setValue(BOOLEANS.get(currentTarget.value))}>
            <option value="undefined">{words.filter.choose}</option>
            <option value="true">{words.cell.yes}</option>
            <option value="false">{words.cell.no}</option>
            {!field.required && <option value="null">{words.cell.empty}</option>}
          </select>
        ) : editing ? (
          <ValueEditor api={model.api} field={field} value={value ?? null} refused={refused} onEnd={end} />
        ) : (
          <button ref={button} class="issue-value" type="button" aria-labelledby={`${id}-name ${id}-value`} title={words.issue.edit} onClick={() => setEditing(true)}>
            {value === undefined ? <span id={`${id}-value`}>{words.filter.choose}</span> : <ShownValue id={`${id}-value`} field={field} value={value} />}
          </button>
        )}
      </div>
      {problem && (
        <p class="bad" role="alert">
          {problem}
        </p>
      )}
      <div class="row-end">
        {!field.required && field.type !== 'bool' && (
          <button class="button" type="button" onClick={() => setValue(null)}>
            {words.jobs.clear(field.name)}
          </button>
        )}
        <button class="button primary" type="button" disabled={disabled || value === undefined} onClick={() => value !== undefined && onTake(value)}>
          {words.jobs.changeMany(count)}
        </button>
      </div>
    </>
  );
}

const BOOLEANS = new Map<string, CellValue>([
  ['true', true],
  ['false', false],
  ['null', null],
]);
