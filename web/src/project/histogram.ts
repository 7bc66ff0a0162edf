/** The distribution of a field's values under the present filter: two requests, for its ends and for its bars. */
import { signal } from '@preact/signals';
import type { Api } from '../api/client';
import { isAbort } from '../api/problem';
import type { Filter } from '../api/types';
import type { Field } from '../fields/fields';
import type { CellValue } from '../fields/values';
import { keyOf, withGaps, type Bar } from '../view/histogram';
import { ownTimezone } from '../view/relative';
import type { GroupKey } from '../view/view';
import { byOf } from './groups';

const MAX_GROUPS = 500;

export type HistogramState =
  | { readonly kind: 'loading' }
  /** No issue has a value. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'tooMany' }
  | {
      readonly kind: 'ready';
      readonly key: GroupKey;
      readonly least: CellValue;
      readonly greatest: CellValue;
      /** Null for an empty place between bars. */
      readonly bars: readonly (Bar | null)[];
    }
  | { readonly kind: 'failed'; readonly error: unknown };

export function hasHistogram({ type }: Field): boolean {
  return type === 'number' || type === 'date' || type === 'datetime';
}

export class Histogram {
  readonly state = signal<HistogramState>({ kind: 'loading' });
  private readonly request = new AbortController();

  constructor(
    private readonly api: Api,
    private readonly project: string,
    private readonly field: Field,
    private readonly filter: Filter | null,
  ) {}

  async load(): Promise<void> {
    try {
      this.state.value = await this.read();
    } catch (error) {
      if (!isAbort(error)) this.state.value = { kind: 'failed', error };
    }
  }

  stop(): void {
    this.request.abort();
  }

  private async read(): Promise<HistogramState> {
    const { field, filter } = this;
    const path = { project: this.project };
    const { signal } = this.request;
    const { body } = await this.api.call('POST', '/v1/projects/{project}/summary', {
      path,
      body: { fields: [{ field: field.id, functions: ['min', 'max'] }], filter },
      signal,
    });
    const { min: least = null, max: greatest = null } = body.summaries[0] ?? {};
    if (least === null || greatest === null) return { kind: 'empty' };
    const key = keyOf(field, least, greatest);
    const { body: grouped } = await this.api.call('POST', '/v1/projects/{project}/groups', {
      path,
      body: { by: [...byOf([key], [field], ownTimezone())], filter, limit: MAX_GROUPS },
      signal,
    });
    if (grouped.more) return { kind: 'tooMany' };
    const bars = grouped.groups.flatMap(({ values: [value = null], count, filter: own }): Bar[] => (value === null ? [] : [{ value, count, filter: own }]));
    return bars.length ? { kind: 'ready', key, least, greatest, bars: withGaps(bars, key) } : { kind: 'empty' };
  }
}
