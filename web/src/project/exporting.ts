/** Writes the rows of the grid as CSV: all of them, page by page along the cursors. */
import { signal } from '@preact/signals';
import type { Api } from '../api/client';
import { withRetry } from '../api/retry';
import type { Filter, GridRequest, OrderKey } from '../api/types';
import { formatValue } from '../cells/format';
import { numberText } from '../cells/number-text';
import { cellText, csvLine, headersOf } from '../csv/write';
import type { Field } from '../fields/fields';
import { rowOf, valueOf, type CellValue, type Row } from '../fields/values';

const PAGE = 500;
const numbers = numberText();

export interface ExportQuery {
  readonly sort: readonly OrderKey[];
  readonly filter: Filter | null;
  readonly fields: readonly Field[];
  /** Do not guard cells that look like formulas, so that an import gets the same values. */
  readonly raw: boolean;
  /** Write the values in the formats of their fields, as the grid shows them. */
  readonly shown?: boolean;
}

interface Page {
  readonly rows: readonly Row[];
  readonly next: string | null;
}

/** The destination of the file, piece by piece. */
export interface Sink {
  write(text: string): Promise<void>;
  /** The file is complete. */
  close(): Promise<void>;
  /** The file is no longer needed. */
  abort(): Promise<void>;
}

export interface ExportState {
  readonly phase: 'running' | 'done' | 'cancelled' | 'failed';
  readonly rows: number;
  readonly error: unknown;
}

export class Export {
  readonly state = signal<ExportState>({ phase: 'running', rows: 0, error: null });
  private readonly request = new AbortController();

  constructor(
    private readonly api: Api,
    private readonly project: string,
  ) {}

  /** Write all rows. One page is held at a time. */
  async run({ sort, filter, fields, raw, shown = false }: ExportQuery, sink: Sink): Promise<void> {
    const { signal } = this.request;
    const columns = fields.map(({ id }) => id);
    const textIn = (row: Row, field: Field) => (shown ? shownText(field, valueOf(row, field.id)) : cellText(valueOf(row, field.id)));
    let cursor: string | null = null;
    try {
      await sink.write(csvLine(headersOf(fields), { raw }));
      do {
        const body: GridRequest = { sort: [...sort], filter, columns, limit: PAGE, ...(cursor === null ? {} : { cursor }) };
        const { rows, next }: Page = await withRetry(() => this.page(body), signal);
        await sink.write(rows.map((row) => csvLine(fields.map((field) => textIn(row, field)), { raw })).join(''));
        signal.throwIfAborted();
        this.put({ rows: this.state.peek().rows + rows.length });
        cursor = next;
      } while (cursor !== null);
      await sink.close();
      this.put({ phase: 'done' });
    } catch (error) {
      this.put(signal.aborted ? { phase: 'cancelled' } : { phase: 'failed', error });
      await sink.abort();
    }
  }

  cancel(): void {
    this.request.abort();
  }

  private async page(body: GridRequest): Promise<Page> {
    const answer = await this.api.call('POST', '/v1/projects/{project}/grid', { path: { project: this.project }, body, signal: this.request.signal });
    return { rows: answer.body.rows.map(rowOf), next: answer.body.next };
  }

  private put(change: Partial<ExportState>): void {
    this.state.value = { ...this.state.peek(), ...change };
  }
}

/** A value as the grid shows it; an import reads it back. */
function shownText(field: Field, value: CellValue): string {
  const text = formatValue(field, value);
  return field.type === 'number' ? numbers.plain(text) : text;
}
