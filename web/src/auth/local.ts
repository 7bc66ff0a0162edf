/** The session of `./dev up`: a key in the address buys a cookie that no script can read; the page asks for a user. */
import { signal } from '@preact/signals';
import { isRole, type Session, type SessionState, type User } from './session';

const ADDRESS = '/local/session';

export class LocalSession implements Session {
  readonly choosesUser = true;
  readonly state = signal<SessionState>({ kind: 'starting' });

  constructor(
    private readonly fetch: typeof globalThis.fetch = (...request) => globalThis.fetch(...request),
    private readonly page: Pick<Window, 'location' | 'history'> = window,
  ) {}

  async start(): Promise<void> {
    try {
      const key = this.takeKey();
      // A key works once. A reloaded tab has its cookie, so the answer does not matter.
      if (key !== null) await this.send('POST', { key });
      this.state.value = await this.known();
    } catch (error) {
      this.state.value = { kind: 'failed', reason: String(error) };
    }
  }

  async signIn(user?: User): Promise<void> {
    try {
      const answer = await this.send('PUT', user);
      if (answer.ok && user) this.state.value = { kind: 'signedIn', user };
      else this.state.value = answer.status === 401 ? { kind: 'locked' } : { kind: 'failed', reason: await reasonIn(answer) };
    } catch (error) {
      this.state.value = { kind: 'failed', reason: String(error) };
    }
  }

  async signOut(): Promise<void> {
    await this.send('DELETE');
    this.state.value = { kind: 'signedOut', expired: false };
  }

  /** The browser adds the cookie by itself. */
  sign(): Promise<void> {
    return Promise.resolve();
  }

  expired(): void {
    this.state.value = { kind: 'signedOut', expired: true };
  }

  /** The key in the address. It is removed from the address at once, since addresses are kept in histories. */
  private takeKey(): string | null {
    const { location, history } = this.page;
    const key = new URLSearchParams(location.hash.slice(1)).get('key');
    if (key !== null) history.replaceState(history.state, '', location.pathname + location.search);
    return key;
  }

  private async known(): Promise<SessionState> {
    const answer = await this.send('GET');
    if (answer.status === 401) return { kind: 'locked' };
    if (!answer.ok) return { kind: 'failed', reason: await reasonIn(answer) };
    const { tenant, user, role } = (await answer.json()) as Record<keyof User, string | null>;
    return tenant !== null && user !== null && isRole(role)
      ? { kind: 'signedIn', user: { tenant, user, role } }
      : { kind: 'signedOut', expired: false };
  }

  private send(method: string, body?: unknown): Promise<Response> {
    return this.fetch(ADDRESS, {
      method,
      headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
  }
}

async function reasonIn(answer: Response): Promise<string> {
  const problem = (await answer.json().catch(() => ({}))) as { detail?: string };
  return problem.detail ?? `${answer.status} ${answer.statusText}`;
}
