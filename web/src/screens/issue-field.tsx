/** A field of the issue in the panel: its value, the grid's editor if it may be changed, and its marks. */
import { useId, useRef, useState } from 'preact/hooks';
import { permits } from '../auth/session';
import type { OpenCell, Typed } from '../cells/editors/editor';
import { keyOf, noteOf, refusedText } from '../edits/marks';
import type { Field } from '../fields/fields';
import { linkOf } from '../fields/format';
import { unavailableIn, valueOf, type Row } from '../fields/values';
import type { Actions } from '../project/actions';
import type { ProjectModel } from '../project/model';
import { useFocusAfterEdit } from '../ui/focus';
import { FormulaMark } from '../ui/formula-mark';
import { Icon } from '../ui/icon';
import { words } from '../words';
import { MarkdownText } from './markdown-text';
import { ShownValue, ValueEditor } from './value-editor';

interface IssueFieldProps {
  readonly model: ProjectModel;
  readonly actions: Actions;
  readonly row: Row;
  readonly field: Field;
  /** It is the title of the issue, without a label that can be seen. */
  readonly isTitle?: boolean;
}

export function IssueField({ model, actions, row, field, isTitle = false }: IssueFieldProps) {
  const [editing, setEditing] = useState(false);
  const id = useId();
  const { button, ended } = useFocusAfterEdit(editing);
  const opened = useRef<OpenCell | null>(null);
  const value = valueOf(row, field.id);
  const mark = model.editor.marks.value.get(keyOf(row.num, field.id));
  const note = noteOf(mark);
  const end = (typed: Typed | null, byKey: boolean) => {
    ended(byKey);
    setEditing(false);
    opened.current?.take(typed);
  };
  const address = typeof value === 'string' ? linkOf(field.format, value) : null;
  const markdown = field.format?.as === 'markdown' && typeof value === 'string' ? value : null;
  const reason = value === null ? unavailableIn(row, field.id) : undefined;
  const plain = reason ? <span class="soft">{words.computed.unavailable[reason]}</span> : <ShownValue id={`${id}-value`} field={field} value={value} />;
  const shown = markdown === null ? plain : <MarkdownText id={`${id}-value`} text={markdown} />;
  const mayEdit = model.canEdit && field.editable;
  const content = (
    <>
      {editing && (
        <ValueEditor
          api={model.api}
          field={field}
          value={value}
          mayCreate={permits(model.role, 'admin')}
          refused={refusedText(mark)}
          begin={() => {
            opened.current = actions.open(row, field);
            return opened.current.end;
          }}
          onEnd={end}
        />
      )}
      {!editing && (!mayEdit || markdown !== null) && shown}
      {/* A text with links cannot be in a button, which edits it. */}
      {!editing && mayEdit && markdown !== null && (
        <button ref={button} type="button" class="link-inline" aria-label={words.issue.editField(field.name)} onClick={() => setEditing(true)}>
          {words.issue.edit}
        </button>
      )}
      {!editing && mayEdit && markdown === null && (
        <button
          ref={button}
          type="button"
          class="issue-value"
          {...(field.type === 'bool'
            ? { role: 'checkbox', 'aria-checked': value === true, 'aria-labelledby': `${id}-name` }
            : { 'aria-labelledby': `${id}-name ${id}-value` })}
          title={words.issue.edit}
          onClick={() => (field.type === 'bool' ? actions.commit(row, field, { value: value !== true }) : setEditing(true))}
        >
          {shown}
        </button>
      )}
      {!editing && address && (
        <a class="issue-link" href={address} target="_blank" rel="noopener noreferrer">
          {words.issue.follow}
        </a>
      )}
      {note && (
        <p class="bad" role="alert">
          {note}
        </p>
      )}
    </>
  );
  const isOutdated = model.computing.isOutdated(row, field.id);
  const look = mark ? `is-${mark.kind}` : isOutdated ? 'is-outdated' : '';
  if (isTitle) {
    return (
      <div class={`issue-title ${look}`}>
        <span class="visually-hidden" id={`${id}-name`}>
          {field.name}
        </span>
        {content}
      </div>
    );
  }
  return (
    <div class={look}>
      <dt id={`${id}-name`}>
        <Icon name={field.type} />
        <span title={field.description || undefined}>{field.name}</span>
        <FormulaMark formula={field.formula} />
      </dt>
      <dd aria-busy={isOutdated || undefined}>{content}</dd>
    </div>
  );
}
