/** A field of the issue in the panel: its value, the grid's editor where it may be changed, and what is remarkable about it. */
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { editorFor } from '../cells/editors';
import type { Typed } from '../cells/editors/editor';
import { showValue } from '../cells/show';
import { keyOf, noteOf } from '../edits/marks';
import type { Field } from '../fields/fields';
import { valueOf, type CellValue, type Row } from '../fields/values';
import type { Actions } from '../project/actions';
import type { ProjectModel } from '../project/model';
import { findUsers } from '../project/queries';
import { Icon } from '../ui/icon';
import { words } from '../words';

interface IssueFieldProps {
  readonly model: ProjectModel;
  readonly actions: Actions;
  readonly row: Row;
  readonly field: Field;
}

export function IssueField({ model, actions, row, field }: IssueFieldProps) {
  const [editing, setEditing] = useState(false);
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const goesBack = useRef(false);
  const value = valueOf(row, field.id);
  const mark = model.editor.marks.value.get(keyOf(row.num, field.id));
  const note = noteOf(mark);
  useEffect(() => {
    if (!editing && goesBack.current) button.current?.focus();
    goesBack.current = false;
  }, [editing]);
  const end = (typed: Typed | null, byKey: boolean) => {
    goesBack.current = byKey;
    setEditing(false);
    if (typed) actions.commit(row, field, typed);
  };
  const shown = <Value id={`${id}-value`} field={field} value={value} />;
  return (
    <div class={mark ? `is-${mark.kind}` : ''}>
      <dt id={`${id}-name`}>
        <Icon name={field.type} />
        {field.name}
      </dt>
      <dd>
        {editing && <Editing model={model} num={row.num} field={field} value={value} onEnd={end} />}
        {!editing && !(model.canEdit && field.editable) && shown}
        {!editing && model.canEdit && field.editable && (
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
        {note && (
          <p class="bad" role="alert">
            {note}
          </p>
        )}
      </dd>
    </div>
  );
}

function Value({ id, field, value }: { readonly id: string; readonly field: Field; readonly value: CellValue }) {
  const place = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (!place.current) return;
    if (value === null && field.type !== 'bool') place.current.textContent = words.cell.empty;
    else showValue(place.current, field, value ?? false);
  }, [field, value]);
  return <span id={id} ref={place} class={value === null ? 'soft' : `value-${field.type}`} />;
}

interface EditingProps {
  readonly model: ProjectModel;
  readonly num: number;
  readonly field: Field;
  readonly value: CellValue;
  /** What was entered, null where it is given up; and whether a key ended it, so that the focus has nowhere to go. */
  readonly onEnd: (typed: Typed | null, byKey: boolean) => void;
}

function Editing({ model, num, field, value, onEnd }: EditingProps) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = place.current;
    if (!element) return;
    let over = false;
    const ended = model.edits(num, field.id);
    const end = (taken: boolean, byKey: boolean) => {
      if (over) return;
      over = true;
      onEnd(taken ? editor.result() : null, byKey);
    };
    const editor = editorFor({
      field,
      value,
      typed: null,
      suggestUsers: (prefix) => findUsers(model.api, prefix),
      done: () => end(true, true),
    });
    element.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== 'Escape') return;
      event.preventDefault();
      event.stopPropagation();
      end(event.key === 'Enter', true);
    });
    element.addEventListener('focusout', () => end(true, false));
    element.append(editor.element);
    editor.open();
    return () => {
      over = true;
      editor.close();
      ended();
    };
  }, []);
  return <div ref={place} class="issue-editor" />;
}
