/** Chooses the screen for an address, with the sign-in before all of them. */
import type { ReadonlySignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Person, Session } from './auth/session';
import { Projects } from './project/projects';
import type { UserScope } from './project/user-scope';
import { follow, route } from './router';
import { Notice } from './screens/notice';
import { ProjectScreen } from './screens/project';
import { ProjectsScreen } from './screens/projects';
import { useResource } from './screens/resource';
import { SessionEnded } from './screens/session-ended';
import { SignIn } from './screens/sign-in';
import { words } from './words';

interface AppProps {
  readonly session: Session;
  readonly scope: ReadonlySignal<UserScope | null>;
}

export function App({ session, scope: { value: scope } }: AppProps) {
  const state = session.state.value;
  if (scope) {
    const user = scope.user.value;
    return (
      <>
        <SignedIn key={`${user.tenant} ${user.user}`} session={session} scope={scope} />
        {state.kind !== 'signedIn' && state.kind !== 'starting' && (
          <SessionEnded session={session} state={state} user={user} drafts={scope.drafts} />
        )}
      </>
    );
  }
  if (state.kind === 'starting' || state.kind === 'signedIn') return <Notice title={words.loading} busy />;
  return <SignIn session={session} state={state} />;
}

function SignedIn({ session, scope }: { readonly session: Session; readonly scope: UserScope }) {
  const { api, drafts } = scope;
  const user = scope.user.value;
  const projects = useMemo(() => new Projects(api), [api, user]);
  // The call also registers the name, so that others find this user.
  const [me] = useResource(async (signal) => (await api.call('GET', '/v1/me', { signal })).body, [api, user]);
  const person: Person = { ...user, name: me.kind === 'ready' ? me.value.name : user.user };
  const at = route.value;
  switch (at.screen) {
    case 'projects':
      return <ProjectsScreen api={api} session={session} user={person} drafts={drafts} projects={projects} />;
    case 'project':
      return <ProjectScreen key={at.project} api={api} session={session} user={person} drafts={drafts} projects={projects} id={at.project} />;
    case 'unknown':
      return (
        <Notice title={words.unknown.title}>
          <a class="button" href="/" onClick={follow}>
            {words.unknown.back}
          </a>
        </Notice>
      );
  }
}
