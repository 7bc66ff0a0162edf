import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError, OfflineError } from '../src/api/problem';
import { WriteQueue } from '../src/edits/write-queue';

/** A request that fails once with each of these errors, and then is answered. */
function failing(...errors: readonly unknown[]) {
  const left = [...errors];
  return vi.fn(() => (left.length ? Promise.reject(left.shift() as Error) : Promise.resolve('done')));
}

const refusal = (status: number, retryAfter: number | null = null) => new ApiError({ type: 'x', title: 'no', status }, retryAfter);

describe('a write', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it('is repeated until it has an answer, and counted until then', async () => {
    const writeQueue = new WriteQueue();
    const request = failing(new OfflineError(''), refusal(503), refusal(429, 5), refusal(504));
    const answered = writeQueue.count(3);
    expect(writeQueue.state.value).toBe('empty');
    const sent = writeQueue.send(request);
    const seen: (readonly [calls: number, state: string])[] = [];
    for (const milliseconds of [0, 1_000, 2_000, 4_000, 1_000, 8_000]) {
      await vi.advanceTimersByTimeAsync(milliseconds);
      seen.push([request.mock.calls.length, writeQueue.state.value]);
    }
    // The third wait is as long as the API says.
    expect(seen).toEqual([[1, 'waiting'], [2, 'waiting'], [3, 'waiting'], [3, 'waiting'], [4, 'waiting'], [5, 'sending']]);
    expect([await sent, writeQueue.unsent.value]).toEqual(['done', 3]);
    answered();
    expect([writeQueue.state.value, writeQueue.unsent.value]).toEqual(['empty', 0]);
  });

  it('is sent at once when the connection returns', async () => {
    const writeQueue = new WriteQueue();
    const request = failing(new OfflineError(''));
    const sent = writeQueue.send(request);
    await vi.advanceTimersByTimeAsync(10);
    writeQueue.retry();
    expect(await sent).toBe('done');
  });

  it.each([refusal(400), refusal(409), refusal(500), new Error('broken')])('is not repeated if it is refused: %s', async (error) => {
    const request = failing(error);
    await expect(new WriteQueue().send(request)).rejects.toBe(error);
    expect(request).toHaveBeenCalledOnce();
  });
});
