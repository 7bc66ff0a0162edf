/** Moves rows of the grid in a manual order: the selected or checked ones, by dragging and by keys. */
import type { CellEdit } from '../edits/change';
import { BATCH } from '../edits/writes';
import { DRAFT, valueOf, type Row } from '../fields/values';
import { nameOfGroup } from './group-entries';
import type { Actions } from '../project/actions';
import { ADDED, type ProjectModel } from '../project/model';
import { keyOfGroup, valuesIn } from '../rows/groups';
import type { Group } from '../rows/layout';
import { rowCount, rowsOf, type Rows } from '../selection/range';
import { placeRows } from '../manual/place';
import { anchorClearOf, targetAt, targetBeyond, type Edge, type Screen } from '../manual/target';
import { manualWords as words } from '../manual/words';

/** Rows that are being moved. */
interface Carried {
  /** The row of the screen that was pressed. */
  readonly row: number;
  /** The rows of the selection; null for the checked issues. */
  readonly rows: readonly Rows[] | null;
  readonly count: number;
  readonly name: string;
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
        return slot.kind === 'issue' && slot.row.num !== DRAFT && rows.placeOf(slot.row.num)?.run.key !== ADDED;
      },
    };
  }

  /** A row of the screen is going to be dragged, with the other selected or checked ones. Returns their name; null: it cannot be. */
  start(row: number): string | null {
    const slot = this.model.rows.at(row);
    if (!this.model.canPlace || slot.kind !== 'issue' || !this.screen.isPlaced(row)) return null;
    const isChecked = this.model.checked.has(slot.row.num);
    const selected = rowsOf(this.model.ranges);
    const isSelected = selected.some(({ first, last }) => row >= first && row <= last);
    const rows = isChecked ? null : isSelected ? selected : [{ first: row, last: row }];
    const count = rows ? rowCount(rows) : this.model.checkedNums.length;
    if (count > BATCH) {
      this.actions.outcome.value = words.tooMany(BATCH);
      return null;
    }
    this.carried = { row, rows, count, name: nameOf(slot.row) };
    this.target = null;
    return count === 1 ? this.carried.name : words.rows(count);
  }

  /** Whether a row of the screen is being dragged. */
  carries(row: number): boolean {
    if (!this.carried) return false;
    if (this.carried.rows) return this.carried.rows.some(({ first, last }) => row >= first && row <= last);
    const slot = this.model.rows.at(row);
    return slot.kind === 'issue' && this.model.checked.has(slot.row.num);
  }

  /** The rows would be dropped at this edge. Returns the edge where they go; null if they cannot go there, or are there. */
  over(edge: Edge | null): Edge | null {
    const target = edge && targetAt(edge, this.screen);
    this.target = target && !this.isInPlace(target) && this.takes(target) ? target : null;
    return this.target;
  }

  cancel(): void {
    const { carried } = this;
    this.carried = this.target = null;
    if (carried) this.actions.outcome.value = words.stays(carried.name, carried.count);
  }

  async drop(): Promise<void> {
    const { carried, target } = this;
    this.carried = this.target = null;
    if (!carried || !target) return;
    const rows = carried.rows ? await this.issuesOf(carried.rows) : await this.model.issuesOf(this.checkedInOrder());
    await this.move(rows, target);
  }

  /** Move the selected rows by one. */
  async step(by: -1 | 1): Promise<void> {
    const selected = rowsOf(this.model.ranges);
    const [first, last] = [selected[0], selected.at(-1)];
    if (!this.model.canPlace || !first || !last) return;
    if (rowCount(selected) > BATCH) {
      this.actions.outcome.value = words.tooMany(BATCH);
      return;
    }
    const target = targetBeyond({ first: first.first, last: last.last }, by, this.screen);
    if (target && this.takes(target)) await this.move(await this.issuesOf(selected), target);
    else if (!target) this.actions.outcome.value = by > 0 ? words.atEnd : words.atStart;
  }

  private async move(rows: readonly Row[], target: Edge): Promise<void> {
    const { model } = this;
    const [first] = rows;
    const nums = rows.map(({ num }) => num);
    const anchor = anchorClearOf(target, new Set(nums), this.screen);
    const group = this.screen.groupOf(target.row);
    const edits = group ? this.editsInto(group, rows) : [];
    if (!first || !anchor || !edits) return;
    const refusal = placeRows(model, { nums, anchor, edits });
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
  private takes(target: Edge): boolean {
    const group = this.screen.groupOf(target.row);
    if (!group || valuesIn(group, this.model.view.peek().groups, this.model.fields)) return true;
    const rows = this.carried?.rows ?? (this.carried ? null : rowsOf(this.model.ranges));
    const isWithin = rows?.every(({ first, last }) => this.screen.groupOf(first)?.key === group.key && this.screen.groupOf(last)?.key === group.key) ?? false;
    if (!isWithin) this.actions.outcome.value = words.noValue(nameOfGroup(group, this.model));
    return isWithin;
  }

  /** Whether the rows are one block that is there already. */
  private isInPlace({ row, side }: Edge): boolean {
    const [block, ...others] = this.carried?.rows ?? [];
    if (!block || others.length) return false;
    const border = side === 'before' ? row : row + 1;
    return border >= block.first && border <= block.last + 1 && this.screen.groupOf(row)?.key === this.screen.groupOf(block.first)?.key;
  }

  private checkedInOrder(): readonly number[] {
    const { rows } = this.model;
    return [...this.model.checkedNums].sort((a, b) => (rows.indexOf(a) ?? Infinity) - (rows.indexOf(b) ?? Infinity) || a - b);
  }

  private async issuesOf(selected: readonly Rows[]): Promise<readonly Row[]> {
    const found: Row[] = [];
    for (const { first, last } of selected) found.push(...(await this.model.issuesIn(first, last)));
    return found;
  }
}

function nameOf(row: Row): string {
  return String(valueOf(row, 'name') ?? row.num);
}
