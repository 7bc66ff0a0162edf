import { describe, expect, it } from 'vitest';
import { Fresh } from '../src/project/fresh';

/** A call that ends when the test says so. */
class HeldCall {
  resolve: (value: string) => void = () => undefined;
  reject: (error: Error) => void = () => undefined;
  private readonly answer = new Promise<string>((resolve, reject) => Object.assign(this, { resolve, reject }));
  readonly call = () => this.answer;
}

/** Everything that can go on without a call that is held does so. */
const settled = () => new Promise((resolve) => setTimeout(resolve));

describe('a read of what the user changes', () => {
  it('is the answer, if nothing changes', async () => {
    expect(await new Fresh().read(() => Promise.resolve('it'))).toBe('it');
  });

  it('is repeated after a change that began meanwhile', async () => {
    const fresh = new Fresh();
    const [first, change] = [new HeldCall(), new HeldCall()];
    const calls = [first.call, () => Promise.resolve('after')];
    let count = 0;
    const answer = fresh.read(() => calls[count++]?.() ?? Promise.reject(new Error('a third read')));
    await settled();
    const changed = fresh.change(change.call);
    first.resolve('before');
    await settled();
    expect(count).toBe(1);
    change.resolve('changed');
    expect(await changed).toBe('changed');
    expect(await answer).toBe('after');
  });

  it('waits for the changes that were begun, also for one that fails', async () => {
    const fresh = new Fresh();
    const changes = [new HeldCall(), new HeldCall()];
    const made = changes.map(({ call }) => fresh.change(call).catch(String));
    let count = 0;
    const answer = fresh.read(() => Promise.resolve((count += 1)));
    changes[0]?.reject(new Error('refused'));
    await settled();
    expect(count).toBe(0);
    changes[1]?.resolve('changed');
    expect(await answer).toBe(1);
    expect(await Promise.all(made)).toEqual(['Error: refused', 'changed']);
  });

  it('waits for changes in turn, each of which begins after the ones before, also after one that fails', async () => {
    const fresh = new Fresh();
    const calls = [new HeldCall(), new HeldCall(), new HeldCall()];
    const begun: number[] = [];
    const made = calls.map(({ call }, at) => fresh.changeInTurn(() => (begun.push(at), call())).catch(String));
    let reads = 0;
    const answer = fresh.read(() => Promise.resolve((reads += 1)));
    await settled();
    expect(begun).toEqual([0]);
    calls[0]?.resolve('first');
    await settled();
    expect(begun).toEqual([0, 1]);
    calls[1]?.reject(new Error('refused'));
    await settled();
    expect([begun, reads]).toEqual([[0, 1, 2], 0]);
    calls[2]?.resolve('third');
    expect(await answer).toBe(1);
    expect(await Promise.all(made)).toEqual(['first', 'Error: refused', 'third']);
  });

  it('is repeated if a change elsewhere was reported', async () => {
    const fresh = new Fresh();
    const first = new HeldCall();
    const calls = [first.call, () => Promise.resolve('after')];
    const answer = fresh.read(() => calls.shift()?.() ?? Promise.reject(new Error('a third read')));
    await settled();
    fresh.outdate();
    first.resolve('before');
    expect(await answer).toBe('after');
  });

  it('fails as the call does', async () => {
    await expect(new Fresh().read(() => Promise.reject(new Error('offline')))).rejects.toThrow('offline');
  });
});
