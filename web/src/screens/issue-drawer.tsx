/** One issue with every field, its history and its comments, beside the grid. The name is its title. */
import { useSignalEffect } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { formatDatetime } from '../cells/format';
import { permits } from '../auth/session';
import { valueOf } from '../fields/values';
import type { Actions } from '../project/actions';
import type { ProjectModel } from '../project/model';
import type { IssuePart } from '../project/panels';
import { isWholeColumns } from '../selection/range';
import { Drawer } from '../ui/drawer';
import { shortcutOf } from '../ui/keys';
import { Refusal } from '../ui/refusal';
import { StepButton } from '../ui/step-button';
import { isTyping } from '../ui/typing';
import { words } from '../words';
import { CommentList, NewComment, useComments } from './comments';
import { HistoryOfIssue } from './history';
import { IssueField } from './issue-field';
import { Presence } from './presence';

/** The fields that the head and the end of the panel have. */
const ELSEWHERE: ReadonlySet<string> = new Set(['num', 'name', 'created', 'updated', 'created_by', 'updated_by']);

interface IssueDrawerProps {
  readonly model: ProjectModel;
  readonly actions: Actions;
  readonly num: number;
  /** The part that it is opened for. */
  readonly part: IssuePart | undefined;
  /** Puts the focus of the grid into another row, and brings it into view. */
  readonly onRow: (row: number) => void;
}

export function IssueDrawer({ model, actions, num, part, onRow }: IssueDrawerProps) {
  const parts = useRef<HTMLDivElement>(null);
  // The panel follows the focus of the grid, but only once the user moves that: a list may have opened another issue. The
  // selection also changes as its rows and columns move.
  const focused = () => {
    const selection = model.selection.peek();
    return { selection, num: model.issueInFocus()?.num ?? null, field: selection && model.fieldAt(selection.anchor.column)?.id };
  };
  const before = useRef(focused());
  // Whether the issue in focus is still being loaded.
  const awaited = useRef(false);
  const follow = () => {
    model.openIssue();
    const row = model.selection.peek()?.anchor.row;
    awaited.current = row !== undefined && model.rows.at(row).kind === 'loading';
  };
  useSignalEffect(() => {
    const selection = model.selection.value;
    const { current: last } = before;
    before.current = focused();
    const { num, field } = before.current;
    const isSame = selection === last.selection || (num !== null && num === last.num && field === last.field);
    // A chosen column is about all issues.
    if (selection && !isSame && !isWholeColumns(selection, model.size)) follow();
  });
  useEffect(
    () =>
      model.rows.onChange(() => {
        if (awaited.current) follow();
      }),
    [model],
  );
  const read = model.issue.row.value;
  const row = read?.num === num ? read : null;
  const trail = model.issue.trail.value;
  const error = model.issue.error.value;
  const version = Math.max(useHeldVersion(model, num), row?.version ?? 0);
  useEffect(() => void model.issue.show(num, version), [num, version]);
  const isRead = row !== null;
  useEffect(() => {
    if (isRead && part) showPart(parts.current?.querySelector(`.${part}`) ?? null);
  }, [isRead, num, part]);
  useEffect(() => () => model.issue.hide(), [model]);
  const comments = useComments(model, num, isRead);
  const title = words.issue.title(num, row ? String(valueOf(row, 'name') ?? '') : '');
  const name = model.fields.find(({ id }) => id === 'name');
  const step = (by: -1 | 1) => {
    const next = model.rowBeside(num, by);
    if (next !== undefined) onRow(next);
  };
  return (
    <Drawer
      title={title}
      heading={<Heading num={num} title={title} />}
      tools={
        <>
          <StepButton way="up" label={words.issue.previous} isAtEnd={model.rowBeside(num, -1) === undefined} act={() => step(-1)} />
          <StepButton way="down" label={words.issue.next} isAtEnd={model.rowBeside(num, 1) === undefined} act={() => step(1)} />
        </>
      }
      foot={isRead && permits(model.role, 'editor') && <NewComment key={num} model={model} comments={comments} />}
      isWide
      onKey={(event) => {
        const by = stepOf(event);
        if (by === null) return;
        event.preventDefault();
        step(by);
      }}
      onClose={() => model.panels.close()}
    >
      <Presence others={model.live.others.value.filter((one) => one.num === num)} />
      {error !== null && <Refusal error={error} title={words.issue.failed} onRetry={() => void model.issue.show(num)} />}
      {error === null && !row && <p aria-busy="true">{words.loading}</p>}
      {row && name && <IssueField key={`${row.num} name`} model={model} actions={actions} row={row} field={name} isTitle />}
      {row && (
        <dl class="issue">
          {model.fields
            .filter(({ id }) => !ELSEWHERE.has(id))
            .map((field) => (
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
      {isRead && (
        <div key={num} ref={parts}>
          <HistoryOfIssue model={model} num={num} />
          <CommentList model={model} comments={comments} />
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

/** The number; the name is the title below it, so only a screen reader gets it here. */
function Heading({ num, title }: { readonly num: number; readonly title: string }) {
  return (
    <>
      <span aria-hidden="true">{words.issue.number(num)}</span>
      <span class="visually-hidden">{title}</span>
    </>
  );
}

/** K and J, as long as no text is being typed: up and down along the rows. */
function stepOf(event: KeyboardEvent): -1 | 1 | null {
  const { target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return null;
  if (!(target instanceof Element) || isTyping(target) || target.closest('select, [contenteditable], .editor')) return null;
  const key = shortcutOf(event);
  return key === 'k' ? -1 : key === 'j' ? 1 : null;
}

/** The version of the issue in the grid, which receives edits first; 0 if the grid does not have it. */
function useHeldVersion(model: ProjectModel, num: number): number {
  const [, redraw] = useState(0);
  useEffect(() => model.rows.onChange(() => redraw((before) => before + 1)), [model]);
  return model.rows.held(num)?.version ?? 0;
}
