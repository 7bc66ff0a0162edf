import { signal } from '@preact/signals';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SignedOutError } from '../src/api/problem';
import type { Session, SessionState, User } from '../src/auth/session';
import { WriteQueue } from '../src/edits/write-queue';
import { followUser, type UserScope } from '../src/project/user-scope';

const ADA: User = { tenant: '0807', user: 'ada', role: 'admin' };
const BOB: User = { tenant: '0807', user: 'bob', role: 'admin' };

/** The page of Ada, at an API that gives these answers and then accepts everything. */
function pageOfAda(...answers: readonly Response[]) {
  const left = [...answers];
  const state = signal<SessionState>({ kind: 'starting' });
  const to = (next: SessionState) => {
    state.value = next;
    return Promise.resolve();
  };
  const session: Session = {
    state,
    choosesUser: true,
    start: () => Promise.resolve(),
    signIn: (user) => to({ kind: 'signedIn', user: user ?? ADA }),
    signOut: () => to({ kind: 'signedOut', expired: false }),
    sign: (headers) => {
      if (state.peek().kind === 'signedIn') headers.set('Authorization', JSON.stringify(state.peek()));
      return Promise.resolve();
    },
    expired: () => void to({ kind: 'signedOut', expired: true }),
  };
  const fetch = vi.fn<typeof globalThis.fetch>(() => Promise.resolve(left.shift() ?? Response.json({})));
  const writeQueue = new WriteQueue();
  const scope = followUser(session, writeQueue, fetch);
  void to({ kind: 'signedIn', user: ADA });
  return { session, fetch, writeQueue, scope, ada: present(scope) };
}

function present(scope: ReturnType<typeof followUser>): UserScope {
  if (!scope.value) throw new Error('Nobody is signed in.');
  return scope.value;
}

const ENDED = () => new Response('{"message":"Unauthorized"}', { status: 401 });
const BUSY = () => new Response('{}', { status: 503, headers: { 'Retry-After': '15' } });

const write = ({ api }: UserScope) => api.request('PATCH', '/v1/projects/p/issues/7', { body: { name: 'Ada' } });
const read = ({ api }: UserScope) => api.request('POST', '/v1/projects/p/grid', { body: {} });

describe('the scope of a user', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it('keeps writes and reads of an ended session until the same user signs in again', async () => {
    const { session, fetch, writeQueue, scope, ada } = pageOfAda(ENDED());
    const written = writeQueue.send(() => write(ada));
    await vi.advanceTimersByTimeAsync(0);
    const seen = read(ada);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(session.state.value).toEqual({ kind: 'signedOut', expired: true });
    expect([fetch.mock.calls.length, scope.value]).toEqual([1, ada]);
    await session.signIn({ ...ADA });
    await Promise.all([written, seen]);
    expect(scope.value).toBe(ada);
    expect(fetch.mock.calls.map(([address]) => address)).toEqual(['/v1/projects/p/issues/7', '/v1/projects/p/issues/7', '/v1/projects/p/grid']);
    expect(fetch.mock.calls[1]?.[1]).toMatchObject({ method: 'PATCH', body: '{"name":"Ada"}' });
  });

  it('gives a waiting write up with words, before another user can send it', async () => {
    const { session, fetch, writeQueue, ada } = pageOfAda(BUSY());
    const written = writeQueue.send(() => write(ada)).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(0);
    await session.signOut();
    await session.signIn(BOB);
    const refused = await written;
    expect(refused).toBeInstanceOf(SignedOutError);
    expect((refused as Error).message).not.toBe('');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(fetch).toHaveBeenCalledOnce();
  });

  it.each(['ended', 'busy'])('gives writes up if another user signs in at the %s page', async (kind) => {
    const { session, fetch, writeQueue, ada } = pageOfAda(kind === 'ended' ? ENDED() : BUSY());
    const written = writeQueue.send(() => write(ada)).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(0);
    await session.signIn(BOB);
    expect(await written).toBeInstanceOf(SignedOutError);
    expect(fetch).toHaveBeenCalledOnce();
    await expect(write(ada)).rejects.toBeInstanceOf(SignedOutError);
  });

  it('does not end the session of the next user by a late answer', async () => {
    let answer: (response: Response) => void = () => undefined;
    const { session, fetch, ada } = pageOfAda();
    fetch.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
    const late = read(ada).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(0);
    await session.signIn(BOB);
    answer(ENDED());
    expect(await late).toBeInstanceOf(SignedOutError);
    expect(session.state.value).toEqual({ kind: 'signedIn', user: BOB });
  });

  it('gives another user neither tokens of writes nor unsent comments', async () => {
    const { session, fetch, scope, ada } = pageOfAda(Response.json({}, { headers: { 'X-Consistency-Token': 'of-ada' } }));
    await write(ada);
    ada.drafts.of('p').put('7', { text: 'mine', chosen: [] });
    await session.signIn(BOB);
    const bob = present(scope);
    await read(bob);
    expect(new Headers(fetch.mock.calls[1]?.[1]?.headers).get('X-Consistency-Token')).toBeNull();
    expect([bob.drafts.isEmpty, ada.drafts.isEmpty]).toEqual([true, false]);
  });

  it('ends a wait that its reader gives up', async () => {
    const { session, ada } = pageOfAda();
    session.expired();
    const request = new AbortController();
    const seen = ada.api.call('GET', '/v1/projects', { signal: request.signal });
    request.abort();
    await expect(seen).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('has another user object only if the role changes', async () => {
    const { session, scope, ada } = pageOfAda();
    await session.signIn({ ...ADA });
    expect(ada.user.value).toBe(ADA);
    await session.signIn({ ...ADA, role: 'viewer' });
    expect([scope.value, ada.user.value.role]).toEqual([ada, 'viewer']);
  });
});
