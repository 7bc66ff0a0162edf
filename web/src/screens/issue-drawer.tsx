/** One issue with every field, beside the grid. */
import { useSignalEffect } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { formatDatetime } from '../cells/format';
import { showValue } from '../cells/show';
import type { Field } from '../fields/fields';
import { rowOf, valueOf, type CellValue } from '../fields/values';
import type { ProjectModel } from '../project/model';
import { Icon } from '../ui/icon';
import { Drawer } from '../ui/drawer';
import { Refusal } from '../ui/refusal';
import { words } from '../words';
import { useResource } from './resource';

export function IssueDrawer({ model, num }: { readonly model: ProjectModel; readonly num: number }) {
  // The panel goes along with the focus of the grid.
  useSignalEffect(() => {
    if (model.selection.value) model.openIssue();
  });
  const held = useHeld(model, num);
  const [issue, reload] = useResource(
    async (signal) =>
      (await model.api.call('GET', '/v1/projects/{project}/issues/{num}', { path: { project: model.project.id, num }, signal })).body,
    [num, held?.version],
  );
  const name = issue.kind === 'ready' && issue.value.num === num ? issue.value.name : String(held?.values['name'] ?? '');
  return (
    <Drawer title={words.issue.title(num, name)} onClose={() => (model.desk.drawer.value = null)}>
      {issue.kind === 'failed' && <Refusal error={issue.error} title={words.issue.failed} onRetry={reload} />}
      {issue.kind === 'loading' && <p aria-busy="true">{words.loading}</p>}
      {issue.kind === 'ready' && (
        <>
          <dl class="issue">
            {model.fields.map((field) => (
              <FieldValue key={field.id} field={field} value={valueOf(rowOf(issue.value), field.id)} />
            ))}
          </dl>
          <p class="soft">
            {words.fields.created} {formatDatetime(issue.value.created)} {words.issue.by(issue.value.created_by)} · {words.fields.updated}{' '}
            {formatDatetime(issue.value.updated)} {words.issue.by(issue.value.updated_by)} · {words.issue.version} {issue.value.version}
          </p>
        </>
      )}
    </Drawer>
  );
}

/** The issue as the grid has it, which hears of edits first. */
function useHeld(model: ProjectModel, num: number) {
  const [, redraw] = useState(0);
  useEffect(() => model.rows.onChange(() => redraw((before) => before + 1)), [model]);
  return model.rows.held(num);
}

function FieldValue({ field, value }: { readonly field: Field; readonly value: CellValue }) {
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!place.current) return;
    if (value === null) place.current.textContent = words.cell.empty;
    else showValue(place.current, field, value);
  }, [field, value]);
  return (
    <div>
      <dt>
        <Icon name={field.type} />
        {field.name}
      </dt>
      <dd ref={place} class={value === null ? 'soft' : `value-${field.type}`} />
    </div>
  );
}
