/** The cells whose editors are open, as the user saw them. Later changes of others may already be on the page, below. */
import { valueOf, type CellValue, type Row } from '../fields/values';
import type { Cell } from './unsent';

/** The value of a cell that an edit replaces, and a version of the issue that has it. */
export interface Seen {
  readonly before: CellValue;
  readonly version: number;
}

interface Opened extends Cell, Seen {
  before: CellValue;
}

export class OpenCells {
  private readonly cells = new Set<Opened>();

  /** An editor of a cell opens. Returns what the user sees, and how to end it. */
  open({ num, version, ...row }: Row, field: string): readonly [seen: Seen, close: () => void] {
    const cell: Opened = { num, field, version, before: valueOf(row, field) };
    this.cells.add(cell);
    return [cell, () => this.cells.delete(cell)];
  }

  /** An own change gives a cell another value, below its open editor. */
  follow({ num, field }: Cell, before: CellValue): void {
    for (const cell of this.cells) if (cell.num === num && cell.field === field) cell.before = before;
  }
}
