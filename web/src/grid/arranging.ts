/** Moves rows of the grid in a manual order: the selected or checked ones, by dragging and by keys. */
import type { CellEdit } from '../edits/change';
import { versionsOf } from '../edits/rows';
import { BATCH } from '../edits/writes';
import { isDraft, valueOf, type Row } from '../fields/values';
import { nameOfGroup } from './group-entries';
import type { Mover } from './move-entries';
import type { Actions } from '../project/actions';
import type { ProjectModel } from '../project/model';
import { keyOfGroup, valuesIn } from '../rows/groups';
import { ADDED, type Group } from '../rows/layout';
import { rowCount, rowsOf, type Rows } from '../selection/range';
import { placeRows } from '../manual/place';
import { anchorClearOf, targetAt, targetBeyond, type Edge, type Screen } from '../manual/target';
import { manualWords as words } from '../manual/words';

/** Rows that move together. */
interface Together {
  /** Whether they are the checked issues. Else they are rows of the selection, or one row. */
  readonly isChecked: boolean;
  /** The loaded ones, as rows of the screen, from the top. */
  readonly rows: readonly Rows[];
  readonly count: number;
}

/** Rows that are being dragged. */
interface Carried extends Together {
  /** The name of the one that was pressed. */
  readonly name: string;
  /** The loaded ones, as the user saw them: others may change them until they are dropped. */
  readonly seen: ReadonlyMap<number, Row>;
  /** Others' changes may move rows again. */
  readonly release: () => void;
}

export class Arranging {
  private carried: Carried | null = null;
  private target: Edge | null = null;
  private readonly screen: Screen;

  constructor(
    private readonly model: ProjectModel,
    private readonly actions: Actions,
    /** Give the focus to the first of the rows that were moved, and select all of them. */
    private readonly focus: (rows: Rows) => void,
  ) {
    const { rows } = model;
    this.screen = {
      at: (row) => rows.at(row),
      groupOf: (row) => rows.layout.headsOver(row).at(-1)?.group ?? null,
      isPlaced: (row) => {
        const slot = rows.at(row);
        return slot.kind === 'issue' && !isDraft(slot.row.num) && rows.placeOf(slot.row.num)?.run.key !== ADDED;
      },
    };
  }

  /** A row of the screen is going to be dragged, with the other selected or checked ones. Returns their name; null: it cannot be. */
  start(row: number): string | null {
    const slot = this.model.rows.at(row);
    if (!this.model.canPlace || slot.kind !== 'issue' || !this.screen.isPlaced(row)) return null;
    const together = this.togetherWith(row);
    if (!together) return null;
    this.carried = { ...together, seen: this.heldIn(together), name: nameOf(slot.row), release: this.model.hold() };
    this.target = null;
    return together.count === 1 ? this.carried.name : words.rows(together.count);
  }

  /** Whether a row of the screen is being dragged. */
  carries(row: number): boolean {
    if (!this.carried) return false;
    if (!this.carried.isChecked) return includes(this.carried.rows, row);
    const slot = this.model.rows.at(row);
    return slot.kind === 'issue' && this.model.checked.has(slot.row.num);
  }

  /** The rows would be dropped at this edge. Returns the edge where they go; null if they cannot go there, or are there. */
  over(edge: Edge | null): Edge | null {
    const target = edge && targetAt(edge, this.screen);
    this.target = target && this.carried && !this.isInPlace(this.carried, target) && this.takes(this.carried, target) ? target : null;
    return this.target;
  }

  cancel(): void {
    const { carried } = this;
    this.carried = this.target = null;
    if (!carried) return;
    carried.release();
    this.actions.outcome.value = words.stays(carried.name, carried.count);
  }

  async drop(): Promise<void> {
    const { carried, target } = this;
    this.carried = this.target = null;
    try {
      if (carried && target) await this.readAndMove(carried, target, carried.seen);
    } finally {
      carried?.release();
    }
  }

  /** Move a row of the screen by one, with the other selected or checked ones. */
  async step(row: number, by: -1 | 1): Promise<void> {
    const together = this.model.canPlace ? this.togetherWith(row) : null;
    if (!together) return;
    const target = this.beyond(together, by);
    if (target && this.takes(together, target)) await this.readAndMove(together, target);
    else if (!target) this.actions.outcome.value = by > 0 ? words.atEnd : words.atStart;
  }

  /** Moves a row of the screen, with the other selected or checked ones, for a menu. Null if it has no place of its own. */
  mover(row: number): Mover | null {
    if (!this.model.canPlace || !this.screen.isPlaced(row)) return null;
    const together = this.chosenWith(row);
    return {
      what: together.count === 1 ? '' : words.rows(together.count),
      can: (by) => this.beyond(together, by) !== null,
      step: (by) => void this.step(row, by),
    };
  }

  /** The rows that move together with one; null, with a message, if they are too many. */
  private togetherWith(row: number): Together | null {
    const together = this.chosenWith(row);
    if (together.count <= BATCH) return together;
    this.actions.outcome.value = words.tooMany(BATCH);
    return null;
  }

