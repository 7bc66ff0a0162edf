/** The settings of a project, for its admins: its name, its fields, its indexes, and its deletion. */
import { useEffect, useMemo } from 'preact/hooks';
import type { Api } from '../../api/client';
import type { Attribute, DeletedAttribute, Project } from '../../api/types';
import { Definitions } from '../../project/definitions';
import { deletedFieldsOf } from '../../project/deleted-fields';
import type { Beside, SettingsPlace } from '../../project/panels';
import type { SampleRow } from '../../project/sample';
import type { People } from '../../project/people';
import { Dialog } from '../../ui/dialog';
import { Refusal } from '../../ui/refusal';
import { ApiError } from '../../api/problem';
import { words } from '../../words';
import { JustDeleted } from '../deleted-section';
import { Attributes } from './attributes';
import { General } from './general';
import { Indexes } from './indexes';

interface SettingsProps {
  readonly api: Api;
  readonly project: Project;
  readonly people: People;
  /** The part that they are opened for. */
  readonly place: SettingsPlace | null;
  /** The issues for which formulas show values. */
  readonly rows: readonly SampleRow[];
  /** Called with a new field that was asked for beside a column. */
  readonly onCreated: (field: Attribute, beside: Beside) => void;
  readonly onDeleted: () => void;
  /** Called with the project when the settings are closed; null if the last change has not been read yet. */
  readonly onClose: (now: Project | null) => void;
}

export function Settings({ api, project, people, place, rows, onCreated, onDeleted, onClose }: SettingsProps) {
  const definitions = useMemo(() => new Definitions(api, project), []);
  const deleted = useMemo(() => deletedFieldsOf(api, project.id, () => void definitions.reload()), [definitions]);
  useEffect(() => () => definitions.close(), [definitions]);
  const error = definitions.error.value;
  return (
    <Dialog title={words.settings.title(definitions.project.value.name)} wide onClose={() => onClose(definitions.isLatest ? definitions.project.peek() : null)}>
      {error !== null && <Refusal error={error} also={dependentsOf(error, definitions.project.value, deleted.items.list.value ?? [])} />}
      <JustDeleted deleted={deleted} textOf={words.deletedFields.just} />
      <General definitions={definitions} onDeleted={onDeleted} />
      <Attributes definitions={definitions} deleted={deleted} people={people} place={place} rows={rows} onCreated={onCreated} />
      <Indexes definitions={definitions} />
    </Dialog>
  );
}

/** The fields whose formulas prevent a deletion, by name, also deleted ones that can be restored; empty for other errors. */
function dependentsOf(error: unknown, { attributes = [] }: Project, deleted: readonly DeletedAttribute[]): string {
  const ids = error instanceof ApiError ? (error.problem.dependents ?? []) : [];
  const nameOf = (id: string) => [...attributes, ...deleted].find((one) => one.id === id)?.name ?? id;
  return ids.length ? words.settings.usedBy(ids.map(nameOf)) : '';
}
