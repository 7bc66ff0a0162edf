/** A project: the rail with its views, the toolbar, the grid, the status line, and the panels beside it. */
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Api } from '../api/client';
import { ApiError } from '../api/problem';
import { permits, type Person, type Session } from '../auth/session';
import type { BoardHandle } from '../board/board-view';
import { isComposing } from '../composing';
import { focusSelection } from '../grid/focus-selection';
import type { Grid } from '../grid/grid';
import type { Unwritten } from '../edits/unwritten';
import type { Field } from '../fields/fields';
import type { GridViewProps } from '../grid/grid-view';
import type { MenuSources } from '../grid/menu-sources';
import { followChanges } from '../live/changes';
import type { Feed } from '../live/feed';
import { Actions } from '../project/actions';
import { keyOf, Panels, type Beside } from '../project/panels';
import type { CommentDrafts, UserDrafts } from '../project/comment-drafts';
import { ProjectModel } from '../project/model';
import type { Projects } from '../project/projects';
import { loadProject } from '../project/queries';
import { readViews, SavedViews, Unread } from '../project/saved-views';
import { follow, go } from '../router';
import type { Column } from '../view/view';
import { mayCloseDrawer } from '../ui/drawer';
import { Icon } from '../ui/icon';
import { shortcutOf } from '../ui/keys';
import { Refusal } from '../ui/refusal';
import { enterToast } from '../ui/toast';
import { isTyping } from '../ui/typing';
import { inserted } from '../view/columns';
import { words } from '../words';
import { BoardPlace } from './board-place';
import { BulkDrawer } from './bulk/bulk';
import { commandsOf } from './commands';
import { CheckedBar } from './checked-bar';
import { EditTools } from './edit-tools';
import { ExplainDrawer } from './explain';
import { FindBar } from './find-bar';
import { Frame } from './frame';
import { useFileDrop } from './file-drop';
import { IssueDrawer } from './issue-drawer';
import { Palette } from './palette';
import { Confirmation, Conflict, hasConflict, Help } from './questions';
import { Redefined } from './redefined';
import { Rail, railOpen, toggleRail } from './rail';
import { RefusedDrawer } from './refused';
import { RowsNotice } from './rows-notice';
import { StatusLine } from './status-line';
import { useResource } from './resource';
import { Toolbar } from './toolbar/toolbar';
import { UndoToast } from './undo-toast';
import { ViewList, ViewNotice, ViewWindows } from './views';
import { loadWindowsLater, WindowPlace } from './window-place';

/** Half of the page's code. It loads while the session and the project are requested. */
const gridView = import('../grid/grid-view');

interface ProjectScreenProps {
  readonly api: Api;
  readonly session: Session;
  readonly user: Person;
  readonly drafts: UserDrafts;
  readonly projects: Projects;
  readonly id: string;
}

export function ProjectScreen({ api, session, user, drafts, projects, id }: ProjectScreenProps) {
  const shown = useRef<ProjectModel | null>(null);
  const open = async (signal: AbortSignal) => {
    const opened = await openProject(api, id, user, signal);
    // Text that is being typed is not discarded.
    await shown.current?.editing.rest();
    signal.throwIfAborted();
    return opened;
  };
  const [opened, reload] = useResource(open, [api, id, user.role]);
  const views = opened.kind === 'ready' ? opened.value.views : null;
  const title = views?.project.name ?? id;
  return (
    <Frame session={session} user={user} drafts={drafts} title={title} lead={<RailButton />}>
      <div class="columns">
        {railOpen.value && (
          <Rail api={api} projects={projects} open={id} name={title} mayCreate={permits(user.role, 'admin')}>
            {views && <ViewList views={views} />}
          </Rail>
        )}
        {opened.kind === 'loading' && <div class="skeleton" aria-busy="true" role="status" aria-label={words.loading} />}
        {opened.kind === 'failed' && <NoProject error={opened.error} onRetry={reload} />}
        {views && <ViewWindows views={views} />}
        {opened.kind === 'ready' && (
          <OpenProject
            api={api}
            drafts={drafts.of(id)}
            unwritten={drafts.unwritten}
            projects={projects}
            {...opened.value}
            onOpened={(model) => (shown.current = model)}
            onRedefined={() => {
              reload();
              void projects.load();
            }}
            onDeleted={() => {
              go('/');
              void projects.gone(id);
            }}
          />
        )}
      </div>
    </Frame>
  );
}

