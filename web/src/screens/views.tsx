/** The saved views of the open project: a list to open them, with the actions on each, and their windows. */
import { useMemo, useState } from 'preact/hooks';
import type { SavedView } from '../api/types';
import { filterText } from '../cells/filter-text';
import type { Field } from '../fields/fields';
import { canColumn, proposedBoard } from '../view/board';
import { isOwn } from '../view/saved';
import { VISIBILITIES, type SavedViews, type Visibility } from '../project/saved-views';
import { follow } from '../router';
import { Dialog } from '../ui/dialog';
import { Icon } from '../ui/icon';
import type { Icon as IconName } from '../ui/icons';
import { Menu, type MenuEntry } from '../ui/menu';
import { Refusal } from '../ui/refusal';
import { neighbour, useSorting } from '../ui/sorting';
import { unsaved } from '../ui/unsaved';
import { words } from '../words';

const ICON_OF: Readonly<Record<Visibility, IconName>> = { private: 'user', shared: 'people', default: 'home' };

export function ViewList({ views }: { readonly views: SavedViews }) {
  const [menu, setMenu] = useState<{ readonly anchor: HTMLElement; readonly view: SavedView } | null>(null);
  const [outcome, setOutcome] = useState('');
  const { base, changed, missing } = views.opened.value;
  const move = (view: SavedView, before: string | null) => {
    void views.move(view, before);
    const kind = kindOf(views, view);
    const place = kind.findIndex(({ id }) => id === view.id);
    setOutcome(words.sorting.moved(view.name, place + 1, kind.length));
  };
  const sorted = useSorting<HTMLUListElement>((key, before) => {
    const view = views.list.peek().find(({ id }) => id === key);
    if (view) move(view, before);
  });
  const copy = (view: SavedView) => {
    navigator.clipboard.writeText(new URL(views.linkTo(view), location.href).href).then(
      () => setOutcome(words.views.copied),
      () => setOutcome(words.views.notCopied),
    );
  };
  return (
    <nav class="views" aria-label={words.views.title}>
      <ul ref={sorted}>
        <li>
          <a href={views.linkTo(null)} onClick={follow} aria-current={base === null && !missing ? 'page' : undefined}>
            <Icon name="multi_enum" />
            {words.views.all}
          </a>
        </li>
        {views.list.value.map((view) => (
          <li
            key={view.id}
            data-item={view.id}
            data-kind={isOwn(view) ? 'own' : 'everyone'}
            {...(!views.mayWrite(view.visibility) && { 'data-fixed': '' })}
          >
            <a href={views.linkTo(view)} onClick={follow} aria-current={base?.id === view.id ? 'page' : undefined} title={titleOf(view, views.fields)}>
              <span class="grip">
                <Icon name={view.kind === 'board' ? 'board' : ICON_OF[view.visibility]} />
              </span>
              <span class="view-name">{view.name}</span>
              <span class="visually-hidden"> {words.views.visibility[view.visibility]}</span>
              {changed && base?.id === view.id && <span class="view-changed"> ({words.views.changed})</span>}
            </a>
            <button
              class="icon-button"
              type="button"
              aria-haspopup="menu"
              aria-label={words.views.actions(view.name)}
              onClick={(event) => setMenu({ anchor: event.currentTarget, view })}
            >
              <Icon name="more" />
            </button>
          </li>
        ))}
      </ul>
      {views.error.value !== null && (
        <p class="soft">
          {words.views.failed}{' '}
          <button class="link-inline" type="button" onClick={() => void views.load()}>
            {words.retry}
          </button>
        </p>
      )}
      <Saving views={views} />
      <p class="visually-hidden" role="status">
        {outcome}
      </p>
      {menu && (
        <Menu
          anchor={menu.anchor}
          label={words.views.actions(menu.view.name)}
          groups={entriesOf(views, menu.view, () => copy(menu.view), move)}
          onClose={() => setMenu(null)}
        />
      )}
    </nav>
  );
}

