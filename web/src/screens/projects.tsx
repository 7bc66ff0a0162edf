/** The tenant's projects in name order. */
import { useState } from 'preact/hooks';
import type { Api } from '../api/client';
import type { Project } from '../api/types';
import type { Session, User } from '../auth/session';
import { addressOfProject, follow } from '../router';
import { words } from '../words';
import { Frame } from './frame';
import { useResource } from './resource';

const PAGE = 500;

interface ProjectsScreenProps {
  readonly api: Api;
  readonly session: Session;
  readonly user: User;
}

export function ProjectsScreen({ api, session, user }: ProjectsScreenProps) {
  const [projects, reload] = useResource((signal) => allProjects(api, signal), [api]);
  const [wanted, setWanted] = useState('');
  const found =
    projects.kind === 'ready'
      ? projects.value.filter(({ name }) => name.toLocaleLowerCase().includes(wanted.trim().toLocaleLowerCase()))
      : [];
  return (
    <Frame session={session} user={user} title={words.projects.title}>
      <div class="projects">
        <input
          type="search"
          aria-label={words.projects.search}
          placeholder={words.projects.search}
          value={wanted}
          onInput={(event) => setWanted(event.currentTarget.value)}
        />
        {projects.kind === 'loading' && <p aria-busy="true">{words.loading}</p>}
        {projects.kind === 'failed' && (
          <p role="alert">
            {words.projects.failed} {String(projects.error)}{' '}
            <button class="button" type="button" onClick={reload}>
              {words.retry}
            </button>
          </p>
        )}
        {projects.kind === 'ready' && found.length === 0 && (
          <p>{projects.value.length === 0 ? words.projects.none : words.projects.noneFound}</p>
        )}
        <ul>
          {found.map(({ id, name }) => (
            <li key={id}>
              <a href={addressOfProject(id)} onClick={follow}>
                <span>{name}</span>
                <code>{id}</code>
              </a>
            </li>
          ))}
        </ul>
      </div>
    </Frame>
  );
}

async function allProjects(api: Api, signal: AbortSignal): Promise<readonly Project[]> {
  const all: Project[] = [];
  let cursor: string | null = null;
  do {
    const { body }: { body: { items: Project[]; next: string | null } } = await api.call('GET', '/v1/projects', {
      query: { limit: PAGE, ...(cursor === null ? {} : { cursor }) },
      signal,
    });
    all.push(...body.items);
    cursor = body.next;
  } while (cursor !== null);
  return all;
}
