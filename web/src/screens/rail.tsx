/** The views of the open project and the other projects, at its left. It folds away, and stays so in this browser. */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { found, type Projects } from '../project/projects';
import { addressOfProject, follow } from '../router';
import { words } from '../words';

const KEY = 'gridview.rail';
/** In a window narrower than this, the rail begins collapsed, to leave room for the grid. */
const NARROW = '(max-width: 760px)';

export const railOpen = signal(window.localStorage.getItem(KEY) !== 'closed' && !window.matchMedia(NARROW).matches);

export function toggleRail(): void {
  railOpen.value = !railOpen.value;
  if (!window.matchMedia(NARROW).matches) window.localStorage.setItem(KEY, railOpen.value ? 'open' : 'closed');
}

/** From this number of projects on they can be searched. */
const MANY = 8;

interface RailProps {
  readonly projects: Projects;
  /** The open project. */
  readonly open: string;
  /** The content above the projects. */
  readonly children?: ComponentChildren;
}

export function Rail({ projects, open, children }: RailProps) {
  const [wanted, setWanted] = useState('');
  const listed = projects.listed.value;
  const all = listed.kind === 'ready' ? listed.projects : [];
  return (
    <div id="rail" class="rail">
      {children}
      <nav aria-label={words.projects.title}>
        {all.length > MANY && (
          <input
            type="search"
            aria-label={words.projects.search}
            placeholder={words.projects.search}
            value={wanted}
            onInput={(event) => setWanted(event.currentTarget.value)}
          />
        )}
        {listed.kind === 'loading' && <p class="soft">{words.loading}</p>}
        {listed.kind === 'failed' && <p class="soft">{words.projects.failed}</p>}
        <ul>
          {found(all, wanted).map(({ id, name }) => (
            <li key={id}>
              <a href={addressOfProject(id)} onClick={follow} aria-current={id === open ? 'page' : undefined} title={name}>
                {name}
              </a>
            </li>
          ))}
        </ul>
        <a class="button" href="/" onClick={follow}>
          {words.unknown.back}
        </a>
      </nav>
    </div>
  );
}
