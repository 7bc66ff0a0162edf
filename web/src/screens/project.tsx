/** A project: its grid, with the status line below. */
import { useEffect, useMemo } from 'preact/hooks';
import type { Api } from '../api/client';
import type { Session, User } from '../auth/session';
import { GridView } from '../grid/grid-view';
import { ProjectModel } from '../project/model';
import { loadProject } from '../project/queries';
import type { Project } from '../api/types';
import { words } from '../words';
import { Frame } from './frame';
import { useResource } from './resource';

interface ProjectScreenProps {
  readonly api: Api;
  readonly session: Session;
  readonly user: User;
  readonly id: string;
}

export function ProjectScreen({ api, session, user, id }: ProjectScreenProps) {
  const [project, reload] = useResource((signal) => loadProject(api, id, signal), [api, id]);
  return (
    <Frame session={session} user={user} title={project.kind === 'ready' ? project.value.name : id}>
      {project.kind === 'loading' && <p aria-busy="true">{words.loading}</p>}
      {project.kind === 'failed' && (
        <p role="alert">
          {words.project.failed} {String(project.error)}{' '}
          <button class="button" type="button" onClick={reload}>
            {words.retry}
          </button>
        </p>
      )}
      {project.kind === 'ready' && <OpenProject api={api} project={project.value} user={user} />}
    </Frame>
  );
}

function OpenProject({ api, project, user }: { readonly api: Api; readonly project: Project; readonly user: User }) {
  const model = useMemo(() => new ProjectModel(api, project, user.role), [api, project, user.role]);
  useEffect(() => () => model.close(), [model]);
  return (
    <div class="workspace">
      <GridView model={model} />
      <StatusLine model={model} />
    </div>
  );
}

function StatusLine({ model }: { readonly model: ProjectModel }) {
  const counts = model.counts.value;
  return (
    <div class="status-line" role="status">
      {words.project.shown(counts?.matched ?? null, counts?.total ?? null)}
    </div>
  );
}
