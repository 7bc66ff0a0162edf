/** Runs an import: new fields first, then the rows in batches, each sent until it has an answer. */
import { signal } from '@preact/signals';
import type { Api } from '../api/client';
import { ApiError, isAbort } from '../api/problem';
import { isPassing, passes } from '../api/retry';
import { issueOf, type ColumnPlan } from '../csv/plan';
import { fieldOfError } from '../edits/change';
import { BATCH } from '../edits/writes';
import { plainField, type Field } from '../fields/fields';
import { Flight } from './flight';
import { fetchCounts } from './queries';

/** Batches that are on the way at once, as in the importer of the command line. */
const IN_FLIGHT = 4;
const MAX_TRIES = 10;
/** Seconds before a batch is sent again, if the API gives none. */
const PAUSE = 2;

export interface RefusedRow {
  /** Its place in the file, from 0. */
  readonly place: number;
  readonly cells: readonly string[];
  readonly reason: string;
}

export interface ImportState {
  readonly phase: 'fields' | 'rows' | 'index' | 'done' | 'cancelled' | 'failed';
  readonly done: number;
  readonly created: number;
  /** Issues that grids, filters and counts include already. */
  readonly indexed: number;
  readonly refused: readonly RefusedRow[];
  readonly error: unknown;
}

interface Refused {
  readonly detail: string;
  readonly errors?: readonly { readonly field: string; readonly message: string }[];
}

interface Outcome { readonly status: number; readonly reason: string }

export class Import {
  readonly state = signal<ImportState>({ phase: 'fields', done: 0, created: 0, indexed: 0, refused: [], error: null });
  private readonly request = new AbortController();
  /** The fields of the project, with the ones that the import has created. */
  private known: readonly Field[];

  constructor(
    private readonly api: Api,
    private readonly project: string,
    private readonly fields: readonly Field[],
    private readonly wait: (seconds: number) => Promise<void> = pause,
  ) {
    this.known = fields;
  }

  /** Import the rows of a file, of which the first is the header. */
  async run(columns: readonly ColumnPlan[], batches: AsyncIterable<string[][]>): Promise<void> {
    const flight = new Flight(IN_FLIGHT);
    try {
      const { total: before } = await fetchCounts(this.api, this.project, null, this.request.signal);
      const ids = await this.define(columns);
      this.known = [...this.fields, ...ids.flatMap((field) => field ?? [])];
      this.put({ phase: 'rows' });
      let header = true;
      let place = 0;
      let waiting: string[][] = [];
      const send = async (rows: readonly string[][]) => {
        const from = place;
        place += rows.length;
        await flight.begin(() => this.send(rows, from, ids));
      };
      for await (const batch of batches) {
        waiting.push(...(header ? batch.slice(1) : batch));
        header = false;
        for (; waiting.length >= BATCH; waiting = waiting.slice(BATCH)) await send(waiting.slice(0, BATCH));
      }
      if (waiting.length) await send(waiting);
      await flight.end();
      await this.follow(before);
      this.put({ phase: 'done' });
    } catch (error) {
      await flight.settled();
      this.put(isAbort(error) ? { phase: 'cancelled' } : { phase: 'failed', error });
    }
  }

  /** Stop after the batches that are on the way. Written issues stay. */
  cancel(): void {
    this.request.abort();
  }

  /** The field of each column; new ones are created. */
  private async define(columns: readonly ColumnPlan[]): Promise<readonly (Field | null)[]> {
    const ids: (Field | null)[] = [];
    for (const { header, target } of columns) {
      if (target.kind === 'skip') ids.push(null);
      else if (target.kind === 'field') ids.push(this.fields.find(({ id }) => id === target.field) ?? null);
      else {
        const { type, options } = target;
        const { body } = await this.api.call('POST', '/v1/projects/{project}/attributes', {
          path: { project: this.project },
          body: { name: header, type, ...(options.length ? { options: [...options] } : {}) },
          signal: this.request.signal,
        });
        ids.push(plainField(body.id, header, type, { indexed: body.indexed, search: body.search }));
      }
    }
    return ids;
  }

  private async send(rows: readonly string[][], from: number, ids: readonly (Field | null)[]): Promise<void> {
    const outcomes = await this.outcomes(rows.map((row) => ({ create: issueOf(row, ids) })));
    const refused = rows.flatMap((cells, at) => {
      const outcome = outcomes[at];
      return outcome && outcome.status < 300 ? [] : [{ place: from + at, cells, reason: outcome?.reason ?? '' }];
    });
    const { done, created, refused: others } = this.state.peek();
    this.put({ done: done + rows.length, created: created + rows.length - refused.length, refused: [...others, ...refused].sort((a, b) => a.place - b.place) });
  }

  /** The outcome of each operation. The same key makes it safe to send them again. */
  private async outcomes(operations: { create: Readonly<Record<string, unknown>> }[]): Promise<readonly Outcome[]> {
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    for (let tries = 1; ; tries += 1) {
      this.request.signal.throwIfAborted();
      let seconds = PAUSE;
      try {
        const { body } = await this.api.call('POST', '/v1/projects/{project}/issues/batch', {
          path: { project: this.project },
          body: { operations, return: 'minimal' },
          headers,
        });
        if (tries === MAX_TRIES || !body.results.some(({ status }) => passes(status))) {
          return body.results.map(({ status, problem }) => ({ status, reason: problem ? this.reasonIn(problem) : '' }));
        }
      } catch (error) {
        if (!isPassing(error) || tries === MAX_TRIES) throw error;
        if (error instanceof ApiError && error.retryAfter !== null) seconds = error.retryAfter;
      }
      await this.wait(seconds);
    }
  }

  /**
   * Follow the index as it takes in the new issues. Stops when it makes no progress: others may delete issues
   * meanwhile. A count that fails is no progress either. All rows are written, so it must not fail the import: the user
   * would write them again.
   */
  private async follow(before: number): Promise<void> {
    const { created } = this.state.peek();
    this.put({ phase: 'index' });
    for (let still = 0; still < MAX_TRIES; ) {
      const total = await this.total();
      const indexed = total === null ? this.state.peek().indexed : Math.max(0, Math.min(created, total - before));
      still = indexed > this.state.peek().indexed ? 0 : still + 1;
      this.put({ indexed });
      if (indexed >= created) return;
      await this.wait(PAUSE);
    }
  }

  /** The number of issues in the index; null if the count failed. */
  private async total(): Promise<number | null> {
    try {
      return (await fetchCounts(this.api, this.project, null, this.request.signal)).total;
    } catch (error) {
      if (isAbort(error)) throw error;
      return null;
    }
  }

  /** Why the API refused a row: each faulty field by its name. */
  private reasonIn({ detail, errors = [] }: Refused): string {
    const nameOf = (path: string) => this.known.find(({ id }) => id === fieldOfError(path))?.name ?? path;
    return errors.length ? errors.map(({ field, message }) => `${nameOf(field)} ${message}`).join('; ') : detail;
  }

  private put(change: Partial<ImportState>): void {
    this.state.value = { ...this.state.peek(), ...change };
  }
}

/** How often rows were refused for each reason, the most frequent first. */
export function reasonsOf(refused: readonly RefusedRow[]): readonly (readonly [reason: string, rows: number])[] {
  const counts = new Map<string, number>();
  for (const { reason } of refused) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one);
}

function pause(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}
