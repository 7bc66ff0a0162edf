/** The changes without an answer yet, in the order in which they are written. */
import type { CellValue } from '../fields/values';
import { byIssue, type CellEdit } from './change';

/** A cell of an issue. */
export interface Cell {
  readonly num: number;
  readonly field: string;
}

export interface Unsent {
  /** Its edits that are not refused, by issue. */
  readonly edits: Map<number, readonly CellEdit[]>;
  /** The version of each issue to which its edits apply; 0 if unknown. */
  readonly bases: Map<number, number>;
}

export class UnsentChanges {
  private readonly changes = new Set<Unsent>();

  get isEmpty(): boolean {
    return !this.changes.size;
  }

  /** A change takes its place after the others. Its edits may follow later. */
  begin(): Unsent {
    const unsent: Unsent = { edits: new Map(), bases: new Map() };
    this.changes.add(unsent);
    return unsent;
  }

  end(unsent: Unsent): void {
    this.changes.delete(unsent);
  }

  /** All edits of an issue, in their order. */
  editsOf(num: number): readonly CellEdit[] {
    return [...this.changes].flatMap(({ edits }) => edits.get(num) ?? []);
  }

  /** The edits of an issue in the changes after one. */
  laterEdits(num: number, earlier: Unsent): readonly CellEdit[] {
    return this.after(earlier).flatMap(({ edits }) => edits.get(num) ?? []);
  }

  /** Whether a change after one edits a cell. */
  isEditedAfter({ num, field }: Cell, earlier: Unsent): boolean {
    return this.laterEdits(num, earlier).some((edit) => edit.field === field);
  }

  /**
   * No one else wrote the issue between these versions: a waiting change on top of the first now applies to the second.
   */
  rebase(num: number, from: number, to: number): void {
    for (const { bases } of this.changes) if (bases.get(num) === from) bases.set(num, to);
  }

  /**
   * A change gives a cell another value than the user saw: the next edit of the cell replaces that. Returns whether there is
   * one.
   */
  follow({ num, field }: Cell, before: CellValue, earlier: Unsent): boolean {
    for (const { edits } of this.after(earlier)) {
      const own = edits.get(num) ?? [];
      if (!own.some((edit) => edit.field === field)) continue;
      edits.set(num, own.map((edit) => (edit.field === field ? { ...edit, before } : edit)));
      return true;
    }
    return false;
  }

  /**
   * Take the later edits of a cell out of the changes. Returns the value of the last one; without any, that of the given
   * edit.
   */
  takeLatest({ num, field, after }: CellEdit, clashing: Unsent): CellValue {
    const later = this.after(clashing).flatMap((unsent) => {
      const own = (unsent.edits.get(num) ?? []).filter((edit) => edit.field === field);
      drop(unsent, own);
      return own;
    });
    return later.at(-1)?.after ?? after;
  }

  private after(earlier: Unsent): readonly Unsent[] {
    const all = [...this.changes];
    return all.slice(all.indexOf(earlier) + 1);
  }
}

/** These edits will not be written. */
export function drop({ edits }: Unsent, refused: readonly CellEdit[]): void {
  for (const [num, own] of byIssue(refused)) edits.set(num, (edits.get(num) ?? []).filter((edit) => !own.includes(edit)));
}
