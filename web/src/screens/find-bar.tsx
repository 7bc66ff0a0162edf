/** The bar above the rows that finds a text in them. The focus stays in it, while the grid shows the matches. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { isComposing } from '../composing';
import type { Field } from '../fields/fields';
import type { ProjectModel } from '../project/model';
import { isFoundWhole } from '../selection/sought';
import { Icon } from '../ui/icon';
import type { Icon as IconName } from '../ui/icons';
import { reasonOf } from '../ui/refusal';
import { MAX_READ, searchable } from '../view/text-search';
import { words } from '../words';

const LONGEST = 200;

interface FindBarProps {
  readonly model: ProjectModel;
  /** The bar was closed: the grid takes the focus. */
  readonly onClose: () => void;
}

export function FindBar({ model, onClose }: FindBarProps) {
  const { finding, panels } = model;
  const input = useRef<HTMLInputElement>(null);
  const asked = finding.asked.value;
  useLayoutEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, [asked]);
  const isReady = finding.sought.value !== null && finding.fields.value.length > 0;
  const error = finding.error.value;
  const close = () => {
    finding.close();
    onClose();
  };
  const replace = () => {
    panels.open({ kind: 'bulk', scope: 'all', edit: 'replace', field: null, find: finding.text.peek() });
  };
  return (
    <form
      class="find-bar"
      role="search"
      aria-label={words.find.open}
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        if (isComposing(event)) return;
        if (event.key === 'Escape') close();
        else if (event.key === 'Enter' && event.target === input.current) void finding.next(event.shiftKey ? -1 : 1);
        else return;
        event.preventDefault();
      }}
    >
      <label class="find-text">
        <Icon name="search" />
        <input
          ref={input}
          maxLength={LONGEST}
          autocomplete="off"
          spellcheck={false}
          aria-label={words.find.text}
          placeholder={words.find.text}
          value={finding.text.value}
          onInput={({ currentTarget }) => (finding.text.value = currentTarget.value)}
        />
      </label>
      <Go icon="up" label={words.find.previous} disabled={!isReady} act={() => void finding.next(-1)} />
      <Go icon="down" label={words.find.next} disabled={!isReady} act={() => void finding.next(1)} />
      <span class="find-count" role="status" aria-busy={finding.busy.value}>
        {error === null ? <Count model={model} /> : reasonOf(error)}
      </span>
      <span class="visually-hidden" role="status">
        {finding.announcement.value}
      </span>
      <Scope model={model} />
      {model.canEdit && (
        <button class="button" type="button" onClick={replace}>
          {words.find.replace}
        </button>
      )}
      <Go icon="close" label={words.find.close} act={close} />
    </form>
  );
}

/** The number of matches, and the place of the focus among them. */
function Count({ model: { finding } }: { readonly model: ProjectModel }) {
  if (finding.sought.value === null || !finding.fields.value.length) return null;
  const total = finding.total.value;
  const place = finding.place.value;
  const hidden = finding.hidden.value;
  const wrapped = finding.wrapped.value;
  if (total === null) return <>{words.find.looking}</>;
  const also = finding.alsoShown.value;
  const count = total === 0 ? (also ? words.find.onlyShown(also) : words.find.none) : place === null ? words.find.total(total) : words.find.place(place, total);
  const notes = [
    ...(wrapped === null ? [] : [wrapped > 0 ? words.find.wrapped.forward : words.find.wrapped.backward]),
    ...(total > 0 && also > 0 ? [words.find.alsoShown(also)] : []),
    ...(hidden > 0 ? [words.find.hidden(hidden)] : []),
  ];
  return (
    <>
      <strong>{count}</strong> {notes.join(' ')}
    </>
  );
}

/** Where the text is looked for, and where it is not. */
function Scope({ model: { finding } }: { readonly model: ProjectModel }) {
  const fields = finding.fields.value;
  const namesOf = (some: readonly Field[]) => some.map(({ name }) => name);
  const text =
    finding.match === 'words'
      ? words.find.wholeWords(MAX_READ, namesOf(searchable(fields, 'words')))
      : fields.length
        ? words.find.looksIn(namesOf(fields), namesOf(fields.filter(isFoundWhole)))
        : words.find.noFields;
  return (
    <span class={`find-scope${finding.match === 'words' ? ' is-whole' : ''}`} title={text}>
      {text}
    </span>
  );
}

interface GoProps {
  readonly icon: IconName;
  readonly label: string;
  readonly disabled?: boolean;
  readonly act: () => void;
}

function Go({ icon, label, disabled = false, act }: GoProps) {
  return (
    <button type="button" class="icon-button" aria-label={label} title={label} disabled={disabled} onClick={act}>
      <Icon name={icon} />
    </button>
  );
}
