/** Chooses the screen for an address, with the sign-in before all of them. */
import { useMemo } from 'preact/hooks';
import type { Api } from './api/client';
import type { Person, Session, User } from './auth/session';
import { Projects } from './project/projects';
import { follow, route } from './router';
import { Notice } from './screens/notice';
import { ProjectScreen } from './screens/project';
import { ProjectsScreen } from './screens/projects';
import { useResource } from './screens/resource';
import { SignIn } from './screens/sign-in';
import { words } from './words';

export function App({ session, api }: { readonly session: Session; readonly api: Api }) {
  const state = session.state.value;
  if (state.kind === 'starting') return <Notice title={words.loading} busy />;
  if (state.kind !== 'signedIn') return <SignIn session={session} state={state} />;
  return <SignedIn session={session} api={api} user={state.user} />;
}

function SignedIn({ session, api, user }: { readonly session: Session; readonly api: Api; readonly user: User }) {
  const projects = useMemo(() => new Projects(api), [api, user]);
  // The call also registers the name, so that others find this user.
  const [me] = useResource(async (signal) => (await api.call('GET', '/v1/me', { signal })).body, [api, user]);
  const person: Person = { ...user, name: me.kind === 'ready' ? me.value.name : user.user };
  const at = route.value;
  switch (at.screen) {
    case 'projects':
      return <ProjectsScreen api={api} session={session} user={person} projects={projects} />;
    case 'project':
      return <ProjectScreen key={at.project} api={api} session={session} user={person} projects={projects} id={at.project} />;
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
