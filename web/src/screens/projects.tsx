/** The tenant's projects in name order, with a way to create one. */
import { useMemo, useState } from 'preact/hooks';
import type { Api } from '../api/client';
import { permits, type Person, type Session } from '../auth/session';
import type { UserDrafts } from '../project/comment-drafts';
import { People } from '../project/people';
import { found, type Projects } from '../project/projects';
import { addressOfProject, follow } from '../router';
import { Icon } from '../ui/icon';
import { Refusal } from '../ui/refusal';
import { words } from '../words';
import { CreateProject } from './create-project';
import { DeletedSection, JustDeleted } from './deleted-section';
import { Frame } from './frame';

interface ProjectsScreenProps {
  readonly api: Api;
  readonly session: Session;
  readonly user: Person;
  readonly drafts: UserDrafts;
  readonly projects: Projects;
}

export function ProjectsScreen({ api, session, user, drafts, projects }: ProjectsScreenProps) {
  const [wanted, setWanted] = useState('');
  const [creating, setCreating] = useState(false);
  const people = useMemo(() => new People(api), [api]);
  const isAdmin = permits(user.role, 'admin');
  const listed = projects.listed.value;
  const all = listed.kind === 'ready' ? listed.projects : [];
  const hasSome = listed.kind !== 'ready' || all.length > 0;
  const shown = found(all, wanted);
  return (
    <Frame session={session} user={user} drafts={drafts} title={words.projects.title}>
      <div class="projects">
        {isAdmin && <JustDeleted deleted={projects.deleted} textOf={words.deletedProjects.just} />}
        <div class="row">
          <input
            type="search"
            aria-label={words.projects.search}
            placeholder={words.projects.search}
            value={wanted}
            onInput={(event) => setWanted(event.currentTarget.value)}
          />
          {isAdmin && hasSome && <Create onCreate={() => setCreating(true)} />}
        </div>
        {listed.kind === 'loading' && <p aria-busy="true">{words.loading}</p>}
        {listed.kind === 'failed' && (
          <Refusal error={listed.error} title={words.projects.failed} onRetry={() => void projects.load()} />
        )}
        {listed.kind === 'ready' && shown.length === 0 && (
          <div class="nothing">
            <p>{hasSome ? words.projects.noneFound : words.projects.none}</p>
            {!isAdmin && !hasSome && <p>{words.projects.noneWhy}</p>}
            {isAdmin && !hasSome && <Create onCreate={() => setCreating(true)} />}
          </div>
        )}
        <ul>
          {shown.map(({ id, name }) => (
            <li key={id}>
              <a href={addressOfProject(id)} onClick={follow}>
                <span>{name}</span>
                <code>{id}</code>
              </a>
            </li>
          ))}
        </ul>
        {isAdmin && <DeletedSection deleted={projects.deleted} people={people} texts={words.deletedProjects} />}
      </div>
      {creating && <CreateProject api={api} projects={projects} onClose={() => setCreating(false)} />}
    </Frame>
  );
}

function Create({ onCreate }: { readonly onCreate: () => void }) {
  return (
    <button class="button primary" type="button" onClick={onCreate}>
      <Icon name="plus" />
      {words.projects.create}
    </button>
  );
}