/** The actions on the present look, if it differs from the saved one. */
function Saving({ views }: { readonly views: SavedViews }) {
  const { base, changed } = views.opened.value;
  return (
    <div class="row">
      {base && changed && views.mayWrite(base.visibility) && (
        <button class="button primary" type="button" disabled={views.busy.value} onClick={() => void views.overwrite()}>
          {words.views.save}
        </button>
      )}
      {base && changed && (
        <button class="button" type="button" onClick={() => views.discard()}>
          {words.views.discard}
        </button>
      )}
      <button class="button" type="button" onClick={() => (views.asked.value = { kind: 'save' })}>
        {words.views.saveAs}
      </button>
      <button class="button" type="button" onClick={() => (views.asked.value = { kind: 'board' })}>
        {words.views.newBoard}
      </button>
    </div>
  );
}

function titleOf({ name, visibility, query }: SavedView, fields: readonly Field[]): string {
  return [name, words.views.visibility[visibility], ...(query.filter ? [filterText(query.filter, fields)] : [])].join(' · ');
}

/** The views among which one has its place. */
function kindOf(views: SavedViews, view: SavedView): readonly SavedView[] {
  return views.list.peek().filter((one) => isOwn(one) === isOwn(view));
}

type Move = (view: SavedView, before: string | null) => void;

function entriesOf(views: SavedViews, view: SavedView, copy: () => void, move: Move): readonly (readonly MenuEntry[])[] {
  const keys = kindOf(views, view).map(({ id }) => id);
  const moves = ([['moveUp', 'up', -1], ['moveDown', 'down', 1]] as const).map(([text, icon, by]) => {
    const before = neighbour(keys, view.id, by);
    return { text: words.views[text], icon, disabled: before === undefined, act: () => move(view, before ?? null) };
  });
  const link: MenuEntry = { text: words.views.copyLink, icon: 'link', act: copy };
  if (!views.mayWrite(view.visibility)) return [[link]];
  return [
    [link, { text: words.views.rename, icon: 'pencil', act: () => (views.asked.value = { kind: 'rename', view }) }],
    VISIBILITIES.filter((one) => views.mayWrite(one)).map((visibility) => ({
      text: words.views.visibility[visibility],
      chosen: view.visibility === visibility,
      act: () => {
        if (view.visibility !== visibility) void views.patch(view, { visibility });
      },
    })),
    moves,
    [{ text: words.views.delete, icon: 'trash', act: () => (views.asked.value = { kind: 'delete', view }) }],
  ];
}

/** Questions to the user about a view, and refusals of the API. */
export function ViewWindows({ views }: { readonly views: SavedViews }) {
  const asked = views.asked.value;
  const refusal = views.refusal.value;
  const close = () => {
    views.asked.value = null;
    views.refusal.value = null;
  };
  if (asked?.kind === 'save' || asked?.kind === 'board') return <SaveWindow views={views} isBoard={asked.kind === 'board'} onClose={close} />;
  if (asked?.kind === 'rename') return <RenameWindow views={views} view={asked.view} onClose={close} />;
  if (asked?.kind === 'delete') return <DeleteWindow views={views} view={asked.view} onClose={close} />;
  if (refusal === null) return null;
  return (
    <Dialog title={words.views.refused} onClose={close}>
      <Refusal error={refusal} />
    </Dialog>
  );
}

interface WindowProps {
  readonly views: SavedViews;
  readonly onClose: () => void;
}

/** Save the present look as a view; with `isBoard`, as a board. */
function SaveWindow({ views, isBoard, onClose }: WindowProps & { readonly isBoard: boolean }) {
  const [by, setBy] = useState('state');
  const title = isBoard ? words.views.newBoard : words.views.saveAs;
  const [name, setName] = useState('');
  const [visibility, setVisibility] = useState<Visibility>('private');
  // The same request sent again is carried out once, even if its answer was lost.
  const key = useMemo(() => crypto.randomUUID(), [name, visibility, by]);
  const refusal = views.refusal.value;
  const save = async () => {
    const board = { ...proposedBoard(views.fields), by };
    if (await views.create(name.trim(), visibility, key, isBoard ? { kind: 'board', board } : {})) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="form"
        {...unsaved(name !== '')}
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Name value={name} isFixed={views.busy.value} onChange={setName} />
        {isBoard && (
          <label>
            {words.views.columnsBy}
            <select value={by} onChange={(event) => setBy(event.currentTarget.value)}>
              {views.fields.filter(canColumn).map(({ id, name: field }) => (
                <option key={id} value={id}>
                  {field}
                </option>
              ))}
            </select>
          </label>
        )}
        <fieldset class="radios">
          <legend>{words.views.who}</legend>
          {VISIBILITIES.filter((one) => views.mayWrite(one)).map((one) => (
            <label key={one}>
              <input type="radio" name="visibility" checked={visibility === one} onChange={() => setVisibility(one)} />
              {words.views.visibility[one]}
            </label>
          ))}
        </fieldset>
        {refusal !== null && <Refusal error={refusal} title={words.views.refused} />}
        <Submit busy={views.busy.value} />
      </form>
    </Dialog>
  );
}

