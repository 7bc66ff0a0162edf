/** Writes what the grid shows as CSV: all rows, page by page along the cursors. */
import { signal } from '@preact/signals';
import type { Api } from '../api/client';
import { isAbort } from '../api/problem';
import type { Filter, SortKey } from '../api/types';
import { cellText, csvLine } from '../csv/write';
import type { Field } from '../fields/fields';
import { rowOf, valueOf } from '../fields/values';

const PAGE = 500;

export interface ExportQuery {
  readonly sort: readonly SortKey[];
  readonly filter: Filter | null;
  readonly fields: readonly Field[];
  /** Leave cells that look like formulas as they are, so that an import gets the same values. */
  readonly raw: boolean;
}

export interface ExportState {
  readonly phase: 'running' | 'done' | 'cancelled' | 'failed';
  readonly rows: number;
  readonly file: Blob | null;
  readonly error: unknown;
}

export class Export {
  readonly state = signal<ExportState>({ phase: 'running', rows: 0, file: null, error: null });
  private readonly request = new AbortController();

  constructor(
    private readonly api: Api,
    private readonly project: string,
  ) {}

  async run({ sort, filter, fields, raw }: ExportQuery): Promise<void> {
    // A blob for each page: the browser may keep them on disk.
    const parts = [new Blob([csvLine(fields.map(({ name }) => name), { raw })])];
    let cursor: string | null = null;
    try {
      do {
        const { body }: { body: { rows: Parameters<typeof rowOf>[0][]; next: string | null } } = await this.api.call(
          'POST',
          '/v1/projects/{project}/grid',
          {
            path: { project: this.project },
            body: { sort: [...sort], filter, columns: fields.map(({ id }) => id), limit: PAGE, ...(cursor === null ? {} : { cursor }) },
            signal: this.request.signal,
          },
        );
        const rows = body.rows.map(rowOf);
        parts.push(new Blob(rows.map((row) => csvLine(fields.map(({ id }) => cellText(valueOf(row, id))), { raw }))));
        this.state.value = { ...this.state.peek(), rows: this.state.peek().rows + rows.length };
        cursor = body.next;
      } while (cursor !== null);
      this.state.value = { ...this.state.peek(), phase: 'done', file: new Blob(parts, { type: 'text/csv;charset=utf-8' }) };
    } catch (error) {
      this.state.value = { ...this.state.peek(), phase: isAbort(error) ? 'cancelled' : 'failed', error };
    }
  }

  cancel(): void {
    this.request.abort();
  }
}
