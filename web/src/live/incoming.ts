/**
 * Puts changes of others into rows that are held. A cell that the user is editing keeps its value until the edit ends.
 *
 * Until then the row keeps the version that the user saw, so that the API detects a change of the same field by both.
 */
import type { ChangeEvent } from '../api/types';
import type { HeldRows } from '../edits/editor';
import type { CellValue, Row } from '../fields/values';
import { applied } from './events';

interface Waiting {
  readonly version: number;
  readonly values: ReadonlyMap<string, CellValue>;
}

export class Incoming {
  private readonly waiting = new Map<number, Waiting>();

  constructor(
    private readonly rows: HeldRows,
    /** Whether the user is editing a cell, or its value is being written. */
    private readonly isBusy: (num: number, field: string) => boolean,
  ) {}

  /** Whether a row that is held lacks a change before this one. */
  isEarly({ num, version }: ChangeEvent): boolean {
    const row = this.rows.held(num);
    return row !== undefined && version > this.versionOf(row) + 1;
  }

  /** Take a change. Returns whether a row that is held has changed. An early change would hide the ones before it. */
  take(event: ChangeEvent): boolean {
    const { num, version } = event;
    const row = this.rows.held(num);
    if (!row || version !== this.versionOf(row) + 1) return false;
    const before = this.waitingFor(num, row.version);
    const values = new Map(before?.values);
    for (const [field, edit] of Object.entries(event.fields)) {
      if (this.isBusy(num, field)) values.set(field, edit.new);
      else values.delete(field);
    }
    this.rows.replace(num, (now) => ({
      ...applied(now, event, (field) => !values.has(field)),
      version: values.size ? now.version : version,
    }));
    if (values.size) this.waiting.set(num, { version, values });
    else this.waiting.delete(num);
    return true;
  }

  /** Show the changes that waited for cells which are no longer edited. */
  release(): void {
    for (const num of [...this.waiting.keys()]) {
      const row = this.rows.held(num);
      const late = row && this.waitingFor(num, row.version);
      if (!row || !late) {
        this.waiting.delete(num);
        continue;
      }
      const left = new Map([...late.values].filter(([field]) => this.isBusy(num, field)));
      if (left.size === late.values.size) continue;
      const shown = Object.fromEntries([...late.values].filter(([field]) => !left.has(field)));
      if (left.size) this.waiting.set(num, { ...late, values: left });
      else this.waiting.delete(num);
      this.rows.replace(num, (now) => ({ ...now, version: left.size ? now.version : late.version, values: { ...now.values, ...shown } }));
    }
  }

  /** The version of a row with the changes that wait for it. */
  private versionOf({ num, version }: Row): number {
    return this.waitingFor(num, version)?.version ?? version;
  }

  /** The changes that wait for a row, unless the row has them already. */
  private waitingFor(num: number, version: number): Waiting | undefined {
    const found = this.waiting.get(num);
    return found && found.version > version ? found : undefined;
  }
}
