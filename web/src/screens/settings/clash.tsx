/** Someone else changed the same part of a definition meanwhile: both values, and the choice between them. */
import { words } from '../../words';
import { isExact } from '../../api/json';
import type { FieldFormat } from '../../fields/format';
import type { Default, OptionInput } from '../../project/drafted-options';

interface ClashProps {
  /** Each part by its name, with the user's value and the present one. */
  readonly parts: readonly { readonly name: string; readonly yours: string; readonly theirs: string }[];
  readonly onYours: () => void;
  readonly onTheirs: () => void;
}

export function Clash({ parts, onYours, onTheirs }: ClashProps) {
  if (!parts.length) return null;
  return (
    <div class="clash" role="alert">
      <strong>{words.conflict.title}</strong>
      {parts.map(({ name, yours, theirs }) => (
        <dl key={name} class="conflict">
          <dt>{words.conflict.of(name, words.conflict.yours)}</dt>
          <dd>{yours}</dd>
          <dt>{words.conflict.of(name, words.conflict.theirs)}</dt>
          <dd>{theirs}</dd>
        </dl>
      ))}
      <div class="row-end">
        <button class="button" type="button" onClick={onTheirs}>
          {words.conflict.take(words.conflict.theirs)}
        </button>
        <button class="button" type="button" onClick={onYours}>
          {words.conflict.take(words.conflict.yours)}
        </button>
      </div>
    </div>
  );
}

/** A part of a definition, as text. */
export function textOf(part: Default | FieldFormat | readonly (OptionInput | string)[] | undefined): string {
  if (part === null || part === undefined) return words.settings.noDefault;
  if (typeof part === 'boolean') return part ? words.cell.yes : words.cell.no;
  if (Array.isArray(part)) return part.map((one: OptionInput | string) => (typeof one === 'string' ? one : one.value)).join(', ');
  if (typeof part !== 'object' || isExact(part)) return String(part);
  return Object.entries(part).flatMap(([name, value]) => (value === undefined ? [] : [name === 'as' ? String(value) : `${name} ${String(value)}`])).join(', ');
}
