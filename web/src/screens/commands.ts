/** What the command palette offers in a project. */
import { untracked } from '@preact/signals';
import type { Actions } from '../project/actions';
import type { ProjectModel } from '../project/model';
import type { Projects } from '../project/projects';
import { addressOfProject, go, visit } from '../router';
import { shown } from '../view/columns';
import { details, toggleDetails } from '../ui/details';
import { chooseTheme, theme, THEMES } from '../ui/theme';
import type { Command, Kind } from '../view/palette';
import { words } from '../words';
import { projectActions } from './project-actions';

/** What only the screen can do. */
export interface ScreenActions {
  readonly add: () => void;
  readonly help: () => void;
  /** Go to a column of the grid. */
  readonly goTo: (field: string) => void;
}

export function commandsOf(model: ProjectModel, actions: Actions, projects: Projects, screen: ScreenActions): readonly Command[] {
  const listed = projects.listed.peek();
  return [
    ...untracked(() => actionsOf(model, actions, screen)),
    { kind: 'view', text: words.views.all, act: () => go(model.views.linkTo(null)) },
    ...model.views.list.peek().map((view): Command => ({ kind: 'view', text: view.name, act: () => go(model.views.linkTo(view)) })),
    // A board has no column for a field.
    ...(model.isBoard ? [] : model.fields).map(({ id, name }): Command => ({ kind: 'field', text: name, act: () => goToField(model, id, screen) })),
    ...(listed.kind === 'ready' ? listed.projects : []).flatMap(({ id, name }): readonly Command[] =>
      id === model.project.id ? [] : [{ kind: 'project', text: name, act: () => visit(addressOfProject(id)) }],
    ),
  ];
}

/** The actions that the user may take now. */
function actionsOf(model: ProjectModel, actions: Actions, screen: ScreenActions): readonly Command[] {
  const { canEdit } = model;
  const view = model.view.peek();
  const action = (text: string, act: () => void, keys?: string): Command => ({ kind: 'action' satisfies Kind, text, act, ...(keys !== undefined && { keys }) });
  const { done, undone } = model.editor.history.peek();
  return [
    ...(canEdit ? [action(words.tools.add, screen.add)] : []),
    ...(canEdit && done.length ? [action(words.tools.undo, () => void actions.undo(), words.keys.undo)] : []),
    ...(canEdit && undone.length ? [action(words.tools.redo, () => void actions.redo(), words.keys.redo)] : []),
    ...(model.selection.peek()
      ? [
          action(words.actions.copy, () => void actions.copy(), words.keys.copy),
          ...(['text', 'json', 'markdown'] as const).map((form) => action(words.actions.copyAs[form], () => void actions.copyAs(form))),
          ...(canEdit ? [action(words.tools.delete, () => void actions.remove())] : []),
        ]
      : []),
    ...(view.filter || view.search ? [action(words.palette.clearFilter, () => model.change({ filter: null, search: '' }))] : []),
    ...(view.sort.length || view.manual !== null ? [action(words.palette.clearSort, () => model.change({ sort: [] }))] : []),
    ...(view.groups.length ? [action(words.palette.clearGroups, () => model.change({ groups: [] }))] : []),
    ...projectActions(model, actions).map(({ text, keys, act }) => action(text, act, keys)),
    action(details.peek() ? words.palette.hideDetails : words.palette.showDetails, toggleDetails),
    ...THEMES.filter((one) => one !== theme.peek()).map((one) => action(words.account.theme[one], () => chooseTheme(one))),
    action(words.projects.title, () => visit('/')),
    action(words.tools.help, screen.help, words.keys.help),
  ];
}

/** A hidden field becomes a column first. */
function goToField(model: ProjectModel, id: string, screen: ScreenActions): void {
  const columns = model.columns.peek();
  if (!columns.some(({ field }) => field === id)) model.change({ columns: shown(columns, id, model.fields) });
  screen.goTo(id);
}
