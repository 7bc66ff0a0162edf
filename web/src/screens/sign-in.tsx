/** Signing in: the local stack asks for the user; in the cloud a button leads to the managed login. */
import { useState } from 'preact/hooks';
import { isRole, type Role, type Session, type SessionState } from '../auth/session';
import { words } from '../words';

type SignedOut = Exclude<SessionState, { kind: 'starting' } | { kind: 'signedIn' }>;

const ROLES: readonly Role[] = ['admin', 'editor', 'viewer'];

export function SignIn({ session, state }: { readonly session: Session; readonly state: SignedOut }) {
  const why = whyNotSignedIn(state);
  return (
    <main class="sign-in">
      <h1>{words.product}</h1>
      {why !== null && <p role="alert">{why}</p>}
      {session.choosesUser && state.kind !== 'locked' && <ChooseUser session={session} />}
      {!session.choosesUser && (
        <button class="button primary" type="button" onClick={() => void session.signIn()}>
          {words.signIn.submit}
        </button>
      )}
    </main>
  );
}

/** Why the user is not signed in; null if the user signed out. */
export function whyNotSignedIn(state: SignedOut): string | null {
  if (state.kind === 'locked') return words.signIn.locked;
  if (state.kind === 'failed') return `${words.signIn.failed} ${state.reason}`;
  return state.expired ? words.signIn.expired : null;
}

function ChooseUser({ session }: { readonly session: Session }) {
  const [tenant, setTenant] = useState('0807');
  const [user, setUser] = useState('ada');
  const [role, setRole] = useState<Role>('admin');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void session.signIn({ tenant, user, role });
      }}
    >
      <p>{words.signIn.hint}</p>
      <label>
        {words.signIn.tenant}
        <input required value={tenant} onInput={(event) => setTenant(event.currentTarget.value)} />
      </label>
      <label>
        {words.signIn.user}
        <input required value={user} onInput={(event) => setUser(event.currentTarget.value)} />
      </label>
      <label>
        {words.signIn.role}
        <select
          value={role}
          onChange={(event) => {
            if (isRole(event.currentTarget.value)) setRole(event.currentTarget.value);
          }}
        >
          {ROLES.map((one) => (
            <option key={one} value={one}>
              {words.roles[one]}
            </option>
          ))}
        </select>
      </label>
      <button class="button primary" type="submit">
        {words.signIn.submit}
      </button>
    </form>
  );
}
