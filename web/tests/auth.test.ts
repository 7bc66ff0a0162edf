import { createHash } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { CognitoSession, type Browser } from '../src/auth/cognito';
import { OfflineError } from '../src/api/problem';
import { LocalSession } from '../src/auth/local';
import { makeChallenge } from '../src/auth/pkce';
import { initialsOf, permits } from '../src/auth/session';
import { words } from '../src/words';

const CONFIG = { auth: 'cognito', domain: 'https://login.example', clientId: 'c1', scopes: ['openid'] } as const;

function tokenOf(claims: Record<string, string>): string {
  return `x.${btoa(JSON.stringify(claims)).replaceAll('=', '')}.y`;
}
const ID = tokenOf({ 'custom:tenant': '0807', 'custom:role': 'editor', 'cognito:username': 'ada' });

/** A browser at an address; a redirect ends at `redirects`. */
function browserAt(pathname: string, search = '') {
  const storage = new Map<string, string>();
  const redirects: string[] = [];
  const replaced: string[] = [];
  let now = 0;
  const fetch = vi.fn<Browser['fetch']>(() =>
    Promise.resolve(Response.json({ id_token: ID, refresh_token: 'r1', expires_in: 3600 })),
  );
  const sent = (call: number) => new URLSearchParams(fetch.mock.calls[call]?.[1].body as string);
  const browser: Browser = {
    location: { origin: 'https://grid.example', pathname, search, assign: (address) => void redirects.push(String(address)) },
    history: { replaceState: (_data, _unused, address) => void replaced.push(String(address)) },
    sessionStorage: {
      getItem: (key) => storage.get(key) ?? null,
      setItem: (key, value) => void storage.set(key, value),
      removeItem: (key) => void storage.delete(key),
    },
    fetch,
    now: () => now,
  };
  return { browser, storage, redirects, replaced, fetch, sent, pass: (milliseconds: number) => (now += milliseconds) };
}

/** Go to the login and come back with a code. */
async function signedIn() {
  const away = browserAt('/projects/demo', '?sort=due');
  await new CognitoSession(CONFIG, away.browser).start();
  const asked = new URL(away.redirects[0] ?? '');
  const back = browserAt('/callback', `?code=k&state=${asked.searchParams.get('state') ?? ''}`);
  for (const [key, value] of away.storage) back.storage.set(key, value);
  const session = new CognitoSession(CONFIG, back.browser);
  await session.start();
  return { ...back, asked, session };
}

async function signed(session: CognitoSession): Promise<string | null> {
  const headers = new Headers();
  await session.sign(headers);
  return headers.get('Authorization');
}

