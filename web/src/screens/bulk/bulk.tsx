/**
 * Changes many issues: all that the filter leaves, the ones in the selected rows, or the checked ones. Jobs of the API
 * write them.
 */
import { useState } from 'preact/hooks';
import type { BulkEdit } from '../../project/jobs';
import type { ProjectModel } from '../../project/model';
import type { BulkKind, Scope } from '../../project/panels';
import { countOf, MAX_TARGETS, type Target } from '../../rows/targets';
import { rowsOf } from '../../selection/range';
import { Drawer } from '../../ui/drawer';
import { words } from '../../words';
import { FilterWords } from '../filter-words';
import { CopyValues } from './copy-values';
import { ReplaceText } from './replace-text';
import { SetValue } from './set-value';

const KINDS: readonly BulkKind[] = ['set', 'replace', 'copy'];

interface BulkDrawerProps {
  readonly model: ProjectModel;
  readonly scope: Scope;
  /** What is chosen first: the change, its field, and the text to replace. */
  readonly edit: BulkKind;
  readonly field: string | null;
  readonly find?: string;
}

export function BulkDrawer({ model, scope, edit, field, find = '' }: BulkDrawerProps) {
  const [kind, setKind] = useState(edit);
  const rows = rowsOf(model.ranges);
  const targets = targetsOf(model, scope);
  const counts = model.counting.counts.value;
  const count = scope === 'all' ? (counts?.matched ?? null) : countOf(targets);
  const isWhole = scope === 'all' && model.filter === null;
  const close = () => model.panels.close();
  const begin = async (change: BulkEdit) => {
    if (await model.changes.begin({ targets, ...change })) close();
  };
  const isTooMany = targets.length > MAX_TARGETS;
  // Without targets, the forms begin no job.
  const shared = { model, targets: isTooMany ? [] : targets, onTake: (change: BulkEdit) => void begin(change) };
  return (
    <Drawer title={words.jobs.changeMany(count)} isForm onClose={close}>
      <p>
        {scope === 'all' && (isWhole ? words.jobs.ofAll : words.jobs.ofFilter)}
        {scope === 'checked' && words.jobs.ofChecked}
        {scope === 'rows' && words.jobs.ofRows(rows.map(({ first, last }) => [first + 1, last + 1]))}
      </p>
      {isTooMany && (
        <p class="bad" role="alert">
          {words.jobs.tooManyRuns(MAX_TARGETS)}
        </p>
      )}
      {scope === 'all' && <FilterWords model={model} frozen />}
      <div class="form">
        <fieldset class="radios bulk-kinds">
          <legend>{words.bulk.kind}</legend>
          {KINDS.map((one) => (
            <label key={one}>
              <input type="radio" name="bulk-kind" checked={kind === one} onChange={() => setKind(one)} />
              {words.bulk.kinds[one]}
            </label>
          ))}
        </fieldset>
        {kind === 'set' && <SetValue {...shared} count={count} field={field} />}
        {kind === 'replace' && <ReplaceText {...shared} find={find} field={field} />}
        {kind === 'copy' && <CopyValues {...shared} from={field} />}
      </div>
      <p class="soft">{words.jobs.what}</p>
    </Drawer>
  );
}

function targetsOf(model: ProjectModel, scope: Scope): readonly Target[] {
  if (scope === 'all') return model.targets(null);
  if (scope === 'checked') return model.targetsOf(model.checkedNums);
  return model.selectedTargets();
}
