/** The windows over a project, one at a time. */
import type { Api } from '../api/client';
import type { Field } from '../fields/fields';
import type { ProjectModel } from '../project/model';
import { useMemo } from 'preact/hooks';
import type { Beside } from '../project/panels';
import { sampleOf } from '../project/sample';
import { ExportWindow } from './export';
import { ImportWindow } from './import';
import { JobsWindow } from './jobs';
import { Settings } from './settings/settings';
import { TrashWindow } from './trash';
import { WebhooksWindow } from './webhooks';

export interface WindowsProps {
  readonly api: Api;
  readonly model: ProjectModel;
  /** The project's definitions may have changed. */
  readonly onRedefined: () => void;
  readonly onDeleted: () => void;
  /** A new field was made beside another. */
  readonly onCreated: (field: Pick<Field, 'id' | 'type'>, beside: Beside) => void;
}

export function Windows({ api, model, onRedefined, onDeleted, onCreated }: WindowsProps) {
  const { panels, live } = model;
  // The issues in view when the window opened.
  const sample = useMemo(() => sampleOf(model.rows.inView()), [model, panels.window.value]);
  switch (panels.window.value) {
    case 'import':
      return <ImportWindow model={model} onImported={() => (model.holdsWork ? live.recheck() : onRedefined())} />;
    case 'export':
      return <ExportWindow model={model} />;
    case 'jobs':
      return <JobsWindow model={model} />;
    case 'trash':
      return <TrashWindow model={model} />;
    case 'webhooks':
      return <WebhooksWindow model={model} />;
    case 'settings':
      return (
        <Settings
          api={api}
          project={model.project}
          people={model.people}
          place={panels.settings.value}
          rows={sample}
          onDeleted={onDeleted}
          onCreated={onCreated}
          onClose={(now) => {
            panels.window.value = null;
            panels.settings.value = null;
            if (now && model.adopt(now)) return;
            // The notice asks before some work is discarded.
            if (model.holdsWork) live.redefined.value = true;
            else onRedefined();
          }}
        />
      );
    case null:
      return null;
  }
}
