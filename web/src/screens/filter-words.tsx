/** The present filter in words, with the search words; nothing without a filter. */
import { filterText } from '../cells/filter-text';
import type { ProjectModel } from '../project/model';
import { isToday, relativesIn } from '../view/relative';
import { words } from '../words';

interface FilterWordsProps {
  readonly model: ProjectModel;
  /** Whether a job keeps the filter as it is when it starts. */
  readonly frozen?: boolean;
}

export function FilterWords({ model, frozen = false }: FilterWordsProps) {
  const { filter: own, search } = model.view.value;
  const filter = own || search ? model.filter : null;
  if (!filter) return null;
  const relatives = relativesIn(filter);
  const parts = [
    ...(relatives.some(isToday) ? [words.filter.quoted(words.relative.day(0, 'day'))] : []),
    ...(relatives.some((one) => 'now' in one) ? [words.filter.quoted(words.relative.now(0))] : []),
    ...(relatives.some((one) => 'me' in one) ? [words.filter.quoted(words.relative.me)] : []),
  ];
  return (
    <p class="soft filter-words">
      {words.filter.is(filterText(filter, model.fields))} {frozen && parts.length > 0 && words.filter.isFrozen(parts)}
    </p>
  );
}
