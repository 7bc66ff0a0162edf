/** The sum, average, least and greatest of the selected numbers. */
import { useEffect, useState } from 'preact/hooks';
import { formatFigure } from '../grid/figures';
import { formatAverage, formatNumber } from '../cells/format';
import { loadedFigures, wholeColumn, wholeFigures, type Selected } from '../project/selected';
import type { ProjectModel } from '../project/model';
import type { Rectangle } from '../selection/range';
import { words } from '../words';
import { useResource } from './resource';

export function SelectedFigures({ model, ranges }: { readonly model: ProjectModel; readonly ranges: readonly Rectangle[] }) {
  const [, redraw] = useState(0);
  useEffect(() => model.rows.onChange(() => redraw((before) => before + 1)), [model]);
  const loaded = loadedFigures(model, ranges);
  const column = loaded?.isPart ? wholeColumn(model, ranges) : null;
  if (column) return <WholeFigures key={`${column.id} ${JSON.stringify(model.filter)}`} model={model} load={(signal) => wholeFigures(model, column, signal)} />;
  return loaded && <Shown selected={loaded} />;
}

interface WholeFiguresProps {
  readonly model: ProjectModel;
  readonly load: (signal: AbortSignal) => Promise<Selected | null>;
}

function WholeFigures({ model, load }: WholeFiguresProps) {
  const [found] = useResource(load, [model.figuresRead.value]);
  return found.kind === 'ready' && found.value ? <Shown selected={found.value} /> : null;
}

function Shown({ selected: { figures, field, isPart } }: { readonly selected: Selected }) {
  const shown = (fn: 'sum' | 'avg' | 'min' | 'max') =>
    field ? formatFigure(field, fn, figures[fn]) : fn === 'avg' ? formatAverage(figures[fn]) : formatNumber(figures[fn]);
  return (
    <span class="figures" title={isPart ? words.status.partWhy : undefined}>
      {words.status.figures(shown('sum'), shown('avg'), shown('min'), shown('max'))}
      {isPart && ` ${words.status.part}`}
    </span>
  );
}
