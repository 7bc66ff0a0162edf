/** The grid of an open project: holds the library's element, and carries the model's state to it. */
import { effect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { colorOf } from '../cells/colors';
import { valueOf } from '../fields/values';
import type { ProjectModel } from '../project/model';
import { moved, resized } from '../view/columns';
import { sortedBy } from '../view/view';
import { words } from '../words';
import { mountGrid } from './ag/adapter';
import type { GridColumn, GridOwner } from './grid';

export function GridView({ model }: { readonly model: ProjectModel }) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = host.current;
    return element ? connect(element, model) : undefined;
  }, [model]);
  return <div class="grid ag-theme-gridview" ref={host} />;
}

/** Mount the grid and keep it as the model says. Returns how to take it away again. */
function connect(element: HTMLElement, model: ProjectModel): () => void {
  const { rows } = model;
  const grid = mountGrid(element, ownerOf(model), {
    label: words.project.grid(model.project.name),
    height: model.view.peek().height,
    length: rows.layout.length,
    columns: columnsOf(model),
  });
  let length = rows.layout.length;
  const draw = () => {
    if (rows.layout.length !== length) {
      length = rows.layout.length;
      grid.setLength(length);
    }
    grid.refresh();
  };
  const stopping = [
    rows.onChange(draw),
    effect(() => grid.setColumns(columnsOf(model))),
    effect(() => grid.setHeight(model.view.value.height)),
    model.view.subscribe(() => grid.refresh()),
  ];
  return () => {
    for (const stop of stopping) stop();
    grid.destroy();
  };
}

function ownerOf(model: ProjectModel): GridOwner {
  return {
    at: (index) => model.rows.at(index),
    rowClasses: (index) => rowClasses(model, index),
    show: (range) => model.rows.show(range),
    sort: (field, add) => model.change({ sort: sortedBy(model.view.peek().sort, field, { add }) }),
    openMenu: () => undefined,
    resize: (field, width) => model.change({ columns: resized(model.columns.peek(), field, width) }, { replace: true }),
    move: (field, before) => model.change({ columns: moved(model.columns.peek(), field, before) }, { replace: true }),
  };
}

function rowClasses(model: ProjectModel, index: number): readonly string[] {
  const slot = model.rows.at(index);
  if (slot.kind !== 'issue') return [`is-${slot.kind}`];
  const field = model.field(model.view.peek().color ?? '');
  const value = field ? valueOf(slot.row, field.id) : null;
  return field && typeof value === 'string' ? ['is-colored', `is-${colorOf(field, value)}`] : [];
}

function columnsOf(model: ProjectModel): readonly GridColumn[] {
  const { sort } = model.view.value;
  return model.columns.value.flatMap(({ field: id, width, frozen }) => {
    const field = model.field(id);
    const place = sort.findIndex((key) => key.field === id);
    const key = sort[place];
    return field
      ? [{ field, width, frozen, sort: key ? { direction: key.direction, rank: sort.length > 1 ? place + 1 : null } : null }]
      : [];
  });
}
