/** The line above the grid, which controls the rows and their look. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { filterText } from '../../cells/filter-text';
import type { Actions } from '../../project/actions';
import type { ProjectModel } from '../../project/model';
import type { Icon as IconName } from '../../ui/icons';
import { proposedBoard } from '../../view/board';
import { fromFilter, shownIn } from '../../view/filters';
import { orderOf, type View } from '../../view/view';
import { CollapseContext, Collapsing, useCollapsed } from '../../ui/collapse';
import { Icon } from '../../ui/icon';
import { Popover } from '../../ui/popover';
import { keysAsLabeled } from '../../shortcuts';
import { words } from '../../words';
import { BoardPanelPlace } from '../board-place';
import { projectActions } from '../project-actions';
import { FieldsPanel } from './fields-panel';
import { FilterPanel } from './filter-panel';
import { ColorPanel, HeightPanel } from './look-panels';
import { GroupPanel, SortPanel } from './order-panels';

interface ToolbarProps {
  readonly model: ProjectModel;
  readonly actions: Actions;
  readonly children: ComponentChildren;
}

/** In a bar narrower than this, in pixels, only the search, undo, redo and the new row stay beside the menu. */
const NARROW = 720;

export function Toolbar({ model, actions, children }: ToolbarProps) {
  const bar = useRef<HTMLDivElement>(null);
  const collapsing = useMemo(() => new Collapsing(), []);
  useLayoutEffect(() => {
    const element = bar.current;
    if (!element) return;
    const look = () => (collapsing.on.value = element.clientWidth < NARROW);
    const resizing = new ResizeObserver(look);
    resizing.observe(element);
    look();
    return () => resizing.disconnect();
  }, [collapsing]);
  const view = model.view.value;
  const isGrid = view.kind === 'grid';
  const hidden = model.fields.length - model.columns.value.length;
  const filters = shownIn(fromFilter(view.filter, model.fields));
  const sorts = orderOf(view).length;
  const colors = (view.color === null ? 0 : 1) + view.rules.length;
  return (
    <CollapseContext.Provider value={collapsing}>
      <div ref={bar} class={`toolbar${collapsing.on.value ? ' is-narrow' : ''}`} role="toolbar" aria-label={words.toolbar.label}>
        <div class="kinds" role="group" aria-label={words.toolbar.kind}>
          <Kind model={model} kind="grid" icon="fields" />
          <Kind model={model} kind="board" icon="board" />
        </div>
        {isGrid ? (
          <Popover key="fields" label={words.toolbar.fields} icon="fields" count={hidden}>
            {() => <FieldsPanel model={model} />}
          </Popover>
        ) : (
          <Popover key="board" label={words.toolbar.board} icon="settings">
            {() => <BoardPanelPlace model={model} actions={actions} />}
          </Popover>
        )}
        <Popover
          label={words.toolbar.filter}
          icon="filter"
          count={filters}
          hint={view.filter ? filterText(view.filter, model.fields) : undefined}
          asked={model.panels.filtering.value !== null}
          onClose={() => (model.panels.filtering.value = null)}
        >
          {(close) => <FilterPanel model={model} close={close} />}
        </Popover>
        {isGrid && (
          <Popover label={words.toolbar.group} icon="group" count={view.groups.length}>
            {() => <GroupPanel model={model} />}
          </Popover>
        )}
        <Popover label={words.toolbar.sort} icon="sort" count={sorts}>
          {() => <SortPanel model={model} />}
        </Popover>
        <Popover label={words.toolbar.color} icon="color" count={colors}>
          {() => <ColorPanel model={model} />}
        </Popover>
        {isGrid && (
          <Popover label={words.toolbar.height} icon="height">
            {() => <HeightPanel model={model} />}
          </Popover>
        )}
        <Search model={model} />
        <Popover label={words.toolbar.more} icon="more" count={collapsing.on.value ? filters + (isGrid ? view.groups.length : 0) + sorts + colors : 0} isMenu>
          {(close) => <MorePanel model={model} actions={actions} collapsing={collapsing} close={close} />}
        </Popover>
        {children}
      </div>
    </CollapseContext.Provider>
  );
}

interface KindProps {
  readonly model: ProjectModel;
  readonly kind: View['kind'];
  readonly icon: IconName;
}

/** Shows the view as a grid or as a board. */
function Kind({ model, kind, icon }: KindProps) {
  const isShown = model.view.value.kind === kind;
  const label = words.toolbar.showAs[kind];
  const act = () => {
    if (!isShown) model.change({ kind, board: model.view.peek().board ?? (kind === 'board' ? proposedBoard(model.fields) : null) });
  };
  const collapsed = useCollapsed({ label, icon, disabled: isShown, act });
  return (
    <button type="button" class="tool" hidden={collapsed !== null} aria-pressed={isShown} aria-label={label} title={label} onClick={act}>
      <Icon name={icon} />
    </button>
  );
}

function Search({ model }: { readonly model: ProjectModel }) {
  const input = useRef<HTMLInputElement>(null);
  const { search } = model.view.value;
  useLayoutEffect(() => {
    if (input.current && input.current.value.trim() !== search) input.current.value = search;
  }, [search]);
  const find = () => {
    const wanted = input.current?.value.trim() ?? '';
    if (wanted !== search) model.change({ search: wanted });
  };
  return (
    <form
      class="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        find();
      }}
    >
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        defaultValue={search}
        aria-label={words.toolbar.search}
        placeholder={words.toolbar.search}
        onChange={find}
      />
    </form>
  );
}

interface MorePanelProps extends Omit<ToolbarProps, 'children'> {
  readonly collapsing: Collapsing;
  readonly close: () => void;
}

function MorePanel({ model, actions, collapsing, close }: MorePanelProps) {
  return (
    <ul class="choices">
      <Choice icon="search" label={words.palette.title} keys={words.keys.palette} onChoose={() => (model.panels.asked.value = 'palette')} close={close} />
      {collapsing.tools.map(({ label, icon, disabled, act }) => (
        <Choice key={label} icon={icon} label={label} disabled={disabled} onChoose={act} close={close} />
      ))}
      {projectActions(model, actions).map(({ text, icon, keys, act }) => (
        <Choice key={text} icon={icon} label={text} keys={keys} onChoose={act} close={close} />
      ))}
    </ul>
  );
}

interface ChoiceProps {
  readonly icon: IconName;
  readonly label: string;
  /** The keys that do the same. */
  readonly keys?: string | undefined;
  readonly disabled?: boolean | undefined;
  readonly onChoose: () => void;
  readonly close: () => void;
}

function Choice({ icon, label, keys, disabled = false, onChoose, close }: ChoiceProps) {
  return (
    <li>
      <button
        type="button"
        disabled={disabled}
        onClick={() => {
          close();
          onChoose();
        }}
      >
        <Icon name={icon} />
        {label}
        {keys !== undefined && <kbd class="choice-keys">{keysAsLabeled(keys)}</kbd>}
      </button>
    </li>
  );
}
