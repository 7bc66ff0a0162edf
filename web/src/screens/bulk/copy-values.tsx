/** Copies the values of one field into another, converted to its type. This is how the type of a field is changed. */
import { useState } from 'preact/hooks';
import { permits } from '../../auth/session';
import { targetsFor } from '../../fields/conversion';
import type { BulkEdit } from '../../project/jobs';
import type { ProjectModel } from '../../project/model';
import type { Target } from '../../rows/targets';
import { unsaved } from '../../ui/unsaved';
import { words } from '../../words';
import { PreviewedChange } from './preview';

interface CopyValuesProps {
  readonly model: ProjectModel;
  readonly targets: readonly Target[];
  /** The field whose values are copied, if it is known. */
  readonly from: string | null;
  readonly onTake: (change: BulkEdit) => void;
}

export function CopyValues({ model, targets, from: asked, onTake }: CopyValuesProps) {
  const [from, setFrom] = useState(asked ?? '');
  const [to, setTo] = useState('');
  const source = model.field(from);
  const offered = source ? targetsFor(source, model.fields) : [];
  const target = offered.find(({ id }) => id === to);
  return (
    <>
      <div class="form" {...unsaved(to !== '')}>
        <label>
          {words.bulk.from}
          <select value={from} onChange={({ currentTarget }) => setFrom(currentTarget.value)}>
            <option value="">{words.filter.choose}</option>
            {model.fields.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          {words.bulk.to}
          <select autofocus value={target?.id ?? ''} disabled={!source} onChange={({ currentTarget }) => setTo(currentTarget.value)}>
            <option value="">{words.filter.choose}</option>
            {offered.map(({ id, name, type }) => (
              <option key={id} value={id}>
                {words.bulk.ofType(name, words.settings.types[type])}
              </option>
            ))}
          </select>
        </label>
        <p class="soft">{words.bulk.copyWhy}</p>
        <p class="soft">
          {words.bulk.typeChange}{' '}
          {permits(model.role, 'admin') && (
            <button class="link-inline" type="button" onClick={() => (model.panels.window.value = 'settings')}>
              {words.settings.open}
            </button>
          )}
        </p>
      </div>
      <PreviewedChange
        model={model}
        targets={targets}
        change={source && target ? { copy: { from: source.id, to: target.id } } : null}
        label={words.bulk.copy}
        onTake={onTake}
      />
    </>
  );
}
