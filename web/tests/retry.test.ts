import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from '../src/api/problem';
import { withRetry } from '../src/api/retry';

/** How often a request is sent that the API refuses in this way until it has been sent `enough` times, and what comes of it. */
async function sent(type: string, status: number, enough: number) {
  let times = 0;
  const request = async () => {
    times += 1;
    if (times < enough) throw new ApiError({ type, title: type, status });
    return Promise.resolve('done');
  };
  const outcome = withRetry(request).catch((error: unknown) => (error as ApiError).kind);
  await vi.runAllTimersAsync();
  return { times, outcome: await outcome };
}

describe('a refused request', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is sent four times if the API is busy', async () => {
    expect(await sent('unavailable', 503, 4)).toEqual({ times: 4, outcome: 'done' });
    expect(await sent('unavailable', 503, 5)).toEqual({ times: 4, outcome: 'unavailable' });
  });

  it.each([502, 504])('is sent again if a gateway had no answer (%i)', async (status) => {
    expect(await sent('about:blank', status, 2)).toEqual({ times: 2, outcome: 'done' });
  });

  it('is sent for half a minute until the history has a change', async () => {
    const begun = Date.now();
    expect(await sent('history-not-ready', 409, 6)).toEqual({ times: 6, outcome: 'done' });
    expect(Date.now() - begun).toBe(31_000);
    expect(await sent('history-not-ready', 409, 7)).toEqual({ times: 6, outcome: 'history-not-ready' });
  });

  it('is sent once if a repetition cannot help', async () => {
    expect(await sent('edit-conflict', 409, 2)).toEqual({ times: 1, outcome: 'edit-conflict' });
    expect(await sent('too-many-jobs', 429, 2)).toEqual({ times: 1, outcome: 'too-many-jobs' });
  });
});
