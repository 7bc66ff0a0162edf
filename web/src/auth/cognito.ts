/**
 * Cognito's managed login: the authorization code grant with PKCE.
 *
 * Tokens are kept only in this object. `sessionStorage` holds the verifier, the state and the address to return to,
 * from the redirect to the callback. A page that is loaded again has no token: it redirects, and Cognito's own session
 * answers at once.
 */
import { signal } from '@preact/signals';
import type { CognitoConfig } from './config';
import { makeChallenge, randomText } from './pkce';
import { OfflineError } from '../api/problem';
import { isRole, unchanged, type Session, type SessionState, type User } from './session';
import { words } from '../words';

const PENDING = 'gridview.sign-in';
const CALLBACK = '/callback';

/** Seconds before its end at which a token is renewed. */
const EARLY = 60;

/** The answers by which Cognito ends a session: the grant is no longer valid, or the client is not. */
const ENDING: ReadonlySet<number> = new Set([400, 401]);

/** Cognito answered that it does not accept the grant. */
class GrantRefused extends Error {}

interface Pending {
  readonly verifier: string;
  readonly state: string;
  readonly returnTo: string;
}

interface Tokens {
  readonly id: string;
  readonly refresh: string | null;
  /** Milliseconds since 1970 from which on the token is renewed before it is used. */
  readonly renewAt: number;
}

/** The parts of the browser that the session needs, so that tests can replace them. */
export interface Browser {
  readonly location: Pick<Location, 'origin' | 'pathname' | 'search' | 'assign'>;
  readonly history: Pick<History, 'replaceState'>;
  readonly sessionStorage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
  fetch(address: string, request: RequestInit): Promise<Response>;
  now(): number;
}

export class CognitoSession implements Session {
  readonly choosesUser = false;
  readonly state = signal<SessionState>({ kind: 'starting' });
  private tokens: Tokens | null = null;
  private renewal: Promise<void> | null = null;

  constructor(
    private readonly config: CognitoConfig,
    private readonly browser: Browser = {
      location: window.location,
      history: window.history,
      sessionStorage: window.sessionStorage,
      fetch: (address, request) => fetch(address, request),
      now: () => Date.now(),
    },
  ) {}

  async start(): Promise<void> {
    const { location } = this.browser;
    if (location.pathname !== CALLBACK) return this.signIn();
    const parameters = new URLSearchParams(location.search);
    const pending = this.takePending();
    const code = parameters.get('code');
    const isOurs = pending !== null && parameters.get('state') === pending.state;
    this.browser.history.replaceState(null, '', pending?.returnTo ?? '/');
    if (!isOurs || code === null) {
      this.fail(isOurs ? whyRefused(parameters) : words.signIn.incomplete);
      return;
    }
    try {
      this.keep(
        await this.exchange({
          grant_type: 'authorization_code',
          code,
          redirect_uri: location.origin + CALLBACK,
          code_verifier: pending.verifier,
        }),
      );
    } catch {
      this.fail(words.signIn.notExchanged);
    }
  }

  async signIn(): Promise<void> {
    const { location, sessionStorage } = this.browser;
    const { verifier, challenge } = await makeChallenge();
    const atCallback = location.pathname === CALLBACK;
    const pending: Pending = {
      verifier,
      state: randomText(),
      returnTo: atCallback ? '/' : location.pathname + location.search,
    };
    sessionStorage.setItem(PENDING, JSON.stringify(pending));
    location.assign(
      this.address('/oauth2/authorize', {
        response_type: 'code',
        client_id: this.config.clientId,
        redirect_uri: location.origin + CALLBACK,
        scope: this.config.scopes.join(' '),
        state: pending.state,
        code_challenge: challenge,
        code_challenge_method: 'S256',
      }),
    );
  }

  signOut(): Promise<void> {
    this.tokens = null;
    this.state.value = { kind: 'signedOut', expired: false };
    this.browser.location.assign(
      this.address('/logout', { client_id: this.config.clientId, logout_uri: this.browser.location.origin + '/' }),
    );
    return Promise.resolve();
  }

