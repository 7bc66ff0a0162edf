/** Editors that choose: one option, several, or a user. What is typed narrows the list. */
import type { CellValue } from '../../fields/values';
import { words } from '../../words';
import { isList } from '../format';
import { showValue } from '../show';
import { inputIn, type CellEditor, type EditorParams } from './editor';
import { ChoiceList, type ListItem } from './list';

/** One option of an `enum`; the empty line takes the value away. */
export function optionEditor(params: EditorParams): CellEditor {
  const { field, value, typed, done } = params;
  const input = inputIn(params, 'text');
  input.value = typed ?? '';
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
    list.set([...empty, ...options], Math.max(0, [...empty, ...options].findIndex((one) => one.chosen)));
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
      input.focus();
    },
    result: () => (chosen !== undefined ? { value: chosen } : input.value ? { text: input.value } : { value }),
    close: () => list.close(),
  };
}

/** Several options. Enter and a click take one more or less; Escape leaves all as it was; Tab and a click elsewhere end. */
export function optionsEditor(params: EditorParams): CellEditor {
  const { field, value, typed, done } = params;
  const input = inputIn(params, 'text');
  input.value = typed ?? '';
  input.placeholder = words.cell.search;
  const chosen = new Set(isList(value) ? value : []);
  const list = new ChoiceList(input, (option) => toggle(option), { many: true });
  const narrow = (active = 0) => {
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
      input.focus();
    },
    result: () => ({ value: field.options.flatMap((option) => (chosen.has(option.value) ? [option.value] : [])) }),
    close: () => list.close(),
  };
}

/** A user by id, with those that are known and begin so. */
export function userEditor(params: EditorParams): CellEditor {
  const { value, typed, suggestUsers, done } = params;
  const input = inputIn(params, 'text');
  input.value = typed ?? String(value ?? '');
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
      input.focus();
      if (typed === null) input.select();
    },
    result: () => ({ text: input.value }),
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
