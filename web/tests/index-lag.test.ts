import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { IndexAge } from '../src/api/types';
import { IndexLag } from '../src/project/index-lag';

const age = (pending: number): IndexAge => ({ lag_ms: 640, pending });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** With what its looks find, one after the other; then they fail. */
function lagging(...found: number[]) {
  let looks = 0;
  let hidden = false;
  const lag = new IndexLag(
    () => {
      looks += 1;
      const pending = found.shift();
      return pending === undefined ? Promise.reject(new Error('offline')) : Promise.resolve(age(pending));
    },
    () => hidden,
  );
  return { lag, pending: () => lag.age.peek()?.pending, looks: () => looks, hide: (now: boolean) => (hidden = now) };
}

describe('how late the index is', () => {
  it('is looked at again until nothing is pending, each time later', async () => {
    const { lag, pending, looks } = lagging(4, 1, 0);
    lag.take(age(4));
    await vi.advanceTimersByTimeAsync(4_000);
    expect([looks(), pending()]).toEqual([1, 4]);
    await vi.advanceTimersByTimeAsync(8_000);
    expect([looks(), pending()]).toEqual([2, 1]);
    await vi.advanceTimersByTimeAsync(16_000);
    expect([looks(), pending()]).toEqual([3, 0]);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(looks()).toBe(3);
  });

  it('is not looked at where nothing is pending, nor where other answers say so first', async () => {
    const { lag, looks } = lagging(0);
    lag.take(age(0));
    lag.take(age(2));
    await vi.advanceTimersByTimeAsync(3_000);
    lag.take(age(0));
    await vi.advanceTimersByTimeAsync(600_000);
    expect(looks()).toBe(0);
  });

  it('is looked at again after a failure, after the page was hidden, and never after it was closed', async () => {
    const { lag, looks, hide } = lagging();
    lag.take(age(2));
    hide(true);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(looks()).toBe(0);
    hide(false);
    await vi.advanceTimersByTimeAsync(8_000 + 16_000);
    expect(looks()).toBe(2);
    lag.close();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(looks()).toBe(2);
  });
});
