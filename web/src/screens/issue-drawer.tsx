/** One issue with every field, beside the grid. */
import { useSignalEffect } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { formatDatetime } from '../cells/format';
import { valueOf } from '../fields/values';
import type { Actions } from '../project/actions';
import type { ProjectModel } from '../project/model';
import type { IssuePart } from '../project/panels';
import { isWholeColumns } from '../selection/range';
import { Drawer } from '../ui/drawer';
import { Refusal } from '../ui/refusal';
import { words } from '../words';
import { CommentList } from './comments';
import { HistoryOfIssue } from './history';
import { IssueField } from './issue-field';
import { Presence } from './presence';

interface IssueDrawerProps {
  readonly model: ProjectModel;
  readonly actions: Actions;
  readonly num: number;
  /** The part that it is opened for. */
  readonly part: IssuePart | undefined;
}

export function IssueDrawer({ model, actions, num, part }: IssueDrawerProps) {
  const parts = useRef<HTMLDivElement>(null);
  // The panel follows the focus of the grid, but only once that moves: a list may have opened another issue.
  const before = useRef(model.selection.peek());
  useSignalEffect(() => {
    const selection = model.selection.value;
    // A chosen column is about all issues.
    if (selection && selection !== before.current && !isWholeColumns(selection, model.size)) model.openIssue();
    before.current = model.selection.value;
  });
  const row = model.issue.row.value;
  const trail = model.issue.trail.value;
  const error = model.issue.error.value;
  const version = Math.max(useHeldVersion(model, num), row?.num === num ? row.version : 0);
  useEffect(() => void model.issue.show(num, version), [num, version]);
  const isThere = row?.num === num;
  useEffect(() => {
    if (isThere && part) showPart(parts.current?.querySelector(`.${part}`) ?? null);
  }, [isThere, num, part]);
  useEffect(() => () => model.issue.hide(), [model]);
  const name = row ? String(valueOf(row, 'name') ?? '') : '';
  return (
    <Drawer title={words.issue.title(num, name)} onClose={() => (model.panels.drawer.value = null)}>
      <Presence others={model.live.others.value.filter((one) => one.num === num)} />
      {error !== null && <Refusal error={error} title={words.issue.failed} onRetry={() => void model.issue.show(num)} />}
      {error === null && !row && <p aria-busy="true">{words.loading}</p>}
      {row && (
        <dl class="issue">
          {model.fields.map((field) => (
            <IssueField key={`${row.num} ${field.id}`} model={model} actions={actions} row={row} field={field} />
          ))}
        </dl>
      )}
      {row && trail?.num === num && (
        <p class="soft">
          {words.fields.created} {formatDatetime(trail.created)} {words.issue.by(model.people.nameOf(trail.created_by))} · {words.fields.updated}{' '}
          {formatDatetime(trail.updated)} {words.issue.by(model.people.nameOf(trail.updated_by))} · {words.issue.version} {trail.version}
        </p>
      )}
      {isThere && (
        <div key={num} ref={parts}>
          <HistoryOfIssue model={model} num={num} />
          <CommentList model={model} num={num} />
        </div>
      )}
    </Drawer>
  );
}

/** Open a part, and bring it into view with the focus. */
function showPart(part: Element | null): void {
  if (part instanceof HTMLDetailsElement) part.open = true;
  part?.scrollIntoView({ block: 'start' });
  part?.querySelector<HTMLElement>('summary, textarea')?.focus();
}

/** The version of the issue in the grid, which receives edits first; 0 if the grid does not have it. */
function useHeldVersion(model: ProjectModel, num: number): number {
  const [, redraw] = useState(0);
  useEffect(() => model.rows.onChange(() => redraw((before) => before + 1)), [model]);
  return model.rows.held(num)?.version ?? 0;
}
