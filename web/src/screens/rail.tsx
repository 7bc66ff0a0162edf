/**
 * At the left of the open project: a switch to another one, and its views. It folds away, and stays so in this browser.
 */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Api } from '../api/client';
import { isComposing } from '../composing';
import { found, type Projects } from '../project/projects';
import { addressOfProject, follow, visit } from '../router';
import { Icon } from '../ui/icon';
import { keep, kept } from '../ui/kept';
import { Popover } from '../ui/popover';
import { words } from '../words';
import { CreateProject } from './create-project';

const KEY = 'gridview.rail';
/** In a window narrower than this, the rail begins collapsed, to leave room for the grid. */
const NARROW = '(max-width: 760px)';

export const railOpen = signal(kept(KEY) !== 'closed' && !window.matchMedia(NARROW).matches);

export function toggleRail(): void {
  railOpen.value = !railOpen.value;
  if (!window.matchMedia(NARROW).matches) keep(KEY, railOpen.value ? 'open' : 'closed');
}

interface RailProps {
  readonly api: Api;
  readonly projects: Projects;
  /** The id and the name of the open project. */
  readonly open: string;
  readonly name: string;
  readonly mayCreate: boolean;
  /** The content below the switch. */
  readonly children?: ComponentChildren;
}

export function Rail({ api, projects, open, name, mayCreate, children }: RailProps) {
  const [creating, setCreating] = useState(false);
  return (
    <div id="rail" class="rail">
      <Popover label={words.projects.switch(name)} shown={name} title={words.projects.title} icon="switch">
        {(close) => (
          <Switch
            projects={projects}
            open={open}
            close={close}
            {...(mayCreate && {
              onCreate: () => {
                close();
                setCreating(true);
              },
            })}
          />
        )}
      </Popover>
      {children}
      {creating && <CreateProject api={api} projects={projects} onClose={() => setCreating(false)} />}
    </div>
  );
}

interface SwitchProps {
  readonly projects: Projects;
  readonly open: string;
  readonly close: () => void;
  readonly onCreate?: () => void;
}

/** The projects, searched by typing. Enter opens the first one found. */
function Switch({ projects, open, close, onCreate }: SwitchProps) {
  const [wanted, setWanted] = useState('');
  const listed = projects.listed.value;
  const all = listed.kind === 'ready' ? listed.projects : [];
  const shown = found(all, wanted);
  const [first] = shown;
  return (
    <nav class="switch" aria-label={words.projects.title} onKeyDown={walk}>
      <input
        type="search"
        aria-label={words.projects.search}
        placeholder={words.projects.search}
        value={wanted}
        onInput={(event) => setWanted(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !first || isComposing(event)) return;
          close();
          visit(addressOfProject(first.id));
        }}
      />
      {listed.kind === 'loading' && <p class="soft">{words.loading}</p>}
      {listed.kind === 'failed' && (
        <p class="soft">
          {words.projects.failed}{' '}
          <button class="link-inline" type="button" onClick={() => void projects.load()}>
            {words.retry}
          </button>
        </p>
      )}
      {listed.kind === 'ready' && shown.length === 0 && <p class="soft">{words.projects.noneFound}</p>}
      <ul>
        {shown.map(({ id, name }) => (
          <li key={id}>
            <a href={addressOfProject(id)} onClick={(event) => leave(event, close)} aria-current={id === open ? 'page' : undefined} title={name}>
              {name}
            </a>
          </li>
        ))}
      </ul>
      <div class="row">
        {onCreate && (
          <button class="button" type="button" onClick={onCreate}>
            <Icon name="plus" />
            {words.projects.create}
          </button>
        )}
        <a class="button" href="/" onClick={(event) => leave(event, close)}>
          {words.unknown.back}
        </a>
      </div>
    </nav>
  );
}

function leave(event: MouseEvent, close: () => void): void {
  follow(event);
  if (event.defaultPrevented) close();
}

/** Arrow keys go through the search field and the projects. */
function walk(event: KeyboardEvent): void {
  if ((event.key !== 'ArrowDown' && event.key !== 'ArrowUp') || isComposing(event)) return;
  const stops = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('input, li a')];
  const at = stops.findIndex((one) => one === document.activeElement);
  stops[(at + (event.key === 'ArrowDown' ? 1 : stops.length - 1)) % stops.length]?.focus();
  event.preventDefault();
}
