/** Explains why the page does not edit computed fields. */
import { signal } from '@preact/signals';
import { withInputs } from '../fields/computed';
import type { Field } from '../fields/fields';
import type { Cell } from '../selection/range';
import { words } from '../words';
import type { ProjectModel } from './model';

export class ReadOnly {
  /** The explanation at a cell, while it has the focus. */
  readonly hint = signal<{ readonly cell: Cell; readonly text: string } | null>(null);

  constructor(private readonly model: Pick<ProjectModel, 'fields' | 'fieldAt' | 'selection'>) {}

  /** Why the computed fields among these are not edited, also at the cell in focus if it is one of theirs; empty without any. */
  skipped(fields: readonly Field[], at?: Cell): string {
    const text = refusalOf(fields, this.model.fields);
    if (!text) return '';
    const cell = at ?? this.model.selection.peek()?.anchor;
    const field = cell && this.model.fieldAt(cell.column);
    this.hint.value = cell && field && fields.includes(field) && field.formula !== null ? { cell, text } : null;
    return text;
  }
}

/** Why the computed fields among these cannot be edited; empty without any. */
export function refusalOf(fields: readonly Field[], all: readonly Field[]): string {
  const computed = new Set(fields.filter(({ formula }) => formula !== null));
  if (!computed.size) return '';
  const inputs = withInputs([...computed].map(({ id }) => id), all);
  const editable = all.filter(({ id, editable }) => editable && inputs.has(id));
  return words.computed.refused([...computed].map(({ name }) => name), editable.map(({ name }) => name));
}