describe('sign-in with Cognito', () => {
  it('redeems the code with the verifier, and returns to the former address', async () => {
    const { asked, session, sent, replaced, storage } = await signedIn();
    expect(asked.searchParams.get('code_challenge_method')).toBe('S256');
    expect(createHash('sha256').update(sent(0).get('code_verifier') ?? '').digest('base64url')).toBe(
      asked.searchParams.get('code_challenge'),
    );
    expect(sent(0).get('redirect_uri')).toBe(asked.searchParams.get('redirect_uri'));
    expect(replaced).toEqual(['/projects/demo?sort=due']);
    expect(session.state.value).toEqual({ kind: 'signedIn', user: { tenant: '0807', user: 'ada', role: 'editor' } });
    expect(await signed(session)).toBe(`Bearer ${ID}`);
    expect(storage.size).toBe(0);
  });

  it('refuses a callback with another state', async () => {
    const { browser, storage, fetch } = browserAt('/callback', '?code=k&state=forged');
    storage.set('gridview.sign-in', JSON.stringify({ verifier: 'v', state: 's', returnTo: '/' }));
    const session = new CognitoSession(CONFIG, browser);
    await session.start();
    expect(session.state.value.kind).toBe('failed');
    expect(fetch).not.toHaveBeenCalled();
  });

  it.each([
    ['a link without a sign-in', '?error=access_denied&error_description=Call%20%2B1%20555%200100', false],
    ['a forged state', '?error=access_denied&error_description=Call%20%2B1%20555%200100&state=forged', true],
    ['an unknown code', '?error=Call%20%2B1%20555%200100&state=s', true],
    ['a code that every object has', '?error=constructor&error_description=Call%20%2B1%20555%200100&state=s', true],
    ['no code', '?error_description=Call%20%2B1%20555%200100&state=s', true],
  ])('shows no text from the address: %s', async (_, search, began) => {
    const { browser, storage } = browserAt('/callback', search);
    if (began) storage.set('gridview.sign-in', JSON.stringify({ verifier: 'v', state: 's', returnTo: '/' }));
    const session = new CognitoSession(CONFIG, browser);
    await session.start();
    expect(session.state.value).toEqual({ kind: 'failed', reason: words.signIn.incomplete });
  });

  it.each(['access_denied', 'invalid_request', 'unauthorized_client', 'invalid_scope', 'server_error', 'temporarily_unavailable'])(
    'says what the code %s means, in its own words',
    async (code) => {
      const { browser, storage, fetch } = browserAt('/callback', `?error=${code}&error_description=Call%20%2B1%20555%200100&state=s`);
      storage.set('gridview.sign-in', JSON.stringify({ verifier: 'v', state: 's', returnTo: '/projects/demo' }));
      const session = new CognitoSession(CONFIG, browser);
      await session.start();
      expect(session.state.value).toMatchObject({ kind: 'failed', reason: words.signIn.refusals.get(code) });
      expect(JSON.stringify(session.state.value)).not.toContain('Call');
      expect(fetch).not.toHaveBeenCalled();
    },
  );

  it('shows no text from the answer of the token endpoint', async () => {
    const away = browserAt('/callback', '?code=k&state=s');
    for (const refused of [Response.json({ error_description: 'Call us' }, { status: 400 }), new Response('Call us')]) {
      away.storage.set('gridview.sign-in', JSON.stringify({ verifier: 'v', state: 's', returnTo: '/' }));
      away.fetch.mockResolvedValueOnce(refused);
      const session = new CognitoSession(CONFIG, away.browser);
      await session.start();
      expect(session.state.value).toEqual({ kind: 'failed', reason: words.signIn.notExchanged });
    }
  });

  it('renews the token before it expires, once for all waiting requests', async () => {
    const { session, fetch, sent, pass } = await signedIn();
    pass(3_539_000);
    await signed(session);
    expect(fetch).toHaveBeenCalledTimes(1);
    pass(2_000);
    await Promise.all([signed(session), signed(session)]);
    expect(fetch).toHaveBeenCalledTimes(2);
    expect(sent(1).get('refresh_token')).toBe('r1');
  });

  it.each([
    ['the network fails', () => Promise.reject(new TypeError('failed'))],
    ['it is busy', () => Promise.resolve(new Response('', { status: 429 }))],
    ['it fails', () => Promise.resolve(new Response('', { status: 503 }))],
    ['its answer breaks off', () => Promise.resolve(new Response('{"id_tok'))],
  ])('stays signed in if Cognito cannot renew the token now: %s', async (_, answer) => {
    const { session, fetch, pass } = await signedIn();
    pass(3_600_000);
    fetch.mockImplementationOnce(answer);
    await expect(signed(session)).rejects.toBeInstanceOf(OfflineError);
    expect(session.state.value.kind).toBe('signedIn');
    expect(await signed(session)).toBe(`Bearer ${ID}`);
  });

  it('keeps the user, unless the renewal names another role', async () => {
    const { session, fetch, pass } = await signedIn();
    const before = session.state.value;
    pass(3_600_000);
    await signed(session);
    expect(session.state.value).toBe(before);
    pass(3_600_000);
    const viewer = tokenOf({ 'custom:tenant': '0807', 'custom:role': 'viewer', 'cognito:username': 'ada' });
    fetch.mockResolvedValueOnce(Response.json({ id_token: viewer, expires_in: 3600 }));
    await signed(session);
    expect(session.state.value).toMatchObject({ kind: 'signedIn', user: { role: 'viewer' } });
  });

  it.each([200, 400])('stays signed out if a renewal ends later: %d', async (status) => {
    const { session, fetch, pass } = await signedIn();
    pass(3_600_000);
    fetch.mockResolvedValueOnce(Response.json({ id_token: ID, expires_in: 3600 }, { status }));
    const renewal = signed(session);
    await session.signOut();
    await renewal;
    expect(session.state.value).toEqual({ kind: 'signedOut', expired: false });
  });

  it.each([400, 401])('reports an ended session if Cognito refuses the renewal: %d', async (status) => {
    const { session, fetch, pass } = await signedIn();
    pass(3_600_000);
    fetch.mockResolvedValueOnce(new Response('', { status }));
    expect(await signed(session)).toBeNull();
    expect(session.state.value).toEqual({ kind: 'signedOut', expired: true });
  });
});

