/** The manual order of the open view, in the panel of the sort. */
import type { ProjectModel } from '../../project/model';
import type { SavedView } from '../../api/types';
import { Icon } from '../../ui/icon';
import { words } from '../../words';

export function ManualOrder({ model }: { readonly model: ProjectModel }) {
  const { views } = model;
  const { base } = views.opened.value;
  if (model.view.value.manual !== null) {
    return (
      <>
        <ol class="keys">
          <li class="manual-key">
            <Icon name="grip" />
            {words.manual.title}
            <button class="icon-button" type="button" aria-label={words.toolbar.remove} onClick={() => model.change({ sort: [] })}>
              <Icon name="close" />
            </button>
          </li>
        </ol>
        <p class="soft">{model.canEdit ? (model.isBoard ? words.manual.howCards : words.manual.howRows) : words.manual.onlyEditors}</p>
      </>
    );
  }
  const reason = reasonAgainst(model, base);
  const begin = async (view: SavedView) => {
    if (await views.beginManual(view)) model.change({ sort: [], manual: view.id });
  };
  return (
    <div class="manual-offer">
      <button class="button" type="button" disabled={reason !== null || views.busy.value} onClick={() => base && void begin(base)}>
        <Icon name="grip" />
        {words.manual.title}
      </button>
      <p class="soft">{reason ?? words.manual.why}</p>
    </div>
  );
}

/** Why the open view cannot be sorted by hand; null if it can be. */
function reasonAgainst({ views, canEdit }: ProjectModel, base: SavedView | null): string | null {
  if (!base) return words.manual.needsView;
  if (base.visibility === 'private') return words.manual.needsShared;
  if (base.manual_order !== null) return null;
  if (!canEdit) return words.manual.onlyEditors;
  return views.mayWrite(base.visibility) ? null : words.manual.onlyAdmins;
}
