/** The rules that color rows and cells. The grid shows them while they are being entered. */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { formatJson } from '../../api/json';
import { colorOfPlace } from '../../cells/colors';
import { filterText } from '../../cells/filter-text';
import type { Field } from '../../fields/fields';
import { COLORS } from '../../fields/palette';
import type { ProjectModel } from '../../project/model';
import { route } from '../../router';
import { Icon } from '../../ui/icon';
import { useSorting } from '../../ui/sorting';
import { StepButton } from '../../ui/step-button';
import { MAX_CONDITIONS, MAX_DEPTH } from '../../view/filters';
import { conditionsOf, draftsOf, filterOf, MAX_RULES, movedTo, newDraft, rulesOf, type RuleDraft } from '../../view/rules';
import { words } from '../../words';
import { FilterGroup } from './filter-panel';

/** Milliseconds after the last input until it takes effect. */
const PAUSE = 300;

/** What the keyboard has the focus on after a change of the list: a button of a rule, or the one that adds a rule. */
interface Focus {
  readonly id: number | null;
  readonly button: 'remove' | 'text';
}

export function ColorRules({ model }: { readonly model: ProjectModel }) {
  const [drafts, put] = useDrafts(model);
  const [opened, setOpened] = useState<number | null>(null);
  const [outcome, setOutcome] = useState('');
  const list = useRef<HTMLElement>(null);
  const focus = useFocus(list);
  const { fields } = model;
  const change = (id: number, changed: Partial<RuleDraft>) => put(drafts.map((draft) => (draft.id === id ? { ...draft, ...changed } : draft)));
  const move = (from: number, to: number) => {
    put(movedTo(drafts, from, to));
    setOutcome(words.rules.moved(to + 1, drafts.length));
  };
  const sorted = useSorting<HTMLOListElement>((key, before) => {
    const keys = drafts.map(({ id }) => String(id));
    const [from, next] = [keys.indexOf(key), before === null ? keys.length : keys.indexOf(before)];
    move(from, next > from ? next - 1 : next);
  });
  const remove = (at: number) => {
    put(drafts.filter((_, place) => place !== at));
    setOutcome(words.rules.removed(drafts.length - 1));
    focus({ id: (drafts[at + 1] ?? drafts[at - 1])?.id ?? null, button: 'remove' });
  };
  const add = () => {
    const draft = newDraft(drafts, fields, colorOfPlace(drafts.length));
    put([...drafts, draft]);
    setOpened(draft.id);
    focus({ id: draft.id, button: 'text' });
  };
  return (
    <section class="rules" aria-labelledby="color-rules" ref={list}>
      <h2 id="color-rules">{words.rules.title}</h2>
      <p class="visually-hidden" role="status">
        {outcome}
      </p>
      <p class="soft">{drafts.length ? words.rules.why : words.rules.none}</p>
      <ol ref={sorted}>
        {drafts.map((draft, at) => (
          <li key={draft.id} data-rule={draft.id} data-item={draft.id} data-kind="rule">
            <div class="rule-head">
              <span class="grip" title={words.rules.drag}>
                <Icon name="grip" />
              </span>
              <span class={`swatch pill-${draft.color}`} aria-hidden="true" />
              <button
                class="rule-text"
                type="button"
                data-button="text"
                aria-expanded={opened === draft.id}
                onClick={() => setOpened(opened === draft.id ? null : draft.id)}
              >
                {textOf(draft, fields)}
              </button>
              <StepButton way="up" label={words.rules.up(at + 1)} isAtEnd={at === 0} act={() => move(at, at - 1)} />
              <StepButton way="down" label={words.rules.down(at + 1)} isAtEnd={at === drafts.length - 1} act={() => move(at, at + 1)} />
              <button class="icon-button" type="button" data-button="remove" aria-label={words.rules.remove(at + 1)} title={words.rules.remove(at + 1)} onClick={() => remove(at)}>
                <Icon name="close" />
              </button>
            </div>
            {opened === draft.id && (
              <Editor
                draft={draft}
                label={words.rules.rule(at + 1)}
                fields={fields}
                onChange={(changed) => change(draft.id, changed)}
                onDone={() => {
                  setOpened(null);
                  focus({ id: draft.id, button: 'text' });
                }}
              />
            )}
          </li>
        ))}
      </ol>
      {conditionsOf(rulesOf(drafts, fields)) > MAX_CONDITIONS && <p role="alert">{words.rules.tooMany(MAX_CONDITIONS)}</p>}
      <button class="button" type="button" data-button="add" disabled={drafts.length >= MAX_RULES} onClick={add}>
        <Icon name="plus" />
        {words.rules.add}
      </button>
      {drafts.length >= MAX_RULES && <p class="soft">{words.rules.most(MAX_RULES)}</p>}
    </section>
  );
}