function GridPlace(props: GridViewProps) {
  const [loaded] = useResource(() => gridView, []);
  if (loaded.kind === 'ready') return <loaded.value.GridView {...props} />;
  if (loaded.kind === 'loading') return null;
  return (
    <div class="over-grid">
      <Refusal error={loaded.error} onRetry={() => location.reload()} />
    </div>
  );
}

function RailButton() {
  return (
    <button
      class="icon-button"
      type="button"
      aria-label={words.shell.rail}
      title={words.shell.rail}
      aria-expanded={railOpen.value}
      onClick={toggleRail}
    >
      <Icon name="rail" />
    </button>
  );
}

/** The API answers the same for another tenant's project as for one that does not exist. */
function NoProject({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  const absent = error instanceof ApiError && error.status === 404;
  return (
    <div class="notice">
      {absent ? (
        <>
          <h2>{words.project.absent}</h2>
          <p>{words.project.absentWhy}</p>
          <a class="button" href="/" onClick={follow}>
            {words.unknown.back}
          </a>
        </>
      ) : (
        <Refusal error={error} title={words.project.failed} onRetry={onRetry} />
      )}
    </div>
  );
}

/** The project with its saved views, which are requested in parallel. */
async function openProject(api: Api, id: string, user: Person, signal: AbortSignal): Promise<Opened> {
  // The feed starts with the first read of the project.
  const feed = followChanges(api, id, signal);
  const [project, listed] = await Promise.all([
    loadProject(api, id, signal),
    readViews(api, id, signal).catch((error: unknown) => new Unread(error)),
  ]);
  return { views: new SavedViews(api, project, user, listed), feed };
}

interface Opened {
  readonly views: SavedViews;
  readonly feed: Feed;
}

/** Undo, redo, find, the commands, the help and the toast, wherever the focus is. */
function pressed(event: KeyboardEvent, model: ProjectModel, actions: Actions, open: (what: 'help' | 'palette') => void): void {
  // An input method converts by F6 or Ctrl+K, for example.
  if (isComposing(event)) return;
  if (event.key === 'F6' && enterToast()) event.preventDefault();
  if (!(event.ctrlKey || event.metaKey) || event.altKey || document.querySelector('dialog[open]')) return;
  const key = shortcutOf(event);
  const undoes = model.canEdit && (key === 'z' || key === 'y');
  const finds = key === 'f' && !event.shiftKey;
  if (key !== 'k' && ((!undoes && !finds && key !== '/') || isTyping(document.activeElement))) return;
  event.preventDefault();
  if (finds) model.finding.open();
  else if (undoes) void (key === 'y' || event.shiftKey ? actions.redo() : actions.undo());
  else open(key === 'k' ? 'palette' : 'help');
}

/** Show a new field where it was asked for. The default columns have it there, beside a field of the project. */
function showBeside(model: ProjectModel, field: Pick<Field, 'id' | 'type'>, beside: Beside): void {
  if (model.isBoard || (model.view.peek().columns === null && model.field(beside.field)?.custom)) return;
  model.change({ columns: inserted(model.columns.peek(), field, beside.field, beside.side) }, { replace: true });
}

interface OpenProjectProps {
  readonly api: Api;
  readonly drafts: CommentDrafts;
  readonly unwritten: Unwritten;
  readonly projects: Projects;
  readonly views: SavedViews;
  readonly feed: Feed;
  readonly onOpened: (model: ProjectModel) => void;
  /** The project's definitions may have changed. */
  readonly onRedefined: () => void;
  readonly onDeleted: () => void;
}

function OpenProject({ api, drafts, unwritten, projects, views, feed, onOpened, onRedefined, onDeleted }: OpenProjectProps) {
  // It outlives the model: panels that are open while the project is read again stay open.
  const panels = useMemo(() => new Panels(drafts, unwritten, mayCloseDrawer), []);
  const model = useMemo(() => new ProjectModel(api, views.project, views, feed, panels), [api, views]);
  const actions = useMemo(() => new Actions(model), [model]);
  const grid = useRef<Grid | BoardHandle | null>(null);
  const isBoard = model.view.value.kind === 'board';
  useEffect(() => {
    onOpened(model);
    void model.jobs.load();
    return () => model.close();
  }, [model]);
  useEffect(loadWindowsLater, []);
  useEffect(() => {
    const press = (event: KeyboardEvent) => pressed(event, model, actions, (what) => (panels.asked.value = what));
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [model]);
  const drawer = panels.drawer.value;
  const [dropping, drop] = useFileDrop(model.canEdit, (file) => {
    panels.dropped.value = file;
    panels.window.value = 'import';
  });
  const asked = panels.asked.value;
  const isAsking = asked !== null || actions.question.value !== null || hasConflict(model) || views.asked.value !== null;
  const isOpen = isAsking || panels.window.value !== null;
  useEffect(() => {
    // The element that had the focus before may be gone, such as an editor.
    if (!isOpen && document.activeElement === document.body) focusSelection(grid.current, model);
  }, [isOpen, drawer === null]);
  const add: MenuSources['onAdd'] = (values = []) => {
    if (grid.current && 'add' in grid.current) {
      grid.current.add();
      return;
    }
    const draft = actions.draft(values);
    const end = model.size.rows - 1;
    const isEditable = ({ field }: Column) => model.field(field)?.editable === true;
    const columns = model.columns.peek();
    const name = columns.findIndex(({ field }) => field === 'name');
    const column = name < 0 ? columns.findIndex(isEditable) : name;
    // The groups before it may be counted meanwhile.
    grid.current?.edit(() => ({ row: model.rows.indexOf(draft) ?? end, column }));
  };
  const backToGrid = () => {
    if (model.size.rows > 0) grid.current?.focus(model.selection.peek()?.anchor ?? { row: 0, column: 0 });
  };
  // If the grid does not have the cell, the panel does.
  const show = (num: number, id: string) => {
    const row = model.rows.indexOf(num);
    const column = model.columns.peek().findIndex(({ field }) => field === id);
    if (row !== undefined && column >= 0) grid.current?.focus({ row, column });
    else panels.open({ kind: 'issue', num });
  };
  const unask = () => (panels.asked.value = null);
  const goTo = (id: string) => {
    const row = model.selection.peek()?.anchor.row ?? 0;
    const column = model.columns.peek().findIndex(({ field }) => field === id);
    if (column >= 0) grid.current?.focus({ row, column });
  };
  const toRow = (row: number) => {
    const cell = { row, column: model.selection.peek()?.anchor.column ?? 0 };
    grid.current?.reveal(cell);
    model.moveTo(cell);
  };
  return (
    <div class={`workspace${dropping ? ' is-dropping' : ''}`} {...drop}>
      <Toolbar model={model} actions={actions}>
        <EditTools model={model} actions={actions} onAdd={() => add()} onHelp={() => (panels.asked.value = 'help')} />
      </Toolbar>
      <ViewNotice views={views} />
      <Redefined model={model} onReload={onRedefined} />
      <div class="stage">
        <div class="grid-place">
          {model.finding.isOpen.value && <FindBar model={model} onClose={backToGrid} />}
          <div class="grid-frame">
            {isBoard ? (
              <BoardPlace model={model} actions={actions} onAdd={add} onReady={(ready) => (grid.current = ready)} />
            ) : (
              <GridPlace model={model} actions={actions} onAdd={add} onReady={(ready) => (grid.current = ready)} />
            )}
            <RowsNotice model={model} onAdd={() => add()} />
          </div>
          <CheckedBar model={model} actions={actions} />
          <UndoToast model={model} actions={actions} waits={isOpen} onLeave={backToGrid} />
        </div>
        {drawer?.kind === 'explain' && <ExplainDrawer model={model} />}
        {drawer?.kind === 'refused' && <RefusedDrawer model={model} onShow={show} />}
        {drawer?.kind === 'bulk' && <BulkDrawer key={keyOf(drawer)} model={model} {...drawer} />}
        {drawer?.kind === 'issue' && <IssueDrawer model={model} actions={actions} num={drawer.num} part={drawer.part} onRow={toRow} />}
      </div>
      <StatusLine model={model} actions={actions} />
      <Confirmation actions={actions} />
      <Conflict model={model} />
      {asked === 'help' && <Help onClose={unask} />}
      {asked === 'palette' && (
        <Palette
          commands={commandsOf(model, actions, projects, { add: () => add(), help: () => (panels.asked.value = 'help'), goTo })}
          openIssue={(num) => panels.open({ kind: 'issue', num })}
          onClose={unask}
        />
      )}
      {panels.window.value !== null && (
        <WindowPlace
          api={api}
          model={model}
          onRedefined={onRedefined}
          onDeleted={onDeleted}
          onCreated={(field, beside) => showBeside(model, field, beside)}
        />
      )}
    </div>
  );
}
