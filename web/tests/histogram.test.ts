import { describe, expect, it, vi } from 'vitest';
import { Api } from '../src/api/client';
import type { FieldType } from '../src/api/types';
import { Histogram } from '../src/project/histogram';
import { keyOf, widthOf, withGaps, type Bar } from '../src/view/histogram';
import { field } from './fields';

const bar = (value: Bar['value']): Bar => ({ value, count: 1, filter: null });
const ranges = (...begins: number[]) => begins.map((from) => bar({ from, to: from + 50 }));

describe('the width of ranges', () => {
  it('is round and gives about 12 bars', () => {
    expect(widthOf(0, 600)).toBe(50);
    expect(widthOf(0, 1)).toBe(0.1);
    expect(widthOf(-250, 310)).toBe(50);
    expect(widthOf(1e-9, 9e-9)).toBe(5e-10);
    for (let at = 0; at < 2_000; at += 1) {
      const least = Math.sinh(((at * 37) % 200) - 100);
      const greatest = least + Math.exp(((at * 53) % 97) - 20);
      const width = widthOf(least, greatest);
      if (width === null || Number.isInteger(least)) continue;
      // Where doubles are sparse, the places are too.
      if (width < Math.abs(least) * 1e-12) continue;
      const bars = Math.floor(greatest / width) - Math.floor(least / width) + 1;
      expect(bars, `${least} to ${greatest}`).toBeGreaterThan(6);
      expect(bars, `${least} to ${greatest}`).toBeLessThan(20);
    }
  });

  it('is whole between whole numbers, and none if all are the same', () => {
    expect(widthOf(1, 5)).toBe(1);
    expect(widthOf(1.5, 5)).toBe(0.5);
    expect(widthOf(0, 3)).toBe(1);
    expect(widthOf(3, 3)).toBeNull();
    expect(widthOf(-Infinity, 3)).toBeNull();
  });
});

describe('the key of a histogram', () => {
  it('has days, months or years by the span', () => {
    const unit = (type: FieldType, least: string, greatest: string) => keyOf(field('due', type), least, greatest).unit;
    expect(unit('date', '2024-05-01', '2024-05-31')).toBe('day');
    expect(unit('date', '2024-05-01', '2024-08-31')).toBe('month');
    expect(unit('date', '0001-05-01', '9999-08-31')).toBe('year');
    expect(unit('datetime', '2024-05-01T10:00:00Z', '2024-05-01T10:00:00Z')).toBe('day');
  });

  it('has a width in decimal digits', () => {
    expect(keyOf(field('cost', 'number'), 0, 600)).toEqual({ field: 'cost', unit: null, width: '50' });
    expect(keyOf(field('cost', 'number'), 7, 7)).toEqual({ field: 'cost', unit: null });
  });
});

describe('bars', () => {
  it('leave room for empty ranges and periods', () => {
    const shape = (bars: readonly Bar[], key: Parameters<typeof withGaps>[1]) => withGaps(bars, key).map((one) => (one ? '#' : '.')).join('');
    expect(shape(ranges(-100, 0, 50, 250), { field: 'cost', unit: null, width: '50' })).toBe('#.##...#');
    expect(shape(['2023-11', '2024-02'].map(bar), { field: 'due', unit: 'month' })).toBe('#..#');
    expect(shape(['2024-02-28', '2024-03-01'].map(bar), { field: 'due', unit: 'day' })).toBe('#.#');
    expect(shape(['2021', '2022'].map(bar), { field: 'due', unit: 'year' })).toBe('##');
    expect(shape([bar(7)], { field: 'cost', unit: null })).toBe('#');
    expect(shape([], { field: 'due', unit: 'year' })).toBe('');
  });

  it('are side by side if there were too many gaps', () => {
    expect(withGaps(['0001', '2024', '9999'].map(bar), { field: 'due', unit: 'year' })).toHaveLength(3);
  });
});

describe('a histogram', () => {
  const FILTER = { field: 'state', op: 'eq', value: 'open' } as const;

  function histogramOf(ends: object, groups: readonly object[], more = false) {
    const asked: unknown[] = [];
    const fetch: typeof globalThis.fetch = (address, request) => {
      asked.push(JSON.parse(request?.body as string));
      if ((address as string).endsWith('/summary')) return Promise.resolve(Response.json({ summaries: [{ field: 'cost', ...ends }] }));
      return Promise.resolve(groups.length ? Response.json({ groups, more, next: null }) : new Response('{"title":"Too many"}', { status: 422 }));
    };
    const api = new Api({ sign: () => Promise.resolve(), expired: vi.fn() }, fetch);
    return { asked, histogram: new Histogram(api, 'p', field('cost', 'number'), FILTER) };
  }

  it('is the groups between the ends of the values, under the filter', async () => {
    const own = { field: 'cost', op: 'gte', value: 50 };
    const { asked, histogram } = histogramOf({ min: 12, max: 590 }, [
      { values: [{ from: 50, to: 100 }], count: 25, filter: own },
      { values: [null], count: 3, filter: null },
    ]);
    expect(histogram.state.value.kind).toBe('loading');
    await histogram.load();
    expect(asked).toEqual([
      { fields: [{ field: 'cost', functions: ['min', 'max'] }], filter: FILTER },
      { by: [{ field: 'cost', width: 50 }], filter: FILTER, limit: 500 },
    ]);
    expect(histogram.state.value).toMatchObject({ kind: 'ready', bars: [{ value: { from: 50, to: 100 }, count: 25, filter: own }] });
  });

  it('is empty without values, and has the reason of a refusal', async () => {
    const empty = histogramOf({ min: null, max: null }, []);
    await empty.histogram.load();
    expect(empty.histogram.state.value.kind).toBe('empty');
    expect(empty.asked).toHaveLength(1);
    const refused = histogramOf({ min: 1, max: 2 }, []);
    await refused.histogram.load();
    expect(refused.histogram.state.value).toMatchObject({ kind: 'failed', error: { status: 422 } });
    const many = histogramOf({ min: 1, max: 2 }, [{ values: [1], count: 1, filter: null }], true);
    await many.histogram.load();
    expect(many.histogram.state.value.kind).toBe('tooMany');
  });

  it('that is left changes nothing any more', async () => {
    const { histogram } = histogramOf({ min: 1, max: 2 }, [{ values: [1], count: 1, filter: null }]);
    histogram.stop();
    await histogram.load();
    expect(histogram.state.value.kind).not.toBe('failed');
  });
});
