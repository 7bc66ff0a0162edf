/** The form of a new card: its name, and each field that needs a value. Together they create the issue. */
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { textOf } from '../cells/text';
import { keyOf } from '../edits/marks';
import type { Field } from '../fields/fields';
import type { Row } from '../fields/values';
import { words as pageWords } from '../words';
import type { Board } from './board';
import { boardWords as words } from './words';

/** Nothing is left of a form that is cancelled, or that the user leaves while it is empty. */
export function DraftForm({ board, row }: { readonly board: Board; readonly row: Row }) {
  const form = useRef<HTMLFormElement>(null);
  /** The texts that were sent last: leaving the form does not send them again. */
  const sent = useRef<string | null>(null);
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>('input')?.focus(), []);
  const entered = () => {
    const data = form.current && new FormData(form.current);
    return board.fieldsOfNew.map((field) => {
      const text = data?.get(field.id);
      return { field, text: typeof text === 'string' ? text.trim() : '' };
    });
  };
  /** Whether these texts were not sent yet. */
  const isNew = (texts: ReturnType<typeof entered>) => {
    const sending = texts.map(({ text }) => text).join('\n');
    const before = sent.current;
    sent.current = sending;
    return sending !== before;
  };
  const end = () => {
    const texts = entered();
    if (isNew(texts)) board.enteredNew(texts);
  };
  return (
    <form
      ref={form}
      class="card-draft"
      data-version={row.version}
      onSubmit={(event) => {
        event.preventDefault();
        end();
      }}
      onInput={() => (sent.current = null)}
      onFocusOut={({ relatedTarget, currentTarget }) => {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) end();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        event.stopPropagation();
        // The form loses the focus as it goes.
        isNew(entered());
        board.cancelNew();
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

function Entry({ board, row, field }: { readonly board: Board; readonly row: Row; readonly field: Field }) {
  const note = useId();
  const mark = board.model.editor.marks.value.get(keyOf(row.num, field.id));
  const message = mark?.kind === 'refused' ? mark.message : null;
  const given = { name: field.id, 'aria-invalid': message !== null, 'aria-describedby': message === null ? undefined : note };
  // A draft that the API refused keeps its values. Before, its name is that of every new issue.
  const text = board.model.isKept(row.num) ? textOf(field.type, row.values[field.id] ?? null) : '';
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
    { value: 'true', label: pageWords.cell.yes },
    { value: 'false', label: pageWords.cell.no },
  ];
}
