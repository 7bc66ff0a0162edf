/**
 * What belongs to one signed-in user in this tab: the client with its consistency tokens, and unsent comments.
 *
 * A session that has ended keeps its scope, so that the page goes on when the same user signs in again. Until then all
 * requests wait. When the user signs out, or another one signs in, the scope ends, and its waiting requests fail.
 */
import { effect, signal, type ReadonlySignal, type Signal } from '@preact/signals';
import { Api, type Signer } from '../api/client';
import { SignedOutError } from '../api/problem';
import { isSameUser, unchanged, type Session, type User } from '../auth/session';
import { writeQueue as sharedQueue, type WriteQueue } from '../edits/write-queue';
import { words } from '../words';
import { UserDrafts } from './comment-drafts';

export class UserScope {
  readonly user: Signal<User>;
  readonly api: Api;
  readonly drafts = new UserDrafts();
  private readonly ending = new AbortController();

  constructor(session: Session, user: User, fetch?: typeof globalThis.fetch) {
    this.user = signal(user);
    this.api = new Api(new UserSigner(session, user, this.ending.signal), fetch);
  }

  end(): void {
    this.ending.abort(new SignedOutError(words.signIn.notSent));
  }
}

/** The scope of the user whose page this is; null while there is none. */
export function followUser(
  session: Session,
  writeQueue: WriteQueue = sharedQueue,
  fetch?: typeof globalThis.fetch,
): ReadonlySignal<UserScope | null> {
  const scope = signal<UserScope | null>(null);
  const replace = (next: UserScope | null) => {
    scope.peek()?.end();
    scope.value = next;
    // What waits there must fail at once, before anyone else signs in.
    writeQueue.retry();
  };
  effect(() => {
    const state = session.state.value;
    const before = scope.peek();
    if (state.kind === 'signedOut' && !state.expired) replace(null);
    if (state.kind !== 'signedIn') return;
    const known = before?.user.peek();
    if (before && known && isSameUser(known, state.user)) before.user.value = unchanged(known, state.user);
    else replace(new UserScope(session, state.user, fetch));
  });
  return scope;
}

/** Signs the requests of one user, and no others. */
class UserSigner implements Signer {
  readonly waits = true;

  constructor(
    private readonly session: Session,
    private readonly user: User,
    private readonly ending: AbortSignal,
  ) {}

  async sign(headers: Headers, signal?: AbortSignal): Promise<void> {
    // The session may end while it signs.
    do {
      await until(this.session.state, (state) => this.isSignedIn(state), signal ? AbortSignal.any([this.ending, signal]) : this.ending);
      await this.session.sign(headers);
    } while (!this.isSignedIn());
  }

  /** An answer may be late: it does not end the session of the next user. */
  expired(): void {
    if (!this.ending.aborted && this.isSignedIn()) this.session.expired();
  }

  private isSignedIn(state = this.session.state.peek()): boolean {
    return state.kind === 'signedIn' && isSameUser(state.user, this.user);
  }
}

/** Resolves as soon as a signal has such a value. Rejects with the reason of the abort. */
async function until<T>(source: ReadonlySignal<T>, isSuch: (value: T) => boolean, abort: AbortSignal): Promise<void> {
  abort.throwIfAborted();
  if (isSuch(source.peek())) return;
  let stop = (): void => undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      abort.addEventListener('abort', () => reject(abort.reason as Error), { once: true });
      stop = source.subscribe((value) => {
        if (isSuch(value)) resolve();
      });
    });
  } finally {
    stop();
  }
}
