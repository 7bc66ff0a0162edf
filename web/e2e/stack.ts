/** The running stack: its sign-in, and its API. */
import type { Browser, Cookie } from 'playwright-core';
import { Api } from '../src/api/client';
import type { User } from '../src/auth/session';
import { Visit } from './browser';

export const ADMIN: User = { tenant: '0807', user: 'ada', role: 'admin' };

const SESSION = '/local/session';

export class Stack {
  private constructor(
    readonly origin: string,
    /** The cookies that the key in the address bought, with no user signed in. */
    readonly entrance: readonly Cookie[],
  ) {}

  /** Open the address that `./dev up` prints, as a user does. This spends its key. */
  static async enter(browser: Browser, address: string): Promise<Stack> {
    if (!address) throw new Error('GRIDVIEW_PAGE has to be the address that ./dev up prints for a browser.');
    const { origin } = new URL(address);
    const visit = await Visit.begin(browser, origin, []);
    await visit.page.goto(address);
    await visit.page.getByRole('button', { name: 'Sign in' }).waitFor();
    const cookies = await visit.context.cookies();
    await visit.context.close();
    return new Stack(origin, cookies);
  }

  /** The cookies of a signed-in user. */
  async cookiesOf(user: User): Promise<readonly Cookie[]> {
    const answer = await fetch(this.origin + SESSION, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json', Cookie: textOf(this.entrance) },
      body: JSON.stringify(user),
    });
    const [name, value] = /^([^=]+)=([^;]*)/.exec(answer.headers.get('Set-Cookie') ?? '')?.slice(1) ?? [];
    return this.entrance.map((cookie) => (cookie.name === name && value !== undefined ? { ...cookie, value } : cookie));
  }

  /** The API for a signed-in user, through the page's own client. */
  async api(user: User): Promise<Api> {
    const cookie = textOf(await this.cookiesOf(user));
    const session = {
      sign: (headers: Headers) => {
        headers.set('Cookie', cookie);
        return Promise.resolve();
      },
      expired: () => undefined,
    };
    // The client names only paths.
    return new Api(session, (path, request) => {
      // Tests that poll the index by this client get answers for a user without recent writes.
      const headers = new Headers(request?.headers);
      headers.delete('X-Consistency-Token');
      return fetch(new URL(path as string, this.origin), { ...request, headers });
    });
  }
}

function textOf(cookies: readonly Cookie[]): string {
  return cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
}
