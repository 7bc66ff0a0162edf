/** The summaries below the columns. Each is a request of its own, so that a refused one affects no other. */
import { signal } from '@preact/signals';
import type { Api } from '../api/client';
import { isAbort } from '../api/problem';
import type { Filter } from '../api/types';
import type { Field } from '../fields/fields';
import { memberOf, type CellValue } from '../fields/values';
import { functionsOf, type SummaryFunction } from '../view/footers';
import { unfollowed, type Requested } from './following';

export type Summary =
  | { readonly kind: 'loading' }
  | { readonly kind: 'ready'; readonly value: CellValue }
  | { readonly kind: 'failed'; readonly error: unknown };

export class Summaries {
  /** By field. */
  readonly values = signal<ReadonlyMap<string, Summary>>(new Map());
  private readonly requests = new Map<string, { readonly what: string; readonly request: AbortController }>();

  constructor(
    private readonly api: Api,
    private readonly project: string,
    private readonly requested: Requested = unfollowed,
  ) {}

  /** Request these summaries. The ones that are loaded or requested already are skipped, unless `again`. */
  ask(footers: Readonly<Record<string, string>>, filter: Filter | null, fields: readonly Field[], { again = false } = {}): void {
    const wanted = fields.flatMap((field) => {
      const fn = functionsOf(field.type).find((one) => one === memberOf(footers, field.id));
      return fn ? [{ field: field.id, fn, what: `${fn} ${JSON.stringify(filter)}` }] : [];
    });
    for (const [field, { request }] of this.requests) {
      if (wanted.some((one) => one.field === field)) continue;
      request.abort();
      this.requests.delete(field);
      this.put(field, null);
    }
    for (const { field, fn, what } of wanted) {
      const present = this.requests.get(field);
      if (present?.what === what && !again) continue;
      present?.request.abort();
      const request = new AbortController();
      this.requests.set(field, { what, request });
      // If a summary is only read again, the present one stays until its successor comes.
      if (present?.what !== what) this.put(field, { kind: 'loading' });
      void this.load(field, fn, filter, request.signal);
    }
  }

  stop(): void {
    for (const { request } of this.requests.values()) request.abort();
  }

  private async load(field: string, fn: SummaryFunction, filter: Filter | null, signal: AbortSignal): Promise<void> {
    const answered = this.requested('figures');
    try {
      const { body } = await this.api.call('POST', '/v1/projects/{project}/summary', {
        path: { project: this.project },
        body: { fields: [{ field, functions: [fn] }], filter },
        signal,
      });
      this.put(field, { kind: 'ready', value: body.summaries[0]?.[fn] ?? null });
      answered(body.changes_cursor);
    } catch (error) {
      if (!isAbort(error)) this.put(field, { kind: 'failed', error });
    }
  }

  private put(field: string, summary: Summary | null): void {
    const next = new Map(this.values.peek());
    if (summary) next.set(field, summary);
    else next.delete(field);
    this.values.value = next;
  }
}
