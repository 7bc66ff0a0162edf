import { describe, expect, it, vi } from 'vitest';
import { Api } from '../src/api/client';
import { Summaries } from '../src/project/summaries';
import { functionsOf, withFooter } from '../src/view/footers';
import { field } from './fields';

const FIELDS = [field('cost', 'number'), field('due', 'date'), field('trades', 'multi_enum')];

function summariesOf() {
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = (_, request) => {
    const { fields } = JSON.parse(request?.body as string) as { fields: { field: string; functions: string[] }[] };
    const [one] = fields;
    if (!one) throw new Error('Nothing was asked for.');
    asked.push(`${one.field} ${one.functions.join()}`);
    if (one.field === 'due') return Promise.resolve(new Response('{"title":"Too many"}', { status: 422 }));
    return Promise.resolve(Response.json({ matched: 9, summaries: [{ field: one.field, [one.functions[0] ?? '']: 7 }] }));
  };
  return { asked, summaries: new Summaries(new Api({ sign: () => Promise.resolve(), expired: vi.fn() }, fetch), 'p') };
}

describe('summaries below columns', () => {
  it('are requested one by one, so a refused one does not affect the others', async () => {
    const { asked, summaries } = summariesOf();
    summaries.ask({ cost: 'sum', due: 'max', trades: 'sum', gone: 'count' }, null, FIELDS);
    expect(asked).toEqual([]);
    await vi.waitFor(() => expect(summaries.values.value.get('due')?.kind).toBe('failed'));
    expect(asked).toEqual(['cost sum', 'due max']);
    expect(summaries.values.value.get('cost')).toEqual({ kind: 'ready', value: 7 });
    expect(summaries.values.value.has('trades')).toBe(false);
  });

  it('are requested again if the filter changes, or on demand', async () => {
    const { asked, summaries } = summariesOf();
    const ready = () => vi.waitFor(() => expect(summaries.values.value.get('cost')?.kind).toBe('ready'));
    summaries.ask({ cost: 'sum' }, null, FIELDS);
    await ready();
    summaries.ask({ cost: 'sum' }, null, FIELDS);
    summaries.ask({ cost: 'sum' }, { field: 'due', op: 'is_empty' }, FIELDS);
    expect(summaries.values.value.get('cost')?.kind).toBe('loading');
    await ready();
    summaries.ask({ cost: 'sum' }, { field: 'due', op: 'is_empty' }, FIELDS, { again: true });
    expect(summaries.values.value.get('cost')?.kind).toBe('ready');
    await vi.waitFor(() => expect(asked).toHaveLength(3));
    summaries.ask({}, null, FIELDS);
    expect(summaries.values.value.size).toBe(0);
  });

  it('depend on the type', () => {
    expect(functionsOf('number')).toEqual(expect.arrayContaining(['avg', 'median']));
    expect(functionsOf('date')).not.toContain('sum');
    expect(functionsOf('date')).not.toContain('median');
    expect(functionsOf('multi_enum')).not.toContain('min');
    expect(withFooter({ cost: 'sum' }, 'due', 'max')).toEqual({ cost: 'sum', due: 'max' });
    expect(withFooter({ cost: 'sum', due: 'max' }, 'due', null)).toEqual({ cost: 'sum' });
  });
});
