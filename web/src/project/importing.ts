/** Runs an import: new fields first, then the rows in batches, each sent until it has an answer. */
import { signal } from '@preact/signals';
import type { Api } from '../api/client';
import { ApiError, isAbort } from '../api/problem';
import { isPassing, passes } from '../api/retry';
import { issueOf, isWide, type ColumnPlan } from '../csv/plan';
import { fieldOfError } from '../edits/change';
import { BATCH } from '../edits/writes';
import { plainField, type Field } from '../fields/fields';
import { Flight } from './flight';
import { fetchCounts } from './queries';

/** Batches that are on the way at once, as in the importer of the command line. */
const IN_FLIGHT = 4;
const MAX_TRIES = 10;
/** Characters of the operations of a batch. Its request has at most three times as many bytes; the API takes 6 MB. */
const MAX_CHARACTERS = 1_000_000;
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
  /** Rows that are not issues because the import ended before, and those of which nobody knows. */
  readonly unsent: readonly RefusedRow[];
  /** The API does not answer at the moment. */
  readonly stalled: boolean;
  readonly error: unknown;
}

interface Refused {
  readonly detail: string;
  readonly errors?: readonly { readonly field: string; readonly message: string }[];
}

interface Outcome { readonly status: number; readonly reason: string }

/** Why rows are not imported. */
export interface ImportReasons {
  /** It has more cells than the header. */
  readonly wide: string;
  /** The import ended before. */
  readonly unsent: string;
  /** The API has not answered, so the issue may exist. */
  readonly unknown: string;
}

interface Operation {
  readonly create: ReturnType<typeof issueOf>;
}

/** A row of the file as it is sent. */
interface Prepared {
  readonly place: number;
  readonly cells: readonly string[];
  readonly operation: Operation;
}

export class Import {
  readonly state = signal<ImportState>({ phase: 'fields', done: 0, created: 0, indexed: 0, refused: [], unsent: [], stalled: false, error: null });
  private readonly request = new AbortController();
  /** The fields of the project, with the ones that the import has created. */
  private known: readonly Field[];
  private failure: { readonly error: unknown } | null = null;

  constructor(
    private readonly api: Api,
    private readonly project: string,
    private readonly fields: readonly Field[],
    private readonly reasons: ImportReasons,
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
      // After its end the rest is read too, so that the user gets all rows that are not imported.
      for await (const rows of this.batches(batches, ids)) await flight.begin(() => this.send(rows));
      await flight.end();
      if (this.failure) throw this.failure.error;
      this.request.signal.throwIfAborted();
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

  /** The rows after the header, in batches that one request holds. Rows that are too wide are refused. */
  private async *batches(pieces: AsyncIterable<string[][]>, ids: readonly (Field | null)[]): AsyncGenerator<readonly Prepared[]> {
    let place = -1;
    let waiting: Prepared[] = [];
    let characters = 0;
    for await (const piece of pieces) {
      for (const cells of piece) {
        place += 1;
        if (place === 0) continue;
        if (isWide(cells, ids.length)) {
          this.finish(1, [{ place: place - 1, cells, reason: this.reasons.wide }]);
          continue;
        }
        const operation = { create: issueOf(cells, ids) };
        const size = JSON.stringify(operation).length;
        if (waiting.length === BATCH || (waiting.length > 0 && characters + size > MAX_CHARACTERS)) {
          yield waiting;
          waiting = [];
          characters = 0;
        }
        waiting.push({ place: place - 1, cells, operation });
        characters += size;
      }
    }
    if (waiting.length) yield waiting;
  }

  /** Send a batch, unless the import has ended. */
  private async send(rows: readonly Prepared[]): Promise<void> {
    const outcomes = this.failure ? null : await this.outcomes(rows.map(({ operation }) => operation)).catch((error: unknown) => this.end(error));
    if (!outcomes) {
      this.put({ unsent: [...this.state.peek().unsent, ...rows.map(({ place, cells }) => ({ place, cells, reason: this.reasons.unsent }))] });
      return;
    }
    this.finish(
      rows.length,
      rows.flatMap(({ place, cells }, at) => {
        const outcome = outcomes[at];
        return outcome && isDone(outcome.status) ? [] : [{ place, cells, reason: outcome?.reason ?? '' }];
      }),
    );
  }

  private end(error: unknown): null {
    this.failure ??= { error };
    return null;
  }

  /** Count rows that are done, of which some were refused. */
  private finish(rows: number, refused: readonly RefusedRow[]): void {
    const { done, created, refused: others } = this.state.peek();
    this.put({ done: done + rows, created: created + rows - refused.length, refused: [...others, ...refused].sort((a, b) => a.place - b.place) });
  }

  /**
   * The outcome of each operation. The same key makes it safe to send them again. Without an answer they are sent until
   * there is one. A batch that was sent is completed even after the user cancels: otherwise nobody would know which of its
   * rows exist.
   */
  private async outcomes(operations: Operation[]): Promise<readonly Outcome[]> {
    this.request.signal.throwIfAborted();
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    let last: readonly Outcome[] | null = null;
    for (let tries = 1; ; tries += 1) {
      let seconds = PAUSE;
      try {
        const { body } = await this.api.call('POST', '/v1/projects/{project}/issues/batch', {
          path: { project: this.project },
          body: { operations, return: 'minimal' },
          headers,
        });
        last = body.results.map(({ status, problem }) => ({ status, reason: problem ? this.reasonIn(problem) : '' }));
        this.put({ stalled: false });
        if (tries >= MAX_TRIES || !last.some(({ status }) => passes(status))) return last;
      } catch (error) {
        const isFinal = !isPassing(error);
        if (isFinal && tries === 1) throw error;
        if (isFinal) this.end(error);
        if (isFinal || (this.request.signal.aborted && tries >= MAX_TRIES)) {
          return last ?? operations.map(() => ({ status: 0, reason: this.reasons.unknown }));
        }
        if (tries > 1) this.put({ stalled: true });
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

function isDone(status: number): boolean {
  return status >= 200 && status < 300;
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
