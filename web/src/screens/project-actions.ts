/** The actions on a project that both the menu “More” and the command palette offer. */
import { permits } from '../auth/session';
import type { Actions } from '../project/actions';
import type { ProjectModel } from '../project/model';
import type { BulkKind, Scope } from '../project/panels';
import { issuesSelected } from '../project/selected';
import type { Icon } from '../ui/icons';
import { words } from '../words';

export interface ProjectAction {
  readonly text: string;
  readonly icon: Icon;
  /** The keys that do the same. */
  readonly keys?: string;
  readonly act: () => void;
}

/** The actions that the user may take now. */
export function projectActions(model: ProjectModel, actions: Actions): readonly ProjectAction[] {
  const { panels, canEdit } = model;
  const isAdmin = permits(model.role, 'admin');
  return [
    { text: words.find.open, icon: 'search', keys: words.keys.find, act: () => model.finding.open() },
    ...(model.selection.value ? [{ text: words.toolbar.openIssue, icon: 'right', keys: words.keys.open, act: () => model.openIssue() } as const] : []),
    { text: words.explain.title, icon: 'explain', act: () => panels.open({ kind: 'explain' }) },
    ...(canEdit ? [{ text: words.import.open, icon: 'upload', act: () => (panels.window.value = 'import') } as const] : []),
    { text: words.views.saveAs, icon: 'plus', act: () => (model.views.asked.value = { kind: 'save' }) },
    { text: words.views.newBoard, icon: 'board', act: () => (model.views.asked.value = { kind: 'board' }) },
    { text: words.export.open, icon: 'download', act: () => (panels.window.value = 'export') },
    ...(canEdit ? bulkActions(model, actions) : []),
    { text: words.jobs.title, icon: 'jobs', act: () => (panels.window.value = 'jobs') },
    { text: words.trash.title, icon: 'trash', act: () => (panels.window.value = 'trash') },
    ...(isAdmin
      ? ([
          { text: words.webhooks.title, icon: 'link', act: () => (panels.window.value = 'webhooks') },
          { text: words.settings.open, icon: 'settings', act: () => (panels.window.value = 'settings') },
        ] as const)
      : []),
  ];
}

/** The actions on many issues at once. */
function bulkActions(model: ProjectModel, actions: Actions): readonly ProjectAction[] {
  const { panels } = model;
  const matched = model.counting.counts.value?.matched ?? null;
  const isFiltered = model.filter !== null;
  const change = (scope: Scope, edit: BulkKind = 'set') => () => panels.open({ kind: 'bulk', scope, edit, field: null });
  const selected = issuesSelected(model);
  return [
    ...(selected > 0 ? [{ text: words.jobs.changeSelected(selected), icon: 'pencil', act: change('rows') } as const] : []),
    { text: words.jobs.changeAll(matched, isFiltered), icon: 'pencil', act: change('all') },
    { text: words.bulk.replaceIn, icon: 'text', act: change('all', 'replace') },
    { text: words.jobs.deleteAll(matched, isFiltered), icon: 'trash', act: () => void actions.removeMany(() => model.targets(null)) },
  ];
}
