/** Options and defaults in the draft of a form. Pure. */
import type { Attribute } from '../api/types';
import type { Option } from '../fields/fields';

/** The default of a field. In a draft, an option is named by its id, so that the default follows a renamed option. */
export type Default = Attribute['default'];

export interface OptionInput {
  /** Also of an option that the API does not have yet. */
  readonly id: string;
  readonly value: string;
  readonly color: Option['color'];
}

type SentOption = Omit<OptionInput, 'id'> & Partial<Pick<OptionInput, 'id'>>;

/** No id of the API begins so. */
const NEW = 'new ';

export function newOption(): OptionInput {
  return { id: NEW + crypto.randomUUID(), value: '', color: null };
}

/** The options as the API takes them. */
export function sentOptions(options: readonly OptionInput[]): SentOption[] {
  return options.map(({ id, value, color }) => ({ ...(id.startsWith(NEW) ? {} : { id }), value, color }));
}

/** A default of the API for a draft. */
export function draftedDefault(value: Default, options?: readonly OptionInput[]): Default {
  return options ? replaced(value, (text) => options.find((one) => one.value === text)?.id) : value;
}

/** A default without options that the draft has dropped. */
export function presentDefault(value: Default, options?: readonly OptionInput[]): Default {
  return options ? replaced(value, (id) => options.find((one) => one.id === id)?.id) : value;
}

/** The default of a draft with the values of its options, as the API and users read it. */
export function namedDefault(value: Default, options?: readonly OptionInput[]): Default {
  return options ? replaced(value, (id) => options.find((one) => one.id === id)?.value) : value;
}

/** A default of the API for another field, which has only these options. */
export function defaultAmong(value: Default, names: readonly string[]): Default {
  return replaced(value, (text) => (names.includes(text) ? text : undefined));
}

/** The part of a request that changes a default. The API keeps one that is not sent, also when its option is renamed. */
export function changedDefault(value: Default, known: Default, options?: readonly OptionInput[]): { readonly default?: Default } {
  const isKnown = JSON.stringify(presentDefault(value, options)) === JSON.stringify(known);
  return isKnown ? {} : { default: namedDefault(value, options) };
}

/** A default with another text for each of its options; undefined leaves the option out. */
function replaced(value: Default, other: (text: string) => string | undefined): Default {
  if (typeof value === 'string') return other(value) ?? null;
  if (!Array.isArray(value)) return value;
  const found = value.flatMap((text) => other(text) ?? []);
  return found.length ? found : null;
}