interface EditorProps {
  readonly draft: RuleDraft;
  readonly label: string;
  readonly fields: readonly Field[];
  readonly onChange: (changed: Partial<RuleDraft>) => void;
  readonly onDone: () => void;
}

function Editor({ draft, label, fields, onChange, onDone }: EditorProps) {
  return (
    <form
      class="rule-editor"
      aria-label={label}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onDone();
      }}
    >
      <div class="row">
        <label>
          {words.rules.color}{' '}
          <select
            value={draft.color}
            onChange={(event) => onChange({ color: COLORS.find((color) => color === event.currentTarget.value) ?? draft.color })}
          >
            {COLORS.map((color) => (
              <option key={color} value={color}>
                {words.settings.colors[color]}
              </option>
            ))}
          </select>
        </label>
        <label>
          {words.rules.target}{' '}
          <select value={draft.field ?? ''} onChange={(event) => onChange({ field: event.currentTarget.value || null })}>
            <option value="">{words.rules.row}</option>
            {fields.map(({ id, name }) => (
              <option key={id} value={id}>
                {words.rules.cell(name)}
              </option>
            ))}
          </select>
        </label>
      </div>
      <FilterGroup draft={draft.filter} fields={fields} room={MAX_DEPTH} onChange={(filter) => onChange({ filter })} />
      <div class="row-end">
        <button class="button" type="submit">
          {words.rules.done}
        </button>
      </div>
    </form>
  );
}

/** The drafts of the view's rules, and how to change them. Complete ones enter the view a moment after the last input. */
function useDrafts(model: ProjectModel): readonly [readonly RuleDraft[], (drafts: readonly RuleDraft[]) => void] {
  const { fields } = model;
  const present = formatJson(model.view.value.rules);
  const [drafts, setDrafts] = useState(() => draftsOf(model.view.peek().rules, fields));
  const applied = useRef(present);
  /** Whether the changes of this panel have a step of their own for the back button. */
  const hasStep = useRef(false);
  const waiting = useRef<{ readonly drafts: readonly RuleDraft[]; readonly timer: ReturnType<typeof setTimeout> } | null>(null);
  const apply = () => {
    if (!waiting.current) return;
    clearTimeout(waiting.current.timer);
    const rules = rulesOf(waiting.current.drafts, fields);
    waiting.current = null;
    if (conditionsOf(rules) > MAX_CONDITIONS || formatJson(rules) === applied.current) return;
    applied.current = formatJson(rules);
    model.change({ rules }, { replace: hasStep.current });
    hasStep.current = true;
  };
  useEffect(() => {
    if (present === applied.current) return;
    // The back button, or another view.
    if (waiting.current) clearTimeout(waiting.current.timer);
    waiting.current = null;
    applied.current = present;
    hasStep.current = false;
    setDrafts(draftsOf(model.view.peek().rules, fields));
  }, [present]);
  useEffect(
    () => () => {
      // The user may be at another project by now.
      const at = route.peek();
      if (at.screen === 'project' && at.project === model.project.id) apply();
      else if (waiting.current) clearTimeout(waiting.current.timer);
    },
    [],
  );
  const put = (next: readonly RuleDraft[]) => {
    setDrafts(next);
    if (waiting.current) clearTimeout(waiting.current.timer);
    waiting.current = { drafts: next, timer: setTimeout(apply, PAUSE) };
  };
  return [drafts, put];
}

/** Returns how to set the focus after the next drawing, since buttons come and go. */
function useFocus(list: RefObject<HTMLElement | null>): (next: Focus) => void {
  const [wanted, setWanted] = useState<Focus | null>(null);
  useLayoutEffect(() => {
    if (!wanted) return;
    const rule = wanted.id === null ? undefined : list.current?.querySelector(`[data-rule="${wanted.id}"]`);
    const button = rule?.querySelector<HTMLButtonElement>(`[data-button="${wanted.button}"]`);
    (button ?? list.current?.querySelector<HTMLButtonElement>('[data-button="add"]'))?.focus();
    setWanted(null);
  }, [wanted]);
  return setWanted;
}

function textOf(draft: RuleDraft, fields: readonly Field[]): string {
  const filter = filterOf(draft, fields);
  const field = draft.field === null ? null : (fields.find(({ id }) => id === draft.field)?.name ?? draft.field);
  return words.rules.text(words.settings.colors[draft.color], field, filter ? filterText(filter, fields) : words.rules.incomplete);
}
