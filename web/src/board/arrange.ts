/**
 * The cards of each column, from the rows that are held. A card is in the column of its value. After a move here, an
 * undo, or a change by someone else, the run of another column may still hold its row. Pure.
 */
import { isDraft, valueOf, type Row } from '../fields/values';
import type { Held } from '../rows/store';
import type { BoardValue } from '../view/board';
import { keyOfColumn, runOf, type Column } from './columns';
import { Lane, type Arrival, type Card } from './lane';

export interface Arranging {
  readonly by: string;
  readonly compare: (a: Row, b: Row) => number;
  /** The key of the run of issues that were just created. */
  readonly added: string;
}

/** A card that is drawn in another column than the run that holds it. */
interface Stray {
  readonly row: Row;
  readonly key: string;
  readonly isNew: boolean;
}

interface Own {
  readonly offset: number;
  readonly row: Row;
}

export class Cards {
  /** The new issue that the user is naming; null if there is none. */
  readonly draft: Row | null = null;
  private readonly strays: ReadonlyMap<number, Stray>;
  /** By the key of the column, in no order until a card arrives there. */
  private readonly own = new Map<string, Own[]>();
  private readonly left = new Map<string, number[]>();
  private readonly placed = new Map<number, { readonly key: string; readonly card: Card }>();

  constructor(
    held: Iterable<Held>,
    private readonly arranging: Arranging,
  ) {
    const strays = new Map<number, Stray>();
    const native = new Set<number>();
    for (const { run, offset, row } of held) {
      const isNew = run.key === arranging.added;
      if (isNew && isDraft(row.num)) {
        this.draft = row;
        continue;
      }
      const key = this.columnOf(row);
      if (run.key === runOf(key)) {
        native.add(row.num);
        put(this.own, key, { offset, row });
        this.placed.set(row.num, { key, card: { kind: 'offset', offset } });
        continue;
      }
      strays.set(row.num, { row, key, isNew });
      if (!isNew) put(this.left, run.key, offset);
    }
    for (const num of native) strays.delete(num);
    for (const [num, { key }] of strays) this.placed.set(num, { key, card: { kind: 'arrived', num } });
    this.strays = strays;
  }

  /** The values of cards that are not in the runs of their columns. */
  get moved(): readonly BoardValue[] {
    return [...this.strays.values()].map(({ row }) => valueOf(row, this.arranging.by) as BoardValue);
  }

  /** The new issues that have no place yet. */
  get added(): readonly number[] {
    return [...this.strays.values()].flatMap(({ row, isNew }) => (isNew ? [row.num] : []));
  }

  /** The key of the column in which a row is. */
  columnOf(row: Row): string {
    return keyOfColumn(valueOf(row, this.arranging.by) as BoardValue);
  }

  lane({ key, count, filter }: Pick<Column, 'key' | 'count' | 'filter'>): Lane {
    const arrived = [...this.strays.values()].filter((stray) => stray.key === key);
    // No request can name the issues of a column without a filter.
    return new Lane(filter ? count : 0, this.left.get(runOf(key)) ?? [], this.arrivals(key, arrived));
  }

  /** A card that has arrived in a column. */
  arrived(num: number): Row | undefined {
    return this.strays.get(num)?.row;
  }

  /** The column of a card that is held, and which card of it. */
  find(num: number): { readonly key: string; readonly card: Card } | undefined {
    return this.placed.get(num);
  }

  /** New issues are at the top, and the others where the sort has them among the loaded cards. */
  private arrivals(key: string, strays: readonly Stray[]): readonly Arrival[] {
    if (!strays.length) return [];
    const { compare } = this.arranging;
    const own = (this.own.get(key) ?? []).sort((a, b) => a.offset - b.offset);
    const ordered = [...strays].sort((a, b) => Number(b.isNew) - Number(a.isNew) || (a.isNew ? b.row.num - a.row.num : compare(a.row, b.row)));
    return ordered.map(({ row, isNew }) => {
      const before = isNew ? undefined : own.findLast((one) => compare(one.row, row) < 0);
      return { num: row.num, before: before ? before.offset + 1 : 0 };
    });
  }
}

function put<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const others = map.get(key);
  if (others) others.push(value);
  else map.set(key, [value]);
}
