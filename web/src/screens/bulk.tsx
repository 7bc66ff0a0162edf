/**
 * Gives many issues a value: all that the filter leaves, the ones in the selected rows, or the checked ones. A job of
 * the API writes it.
 */
import { useId, useState } from 'preact/hooks';
import { parseTyped } from '../cells/parse';
import type { Typed } from '../cells/editors/editor';
import { patchOf } from '../edits/change';
import type { Field } from '../fields/fields';
import type { CellValue } from '../fields/values';
import type { Scope } from '../project/panels';
import type { ProjectModel } from '../project/model';
import { countOf } from '../rows/targets';
import { Drawer } from '../ui/drawer';
import { unsaved } from '../ui/unsaved';
import { words } from '../words';
import { FilterWords } from './filter-words';
import { ShownValue, ValueEditor } from './value-editor';

interface BulkDrawerProps {
  readonly model: ProjectModel;
  readonly scope: Scope;
  /** The field that is chosen first. */
  readonly field: string | null;
}

export function BulkDrawer({ model, scope, field: asked }: BulkDrawerProps) {
  const fields = model.fields.filter(({ editable }) => editable);
  const [id, setId] = useState(asked ?? model.fieldAt(model.selection.peek()?.anchor.column ?? 0)?.id ?? '');
  const field = fields.find((one) => one.id === id) ?? fields.find((one) => !one.required) ?? fields[0];
  const range = model.range;
  const targets =
    scope === 'all'
      ? model.targets(null)
      : scope === 'checked'
        ? model.targetsOf(model.checkedNums)
        : range
          ? model.targets({ first: range.top, last: range.bottom })
          : [];
  const counts = model.counting.counts.value;
  const count = scope === 'all' ? (counts?.matched ?? null) : countOf(targets);
  const isWhole = scope === 'all' && model.filter === null;
  const close = () => (model.panels.drawer.value = null);
  const begin = async (value: CellValue) => {
    if (field && (await model.changeMany({ targets, set: patchOf([{ field: field.id, after: value }], model.fields) }))) close();
  };
  return (
    <Drawer title={words.jobs.changeMany(count)} isForm onClose={close}>
      <p>
        {isWhole
          ? words.jobs.ofAll
          : scope === 'all'
            ? words.jobs.ofFilter
            : scope === 'checked'
              ? words.jobs.ofChecked
              : words.jobs.ofRows((range?.top ?? 0) + 1, (range?.bottom ?? 0) + 1)}
      </p>
      {scope === 'all' && <FilterWords model={model} frozen />}
      <div class="form">
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
          <NewValue key={field.id} model={model} field={field} count={count} disabled={!targets.length || model.jobs.busy.value} onTake={(value) => void begin(value)} />
        )}
      </div>
      <p class="soft">{words.jobs.what}</p>
    </Drawer>
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
  const end = (typed: Typed | null) => {
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
          <button class="issue-value" type="button" aria-labelledby={`${id}-name ${id}-value`} title={words.issue.edit} onClick={() => setEditing(true)}>
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