  private chosenWith(row: number): Together {
    const { checked, checkedNums, ranges, rows } = this.model;
    const slot = rows.at(row);
    if (slot.kind === 'issue' && checked.has(slot.row.num)) {
      const found = checkedNums.flatMap((num) => rows.indexOf(num) ?? []);
      return { isChecked: true, rows: rowsOf(found.map((at) => ({ top: at, bottom: at, left: 0, right: 0 }))), count: checkedNums.length };
    }
    const selected = rowsOf(ranges);
    const own = includes(selected, row) ? selected : [{ first: row, last: row }];
    return { isChecked: false, rows: own, count: rowCount(own) };
  }

  private beyond({ rows }: Together, by: -1 | 1): Edge | null {
    const [first, last] = [rows[0], rows.at(-1)];
    return first && last ? targetBeyond({ first: first.first, last: last.last }, by, this.screen) : null;
  }

  private heldIn({ rows }: Together): ReadonlyMap<number, Row> {
    const found = new Map<number, Row>();
    for (const { first, last } of rows) {
      for (let at = first; at <= last; at += 1) {
        const slot = this.model.rows.at(at);
        if (slot.kind === 'issue') found.set(slot.row.num, slot.row);
      }
    }
    return found;
  }

  /** `seen`: rows as the user saw them, if they may have changed since. */
  private readAndMove(together: Together, target: Edge, seen: ReadonlyMap<number, Row> = new Map()): Promise<void> {
    return this.actions.reporting(async () => {
      const rows = await this.issuesOf(together);
      await this.move(rows.map((row) => seen.get(row.num) ?? row), target);
    });
  }

  private async move(rows: readonly Row[], target: Edge): Promise<void> {
    const { model } = this;
    const [first] = rows;
    const nums = rows.map(({ num }) => num);
    const anchor = anchorClearOf(target, new Set(nums), this.screen);
    const group = this.screen.groupOf(target.row);
    const edits = group ? this.editsInto(group, rows) : [];
    if (!first || !anchor || !edits) return;
    const refusal = placeRows(model, { nums, anchor, edits, seen: versionsOf(rows) });
    const moved = model.rows.indexOf(first.num);
    if (moved !== undefined) {
      this.focus({ first: moved, last: moved + nums.length - 1 });
      this.actions.outcome.value = words.moved(nameOf(first), nums.length, moved + 1, group ? nameOfGroup(group, model) : '');
    }
    const reason = await refusal;
    if (reason !== null) this.actions.outcome.value = reason;
  }

  /** The edits that bring rows into a group; null if it has no values to give. */
  private editsInto(group: Group, rows: readonly Row[]): readonly CellEdit[] | null {
    const { groups } = this.model.view.peek();
    const values = valuesIn(group, groups, this.model.fields);
    const edits: CellEdit[] = [];
    for (const row of rows) {
      const index = this.model.rows.indexOf(row.num);
      const own = index === undefined ? null : this.screen.groupOf(index);
      if (own?.key === group.key) continue;
      if (!values) {
        this.actions.outcome.value = words.noValue(nameOfGroup(group, this.model));
        return null;
      }
      for (const [level, { field, after }] of values.entries()) {
        // A row in the same period keeps its day.
        if (own && keyOfGroup([own.values[level] ?? null]) === keyOfGroup([group.values[level] ?? null])) continue;
        edits.push({ num: row.num, field, before: valueOf(row, field), after });
      }
    }
    return edits;
  }

  /** Whether the group of a target has values for rows of other groups. */
  private takes({ rows, count }: Together, target: Edge): boolean {
    const group = this.screen.groupOf(target.row);
    if (!group || valuesIn(group, this.model.view.peek().groups, this.model.fields)) return true;
    const isWithin = rowCount(rows) === count && rows.every(({ first, last }) => this.screen.groupOf(first)?.key === group.key && this.screen.groupOf(last)?.key === group.key);
    if (!isWithin) this.actions.outcome.value = words.noValue(nameOfGroup(group, this.model));
    return isWithin;
  }

  /** Whether the rows are one block that is there already. */
  private isInPlace({ rows, count }: Together, { row, side }: Edge): boolean {
    const [block, ...others] = rows;
    if (!block || others.length || rowCount(rows) !== count) return false;
    const border = side === 'before' ? row : row + 1;
    return border >= block.first && border <= block.last + 1 && this.screen.groupOf(row)?.key === this.screen.groupOf(block.first)?.key;
  }

  private checkedInOrder(): readonly number[] {
    const { rows } = this.model;
    return [...this.model.checkedNums].sort((a, b) => (rows.indexOf(a) ?? Infinity) - (rows.indexOf(b) ?? Infinity) || a - b);
  }

  private async issuesOf({ isChecked, rows }: Together): Promise<readonly Row[]> {
    if (isChecked) return this.model.issuesOf(this.checkedInOrder());
    const found: Row[] = [];
    for (const { first, last } of rows) found.push(...(await this.model.issuesIn(first, last)));
    return found;
  }
}

function includes(rows: readonly Rows[], row: number): boolean {
  return rows.some(({ first, last }) => row >= first && row <= last);
}

function nameOf(row: Row): string {
  return String(valueOf(row, 'name') ?? row.num);
}
