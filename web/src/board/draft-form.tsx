/** The form of a new card: its name, and each field that needs a value. Together they create the issue. */
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { textOf } from '../cells/text';
import { isComposing } from '../composing';
import { keyOf, refusedText } from '../edits/marks';
import type { Field } from '../fields/fields';
import type { Row } from '../fields/values';
import type { FieldText } from '../project/actions';
import { words as pageWords } from '../words';
import type { Board } from './board';
import { boardWords as words } from './words';

/** Nothing is left of a form that is cancelled, or that the user leaves while it is empty. */
export function DraftForm({ board, row }: { readonly board: Board; readonly row: Row }) {
  const form = useRef<HTMLFormElement>(null);
  /** The texts as the draft has them, or as they were sent last. */
  const known = useRef('');
  const entered = () =>
    board.fieldsOfNew.map((field) => {
      const control = form.current?.elements.namedItem(field.id);
      return { field, text: control && 'value' in control ? control.value : '' };
    });
  const send = (texts = entered()) => {
    known.current = joined(texts);
    board.enteredNew(row, texts);
  };
  const isChanged = () => joined(entered()) !== known.current;
  useLayoutEffect(() => {
    known.current = joined(entered());
    // What was typed until the issue was created, is an edit of it.
    return () => {
      if (board.actions.isCreating(row.num) && isChanged()) send();
    };
  }, []);
  const { value: asked } = board.asked;
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>('input')?.focus(), [asked]);
  return (
    <form
      ref={form}
      class="card-draft"
      data-version={row.version}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onFocusOut={({ relatedTarget, currentTarget }) => {
        const isWithin = relatedTarget instanceof Node && currentTarget.contains(relatedTarget);
        // The focus stays in the form while the user is in another window.
        if (isWithin || currentTarget.contains(document.activeElement)) return;
        if (isChanged() || isEmpty(entered())) send();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || isComposing(event)) return;
        event.preventDefault();
        event.stopPropagation();
        // The form loses the focus as it goes.
        known.current = joined(entered());
        board.actions.drop(row.num);
      }}
    >
      {board.fieldsOfNew.map((field) => (
        <Entry key={field.id} board={board} row={row} field={field} />
      ))}
      {/* Enter in a field submits the form only if there is a button, or no other field. */}
      {board.fieldsOfNew.length > 1 && (
        <button class="button primary" type="submit">
          {words.create}
        </button>
      )}
    </form>
  );
}

function joined(texts: readonly FieldText[]): string {
  return JSON.stringify(texts.map(({ text }) => text));
}

function isEmpty(texts: readonly FieldText[]): boolean {
  return texts.every(({ text }) => !text.trim());
}

function Entry({ board, row, field }: { readonly board: Board; readonly row: Row; readonly field: Field }) {
  const note = useId();
  const mark = board.model.editor.marks.value.get(keyOf(row.num, field.id));
  const message = mark?.kind === 'refused' ? mark.message : null;
  const given = { name: field.id, 'aria-invalid': message !== null, 'aria-describedby': message === null ? undefined : note };
  // A draft keeps its values. Before it has any, its name is that of every new issue.
  const kept = board.model.isKept(row.num) ? textOf(field.type, row.values[field.id] ?? null) : '';
  const text = refusedText(mark) ?? kept;
  return (
    <>
      {field.id === 'name' ? (
        <input {...given} type="text" aria-label={words.draft} placeholder={words.draft} title={words.draft} defaultValue={text} />
      ) : (
        <label>
          {field.name}
          {field.type === 'bool' || field.type === 'enum' ? (
            <select {...given}>
              <option value="">{pageWords.filter.choose}</option>
              {choicesOf(field).map(({ value, label }) => (
                <option key={value} value={value} selected={value === text}>
                  {label}
                </option>
              ))}
            </select>
          ) : field.type === 'text' ? (
            <textarea {...given} rows={2} defaultValue={text} />
          ) : (
            <input {...given} type="text" autocomplete="off" defaultValue={text} />
          )}
        </label>
      )}
      {message !== null && (
        <span id={note} class="bad">
          {message}
        </span>
      )}
    </>
  );
}

function choicesOf(field: Field): readonly { readonly value: string; readonly label: string }[] {
  if (field.type === 'enum') return field.options.map(({ value }) => ({ value, label: value }));
  return [
    { value: textOf('bool', true), label: pageWords.cell.yes },
    { value: textOf('bool', false), label: pageWords.cell.no },
  ];
}