  async sign(headers: Headers): Promise<void> {
    const tokens = await this.fresh();
    if (tokens) headers.set('Authorization', `Bearer ${tokens.id}`);
  }

  expired(): void {
    this.tokens = null;
    this.state.value = { kind: 'signedOut', expired: true };
  }

  /**
   * The tokens, renewed when they are about to end. Requests that come meanwhile wait for the same renewal. Throws
   * OfflineError if Cognito cannot renew them now: the session lasts until Cognito refuses it.
   */
  private async fresh(): Promise<Tokens | null> {
    const held = this.tokens;
    if (!held?.refresh || this.browser.now() < held.renewAt) return held;
    this.renewal ??= this.renew(held.refresh).finally(() => (this.renewal = null));
    await this.renewal;
    return this.tokens;
  }

  private async renew(refresh: string): Promise<void> {
    try {
      const tokens = await this.exchange({ grant_type: 'refresh_token', refresh_token: refresh }, refresh);
      if (!this.hasSignedOut()) this.keep(tokens);
    } catch (error) {
      if (!(error instanceof GrantRefused)) throw new OfflineError(String(error));
      if (!this.hasSignedOut()) this.expired();
    }
  }

  /** Whether the user has signed out, which an answer that comes later does not change. */
  private hasSignedOut(): boolean {
    const state = this.state.peek();
    return state.kind === 'signedOut' && !state.expired;
  }

  private keep(tokens: Tokens): void {
    this.tokens = tokens;
    const user = userIn(tokens.id);
    const state = this.state.peek();
    if (user && state.kind === 'signedIn' && unchanged(state.user, user) === state.user) return;
    if (user) this.state.value = { kind: 'signedIn', user };
    else this.fail(words.signIn.noRole);
  }

  private fail(reason: string): void {
    this.state.value = { kind: 'failed', reason };
  }

  private async exchange(grant: Record<string, string>, refresh: string | null = null): Promise<Tokens> {
    const answer = await this.browser.fetch(this.address('/oauth2/token'), {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ client_id: this.config.clientId, ...grant }).toString(),
    });
    if (ENDING.has(answer.status)) throw new GrantRefused(`Cognito refused the sign-in (${answer.status}).`);
    if (!answer.ok) throw new Error(`Cognito could not answer the sign-in (${answer.status}).`);
    const { id_token, refresh_token, expires_in } = (await answer.json()) as {
      id_token: string;
      refresh_token?: string;
      expires_in: number;
    };
    return {
      id: id_token,
      refresh: refresh_token ?? refresh,
      renewAt: this.browser.now() + (expires_in - EARLY) * 1000,
    };
  }

  private takePending(): Pending | null {
    const { sessionStorage } = this.browser;
    const kept = sessionStorage.getItem(PENDING);
    sessionStorage.removeItem(PENDING);
    return kept === null ? null : (JSON.parse(kept) as Pending);
  }

  private address(path: string, parameters?: Record<string, string>): string {
    const query = parameters ? `?${new URLSearchParams(parameters).toString()}` : '';
    return this.config.domain + path + query;
  }
}

/**
 * Why the login returns without a code. The text is the page's own, since anyone can make a link with an
 * `error_description`.
 */
function whyRefused(parameters: URLSearchParams): string {
  return words.signIn.refusals.get(parameters.get('error') ?? '') ?? words.signIn.incomplete;
}

/** The user whom the token names. Only shown here: the API checks it. */
function userIn(token: string): User | null {
  const payload = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
  const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0));
  const claims = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
  const { 'custom:tenant': tenant, 'custom:role': role, 'cognito:username': name, sub } = claims;
  const user = name ?? sub;
  return typeof tenant === 'string' && typeof user === 'string' && isRole(role) ? { tenant, user, role } : null;
}
