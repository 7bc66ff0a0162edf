import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CatchingUp } from '../src/project/catching-up';

/** A list that the table has up to `stored`, and what was loaded of it; each load takes 100 ms. */
function listed() {
  const list = { stored: 1, loaded: 0, loads: 0 };
  const load = async () => {
    list.loads += 1;
    const found = list.stored;
    await new Promise((resolve) => setTimeout(resolve, 100));
    list.loaded = found;
  };
  return { list, catching: new CatchingUp(load, (version) => list.loaded >= version, [0, 500, 2_000]) };
}

describe('a list that is told of versions', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('is read once where it has the version', async () => {
    const { list, catching } = listed();
    catching.hear(1);
    await vi.advanceTimersByTimeAsync(10_000);
    expect([list.loaded, list.loads]).toEqual([1, 1]);
  });

  test('is read again until it has it, and not for ever', async () => {
    const { list, catching } = listed();
    catching.hear(2);
    await vi.advanceTimersByTimeAsync(400);
    list.stored = 2;
    await vi.advanceTimersByTimeAsync(10_000);
    expect([list.loaded, list.loads]).toEqual([2, 2]);
    catching.hear(3);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(list.loads).toBe(5);
  });

  test.for([0, 50, 300])('is read though others are told of %i ms later', async (later) => {
    const { list, catching } = listed();
    catching.hear(2);
    await vi.advanceTimersByTimeAsync(later);
    catching.hear(null);
    list.stored = 2;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(list.loaded).toBe(2);
  });

  test('still waits for a version when any may have come', async () => {
    const { list, catching } = listed();
    catching.hear(2);
    await vi.advanceTimersByTimeAsync(50);
    catching.hear(0);
    await vi.advanceTimersByTimeAsync(200);
    list.stored = 2;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(list.loaded).toBe(2);
  });

  test('is not read any more once it is closed', async () => {
    const { list, catching } = listed();
    catching.hear(2);
    catching.close();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(list.loads).toBe(0);
  });
});
