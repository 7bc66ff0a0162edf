import { describe, expect, it } from 'vitest';
import type { BackgroundJob } from '../src/api/types';
import { outlookOf } from '../src/project/preview';

function job(more: Partial<BackgroundJob>): BackgroundJob {
  return {
    id: '1', kind: 'update', state: 'done', done: 0, total: 0, refused: 0, changed: 0, examples: [], change: null, url: null,
    created: '2023-05-01T12:00:00Z', created_by: 'ada', ended: null, problem: null, ...more,
  };
}

describe('the outlook of a change', () => {
  const example = (num: number) => ({ num, field: 'name', old: 'a', new: 'b' });

  it('is the sum of all jobs, with ten examples', () => {
    const examples = Array.from({ length: 8 }, (_, num) => example(num));
    const both = outlookOf([job({ done: 8, refused: 2, total: 10, changed: 8, examples }), job({ done: 5, total: 5, changed: 4, examples })]);
    expect(both).toMatchObject({ state: 'done', done: 15, total: 15, changed: 12, refused: 2 });
    expect(both.examples).toHaveLength(10);
  });

  it('is open until all jobs are done, and failed if one is', () => {
    expect(outlookOf([job({}), job({ state: 'running', total: null })])).toMatchObject({ state: 'open', total: null });
    expect(outlookOf([job({ state: 'failed' }), job({ state: 'running' })]).state).toBe('failed');
    expect(outlookOf([job({ state: 'cancelled' })]).state).toBe('failed');
    expect(outlookOf([job({ examples: null, changed: null })])).toMatchObject({ changed: 0, examples: [] });
  });
});
