import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CatchingUp } from '../src/project/catching-up';

/** A list with the stored and the loaded version; each load takes 100 ms. */
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

describe('a list with a reported version', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('is read once if it has the version', async () => {
    const { list, catching } = listed();
    catching.report(1);
    await vi.advanceTimersByTimeAsync(10_000);
    expect([list.loaded, list.loads]).toEqual([1, 1]);
  });

  test('is read again until it has the version, a limited number of times', async () => {
    const { list, catching } = listed();
    catching.report(2);
    await vi.advanceTimersByTimeAsync(400);
    list.stored = 2;
    await vi.advanceTimersByTimeAsync(10_000);
    expect([list.loaded, list.loads]).toEqual([2, 2]);
    catching.report(3);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(list.loads).toBe(5);
  });

  test('is read for a version that it must have, unless it has it', async () => {
    const { list, catching } = listed();
    catching.expect(2);
    await vi.advanceTimersByTimeAsync(400);
    list.stored = 2;
    await vi.advanceTimersByTimeAsync(10_000);
    expect([list.loaded, list.loads]).toEqual([2, 2]);
    catching.expect(2);
    catching.expect(0);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(list.loads).toBe(2);
  });

  test.for([0, 50, 300])('is read although a report about other issues follows %i ms later', async (later) => {
    const { list, catching } = listed();
    catching.report(2);
    await vi.advanceTimersByTimeAsync(later);
    catching.report(null);
    list.stored = 2;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(list.loaded).toBe(2);
  });

  test('still waits for a version after a report without versions', async () => {
    const { list, catching } = listed();
    catching.report(2);
    await vi.advanceTimersByTimeAsync(50);
    catching.report(0);
    await vi.advanceTimersByTimeAsync(200);
    list.stored = 2;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(list.loaded).toBe(2);
  });

  test('is not read after it is closed', async () => {
    const { list, catching } = listed();
    catching.report(2);
    catching.close();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(list.loads).toBe(0);
  });
});
