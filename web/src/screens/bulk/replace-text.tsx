/** Puts one text in the place of another, in text fields of many issues. */
import { useState } from 'preact/hooks';
import type { Replacement } from '../../api/types';
import { replacedParts } from '../../cells/changed-parts';
import type { BulkEdit } from '../../project/jobs';
import type { ProjectModel } from '../../project/model';
import type { Target } from '../../rows/targets';
import { unsaved } from '../../ui/unsaved';
import { words } from '../../words';
import { PreviewedChange } from './preview';

/** The limits of the API. */
const MAX_FIELDS = 50;
const LONGEST_FIND = 256;
const LONGEST_TEXT = 1024;

type Match = NonNullable<Replacement['match']>;
const MATCHES: readonly Match[] = ['part', 'word', 'whole'];

interface ReplaceTextProps {
  readonly model: ProjectModel;
  readonly targets: readonly Target[];
  readonly find: string;
  /** The only field that is chosen first; null: all text columns of the view. */
  readonly field: string | null;
  readonly onTake: (change: BulkEdit) => void;
}

export function ReplaceText({ model, targets, find: given, field, onTake }: ReplaceTextProps) {
  const columns = model.columns.value.map((column) => column.field);
  const texts = model.fields.filter(({ type, editable }) => type === 'text' && editable);
  const shown = texts.filter(({ id }) => columns.includes(id));
  const [chosen, setChosen] = useState<readonly string[]>(() => {
    const asked = texts.filter(({ id }) => id === field);
    return (asked.length ? asked : shown).map(({ id }) => id).slice(0, MAX_FIELDS);
  });
  const [find, setFind] = useState(given);
  const [text, setText] = useState('');
  const [match, setMatch] = useState<Match>(model.finding.match === 'words' && given ? 'word' : 'part');
  const [isExact, setExact] = useState(false);
  const fields = texts.flatMap(({ id }) => (chosen.includes(id) ? [id] : []));
  const isComplete = find !== '' && fields.length > 0 && fields.length <= MAX_FIELDS;
  const replace: Replacement = { fields, find, with: text, match, case: isExact };
  const choose = (id: string, on: boolean) => setChosen(on ? [...chosen, id] : chosen.filter((one) => one !== id));
  return (
    <>
      <div class="form" {...unsaved(text !== '' || find !== given)}>
        <label>
          {words.bulk.find}
          <input autofocus={!given} maxLength={LONGEST_FIND} value={find} onInput={({ currentTarget }) => setFind(currentTarget.value)} />
        </label>
        <label>
          {words.bulk.with}
          <input autofocus={given !== ''} maxLength={LONGEST_TEXT} value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
        </label>
        <label>
          {words.bulk.match}
          <select value={match} onChange={({ currentTarget }) => setMatch(MATCHES.find((one) => one === currentTarget.value) ?? 'part')}>
            {MATCHES.map((one) => (
              <option key={one} value={one}>
                {words.bulk.matches[one]}
              </option>
            ))}
          </select>
        </label>
        <label class="check">
          <input type="checkbox" checked={isExact} onChange={({ currentTarget }) => setExact(currentTarget.checked)} />
          {words.bulk.case}
        </label>
        <fieldset class="radios">
          <legend>{words.bulk.fields}</legend>
          {[...shown, ...texts.filter((one) => !shown.includes(one))].map(({ id, name }) => (
            <label key={id}>
              <input type="checkbox" checked={chosen.includes(id)} onChange={({ currentTarget }) => choose(id, currentTarget.checked)} />
              {name}
            </label>
          ))}
        </fieldset>
        {fields.length > MAX_FIELDS && (
          <p class="bad" role="alert">
            {words.bulk.tooManyFields(MAX_FIELDS)}
          </p>
        )}
      </div>
      <PreviewedChange
        model={model}
        targets={targets}
        change={isComplete ? { replace } : null}
        partsOf={(before, after) => replacedParts(before, after, replace)}
        label={words.bulk.replace}
        onTake={onTake}
      />
    </>
  );
}