function RenameWindow({ views, view, onClose }: WindowProps & { readonly view: SavedView }) {
  const [name, setName] = useState(view.name);
  const refusal = views.refusal.value;
  // A refusal may have shown another version of it.
  const present = views.list.value.find(({ id }) => id === view.id) ?? view;
  const rename = async () => {
    if (await views.patch(present, { name: name.trim() })) onClose();
  };
  return (
    <Dialog title={words.views.rename} onClose={onClose}>
      <form
        class="form"
        {...unsaved(name !== view.name)}
        onSubmit={(event) => {
          event.preventDefault();
          void rename();
        }}
      >
        <Name value={name} isFixed={views.busy.value} onChange={setName} />
        {refusal !== null && <Refusal error={refusal} title={words.views.refused} />}
        <Submit busy={views.busy.value} />
      </form>
    </Dialog>
  );
}

function DeleteWindow({ views, view, onClose }: WindowProps & { readonly view: SavedView }) {
  const refusal = views.refusal.value;
  const present = views.list.value.find(({ id }) => id === view.id) ?? view;
  const remove = async () => {
    if (await views.remove(present)) onClose();
  };
  return (
    <Dialog title={words.views.delete} onClose={onClose}>
      <p>{words.views.deleteWhy(view.name, view.visibility !== 'private')}</p>
      {refusal !== null && <Refusal error={refusal} />}
      <div class="dialog-buttons">
        <button class="button" type="button" autofocus onClick={onClose}>
          {words.actions.cancel}
        </button>
        <button class="button primary danger" type="button" disabled={views.busy.value} onClick={() => void remove()}>
          {words.actions.delete}
        </button>
      </div>
    </Dialog>
  );
}

const MAX_NAME = 256;

interface NameProps {
  readonly value: string;
  /** It is being saved: the window then closes, with all that is typed meanwhile. */
  readonly isFixed: boolean;
  readonly onChange: (name: string) => void;
}

function Name({ value, isFixed, onChange }: NameProps) {
  return (
    <label>
      {words.views.name}
      <input
        required
        readOnly={isFixed}
        pattern=".*\S.*"
        maxLength={MAX_NAME}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  );
}

function Submit({ busy }: { readonly busy: boolean }) {
  return (
    <div class="row-end">
      <button class="button primary" type="submit" disabled={busy}>
        {words.settings.save}
      </button>
    </div>
  );
}

/** The notice that the address names a missing view, or that parts of it no longer exist. */
export function ViewNotice({ views }: { readonly views: SavedViews }) {
  const { base, missing } = views.opened.value;
  if (missing && views.error.value === null) {
    return (
      <p class="view-notice" role="status">
        {words.views.missing}
      </p>
    );
  }
  if (!base?.missing.length) return null;
  const isBoardGone = base.board === null && base.missing.some(({ part }) => part === 'board');
  const gone = base.missing.map(({ part, field, value }) => words.views.gonePart(words.views.parts[part], field, value));
  return (
    <p class="view-notice" role="status">
      {isBoardGone && `${words.views.boardGone} `}
      {words.views.gone(gone)}{' '}
      {views.mayWrite(base.visibility) && (
        <button class="link-inline" type="button" disabled={views.busy.value} onClick={() => void views.overwrite()}>
          {words.views.settle}
        </button>
      )}
    </p>
  );
}
