/** Editors that choose: one option, several, or a user. Typing narrows the list. */
import { isComposing } from '../../composing';
import { optionMeant, type Field } from '../../fields/fields';
import { words } from '../../words';
import { isList } from '../format';
import { parseText } from '../parse';
import { showValue } from '../show';
import { filled, focusIn, inputIn, type CellEditor, type EditorParams } from './editor';
import { ChoiceList, type ListItem } from './list';

/** One option of an `enum`; the empty line takes the value away. */
export function optionEditor(params: EditorParams): CellEditor {
  const { field, value, begin, done } = params;
  const input = inputIn(params);
  const typed = filled(input, '', begin);
  input.placeholder = typeof value === 'string' ? value : words.cell.choose;
  let chosen: ListItem | undefined;
  const list = new ChoiceList(
    input,
    (one) => {
      chosen = one;
      done();
    },
    { many: false },
  );
  const narrow = () => {
    const options = matching(field, input.value).map((option) => item(field, option, option === value));
    const empty: ListItem[] = field.required || input.value ? [] : [{ value: '', element: new Text(words.cell.empty), chosen: value === null }];
    const items = [...empty, ...options, ...creation(params, field, input.value)];
    // Activates the first option that fits the typed text. Without text that is the value itself, so that Enter and Tab
    // change nothing.
    list.set(items, input.value ? 0 : items.findIndex((one) => one.chosen));
  };
  input.addEventListener('input', narrow);
  input.addEventListener('keydown', (event) => {
    if (isComposing(event)) return;
    if (list.move(event.key)) consume(event);
    else if (event.key === 'Enter' || event.key === 'Tab') chosen = list.activeItem;
  });
  return {
    element: input,
    open: () => {
      list.open();
      narrow();
      focusIn(input, begin);
    },
    result: () => {
      if (!chosen) return typed();
      const { value: option, creates } = chosen;
      if (creates) return { value: option, create: [option] };
      const taken = option === '' ? null : option;
      return taken === value ? null : { value: taken };
    },
    close: () => list.close(),
  };
}

/**
 * Several options. A click on a line, or Enter, toggles one. Escape discards all changes. New options are created when
 * the editing ends.
 *
 * Tab, a click elsewhere, or Enter before any of these ends the editing. Typed text then counts as the first option
 * that it fits.
 */
export function optionsEditor(params: EditorParams): CellEditor {
  const { field, value, begin, done } = params;
  const input = inputIn(params);
  // Options that were refused are chosen again, where the field has them.
  const refused = begin && !begin.isTyped ? parseText(field, begin.text) : null;
  const again = refused?.ok ? refused.value : null;
  filled(input, '', again === null ? begin : null);
  input.placeholder = words.cell.search;
  const before = isList(value) ? value : [];
  const chosen = new Set(again !== null && isList(again) ? again : before);
  const created: string[] = [];
  /** The field with the options that are to be created. */
  const extended = (): Field => ({ ...field, options: [...field.options, ...created.map((option) => ({ id: '', value: option, color: null }))] });
  const list = new ChoiceList(input, (one) => toggle(one), { many: true });
  // Until the user types or moves, Enter changes nothing.
  const narrow = (active = input.value ? 0 : -1) => {
    const offered = extended();
    const options = matching(offered, input.value).map((option) => item(offered, option, chosen.has(option)));
    list.set([...options, ...creation(params, offered, input.value)], active);
  };
  const toggle = ({ value: option, creates }: ListItem) => {
    if (creates) created.push(option);
    if (!chosen.delete(option)) chosen.add(option);
    input.value = '';
    narrow(extended().options.findIndex((one) => one.value === option));
  };
  input.addEventListener('input', () => narrow());
  input.addEventListener('keydown', (event) => {
    if (isComposing(event)) return;
    if (list.move(event.key)) consume(event);
    else if (event.key === 'Enter') {
      consume(event);
      if (event.ctrlKey || event.metaKey || !list.activeItem) done();
      else toggle(list.activeItem);
    } else if (event.key === 'Tab' && list.activeItem?.creates) toggle(list.activeItem);
  });
  return {
    element: input,
    open: () => {
      list.open();
      narrow();
      focusIn(input, begin);
    },
    result: () => {
      const typed = input.value.trim();
      const active = typed ? list.activeItem : undefined;
      // Only a key or a click on its line creates an option.
      if (typed && (!active || active.creates)) return { text: input.value };
      const taken = active ? new Set([...chosen, active.value]) : chosen;
      const isSame = taken.size === before.length && before.every((option) => taken.has(option));
      if (isSame) return null;
      const create = created.filter((option) => taken.has(option));
      return { value: extended().options.flatMap((option) => (taken.has(option.value) ? [option.value] : [])), ...(create.length && { create }) };
    },
    close: () => list.close(),
  };
}

/** A user by id. Suggests known users whose names begin with the typed text. */
export function userEditor(params: EditorParams): CellEditor {
  const { value, begin, suggestUsers, done } = params;
  const input = inputIn(params);
  const result = filled(input, String(value ?? ''), begin);
  const list = new ChoiceList(
    input,
    (user) => {
      input.value = user.value;
      done();
    },
    { many: false },
  );
  const suggest = async () => {
    const prefix = input.value;
    const users = await suggestUsers(prefix).catch(() => []);
    if (input.value === prefix) list.set(users.map((user) => ({ value: user, element: new Text(user), chosen: user === value })), -1);
  };
  input.addEventListener('input', () => void suggest());
  input.addEventListener('keydown', (event) => {
    if (isComposing(event) || !list.move(event.key)) return;
    consume(event);
    if (list.activeItem) input.value = list.activeItem.value;
  });
  return {
    element: input,
    open: () => {
      list.open();
      void suggest();
      focusIn(input, begin);
    },
    result,
    close: () => list.close(),
  };
}

function matching({ options }: Field, text: string): readonly string[] {
  const wanted = text.trim().toLowerCase();
  return options.flatMap(({ value }) => (value.toLowerCase().includes(wanted) ? [value] : []));
}

/** The last entry of a list: it creates the typed text as an option, unless the field has that. */
function creation({ mayCreate }: EditorParams, field: Field, text: string): readonly ListItem[] {
  const value = text.trim();
  if (!mayCreate || !value || optionMeant(field, value) !== undefined) return [];
  return [{ value, element: new Text(words.cell.create(value)), chosen: false, creates: true }];
}

function item(field: Field, option: string, chosen: boolean): ListItem {
  const element = document.createElement('span');
  showValue(element, { ...field, type: 'enum' }, option);
  return { value: option, element, chosen };
}

function consume(event: KeyboardEvent): void {
  event.preventDefault();
  event.stopPropagation();
}
