import { expect, it, vi } from 'vitest';
import { Api } from '../src/api/client';
import { OfflineError } from '../src/api/problem';
import { Counting } from '../src/project/counting';

/** An API that answers when the test wants, in any order. */
function counting() {
  const open: { answer: (matched: number) => void; fail: (error: unknown) => void }[] = [];
  const fetch: typeof globalThis.fetch = (_, request) =>
    new Promise((resolve, reject) => {
      request?.signal?.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
      open.push({ answer: (matched) => resolve(Response.json({ rows: [], matched, total: 9 })), fail: reject });
    });
  const counted = vi.fn();
  const api = new Api({ sign: () => Promise.resolve(), expired: vi.fn() }, fetch);
  return { open, counted, one: new Counting(api, 'p', counted) };
}

it('the last requested count wins, whichever answer arrives first', async () => {
  const { open, counted, one } = counting();
  void one.ask(null);
  const second = one.ask({ field: 'state', op: 'eq', value: 'open' });
  await vi.waitFor(() => expect(open).toHaveLength(2));
  open[1]?.answer(3);
  open[0]?.answer(7);
  await second;
  expect(one.counts.value).toEqual({ matched: 3, total: 9 });
  expect(counted.mock.calls).toEqual([[{ matched: 3, total: 9 }]]);
});

it('a repeated count keeps the former number until the answer; a count of another filter clears it', async () => {
  const { open, one } = counting();
  const first = one.ask(null);
  await vi.waitFor(() => expect(open).toHaveLength(1));
  open[0]?.answer(3);
  await first;
  void one.ask(null, { again: true });
  expect(one.counts.value?.matched).toBe(3);
  void one.ask(null);
  expect(one.counts.value).toBeNull();
});

it('a count that the browser aborts reports a failure and ends', async () => {
  const { open, one } = counting();
  const asked = one.ask(null);
  await vi.waitFor(() => expect(open).toHaveLength(1));
  open[0]?.fail(new DOMException('The user aborted a request.', 'AbortError'));
  await asked;
  expect(one.counts.value).toBeNull();
  expect(one.error.value).toBeInstanceOf(OfflineError);
});

it('a new row is counted while the other rows stay', async () => {
  const { open, counted, one } = counting();
  const first = one.ask(null);
  await vi.waitFor(() => expect(open).toHaveLength(1));
  open[0]?.answer(8);
  await first;
  const again = one.recount(null);
  await vi.waitFor(() => expect(open).toHaveLength(2));
  open[1]?.answer(9);
  await again;
  expect(one.counts.value).toMatchObject({ matched: 9 });
  expect(counted).toHaveBeenCalledOnce();
});