describe('the session of the local stack', () => {
  const local = (hash: string, answers: Record<string, Response>) => {
    const fetch = vi.fn((_: unknown, request?: RequestInit) =>
      Promise.resolve(answers[request?.method ?? ''] ?? new Response(null, { status: 204 })),
    );
    const replaceState = vi.fn();
    const page = { location: { hash, pathname: '/', search: '?a=1' }, history: { state: null, replaceState } };
    return { fetch, replaceState, session: new LocalSession(fetch, page as never) };
  };
  const ADA = { tenant: '0807', user: 'ada', role: 'admin' };

  it('removes the key from the address before sending it', async () => {
    const { session, fetch, replaceState } = local('#key=K', { GET: Response.json(ADA) });
    await session.start();
    expect(replaceState).toHaveBeenCalledWith(null, '', '/?a=1');
    expect(replaceState.mock.invocationCallOrder[0]).toBeLessThan(fetch.mock.invocationCallOrder[0] ?? 0);
    expect(fetch.mock.calls.map(([, request]) => [request?.method, request?.body])).toEqual([
      ['POST', '{"key":"K"}'],
      ['GET', null],
    ]);
    expect(session.state.value).toEqual({ kind: 'signedIn', user: ADA });
  });

  it('asks for a user, and is locked without a cookie', async () => {
    const anonymous = local('', { GET: Response.json({ tenant: null, user: null, role: null }) });
    await anonymous.session.start();
    expect(anonymous.session.state.value).toEqual({ kind: 'signedOut', expired: false });
    const locked = local('', { GET: new Response('{}', { status: 401 }) });
    await locked.session.start();
    expect(locked.session.state.value).toEqual({ kind: 'locked' });
  });

  it('reports that the stack has no answer to a sign-in', async () => {
    const { session, fetch } = local('', {});
    fetch.mockRejectedValueOnce(new TypeError('failed'));
    await session.signIn({ tenant: 'x', user: 'y', role: 'viewer' });
    expect(session.state.value.kind).toBe('failed');
  });

  it('reports why an identity is refused', async () => {
    const { session } = local('', { PUT: Response.json({ detail: 'No such role.' }, { status: 400 }) });
    await session.signIn({ tenant: 'x', user: 'y', role: 'viewer' });
    expect(session.state.value).toEqual({ kind: 'failed', reason: 'No such role.' });
  });
});

it('each challenge is new', async () => {
  expect((await makeChallenge()).verifier).not.toBe((await makeChallenge()).verifier);
});

it('roles have an order', () => {
  expect([permits('viewer', 'editor'), permits('admin', 'editor'), permits('editor', 'editor')]).toEqual([false, true, true]);
});

it('initials have one or two letters', () => {
  expect(['Ada Lovelace', 'ada', 'g.rossi', 'Ann van der Meer', 'Émile', '4711', ''].map(initialsOf)).toEqual(['AL', 'A', 'GR', 'AM', 'É', '4', '']);
});
