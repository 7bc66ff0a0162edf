/** Editors that choose: one option, several, or a user. Typing narrows the list. */
import type { CellValue } from '../../fields/values';
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
  let chosen: CellValue | undefined;
  const list = new ChoiceList(input, (option) => take(option), { many: false });
  const take = (option: string) => {
    chosen = option === '' ? null : option;
    done();
  };
  const narrow = () => {
    const options = matching(params, input.value).map((option) => item(params, option, option === value));
    const empty: ListItem[] = field.required || input.value ? [] : [{ value: '', element: new Text(words.cell.empty), chosen: value === null }];
    const items = [...empty, ...options];
    // Activates the first option that fits the typed text. Without text that is the value itself, so that Enter and Tab
    // change nothing.
    list.set(items, input.value ? 0 : items.findIndex((one) => one.chosen));
  };
  input.addEventListener('input', narrow);
  input.addEventListener('keydown', (event) => {
    if (list.move(event.key)) consume(event);
    else if ((event.key === 'Enter' || event.key === 'Tab') && list.activeValue !== undefined) {
      const active = list.activeValue;
      chosen = active === '' ? null : active;
    }
  });
  return {
    element: input,
    open: () => {
      list.open();
      narrow();
      focusIn(input, begin);
    },
    result: () => (chosen === undefined ? typed() : chosen === value ? null : { value: chosen }),
    close: () => list.close(),
  };
}

/**
 * Several options. A click on a line, or Enter, toggles one. Escape discards all changes.
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
  const list = new ChoiceList(input, (option) => toggle(option), { many: true });
  // Until the user types or moves, Enter changes nothing.
  const narrow = (active = input.value ? 0 : -1) => {
    list.set(
      matching(params, input.value).map((option) => item(params, option, chosen.has(option))),
      active,
    );
  };
  const toggle = (option: string) => {
    if (!chosen.delete(option)) chosen.add(option);
    input.value = '';
    narrow(field.options.findIndex((one) => one.value === option));
  };
  input.addEventListener('input', () => narrow());
  input.addEventListener('keydown', (event) => {
    if (list.move(event.key)) consume(event);
    else if (event.key === 'Enter') {
      consume(event);
      if (event.ctrlKey || event.metaKey || list.activeValue === undefined) done();
      else toggle(list.activeValue);
    }
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
      if (typed && list.activeValue === undefined) return { text: input.value };
      const taken = typed && list.activeValue !== undefined ? new Set([...chosen, list.activeValue]) : chosen;
      const isSame = taken.size === before.length && before.every((option) => taken.has(option));
      return isSame ? null : { value: field.options.flatMap((option) => (taken.has(option.value) ? [option.value] : [])) };
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
      input.value = user;
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
    if (!list.move(event.key)) return;
    consume(event);
    if (list.activeValue !== undefined) input.value = list.activeValue;
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

function matching({ field }: EditorParams, text: string): readonly string[] {
  const wanted = text.trim().toLowerCase();
  const values = field.options.map((option) => option.value);
  return values.filter((option) => option.toLowerCase().includes(wanted));
}

function item({ field }: EditorParams, option: string, chosen: boolean): ListItem {
  const element = document.createElement('span');
  showValue(element, { ...field, type: 'enum' }, option);
  return { value: option, element, chosen };
}

function consume(event: KeyboardEvent): void {
  event.preventDefault();
  event.stopPropagation();
}
