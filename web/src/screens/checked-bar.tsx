/** What can be done with the issues whose boxes are checked, below the grid. */
import { MAX_DUPLICATES, type Actions } from '../project/actions';
import type { ProjectModel } from '../project/model';
import { Icon } from '../ui/icon';
import { words } from '../words';

export function CheckedBar({ model, actions }: { readonly model: ProjectModel; readonly actions: Actions }) {
  const nums = model.checkedNums;
  const count = nums.length;
  return (
    <>
      <span class="visually-hidden" role="status">
        {count > 0 ? words.checked.count(count) : ''}
      </span>
      {count > 0 && (
        <div class="checked-bar" role="group" aria-label={words.checked.title}>
          <span>{words.checked.count(count)}</span>
          {model.canEdit && (
            <>
              <button class="button" type="button" onClick={() => model.panels.open({ kind: 'bulk', scope: 'checked', edit: 'set', field: null })}>
                <Icon name="pencil" /> {words.checked.change(count)}
              </button>
              {count <= MAX_DUPLICATES && (
                <button class="button" type="button" onClick={() => void actions.duplicate(nums)}>
                  {words.checked.duplicate(count)}
                </button>
              )}
              <button class="button" type="button" onClick={() => void actions.removeIssues(nums)}>
                <Icon name="trash" /> {words.checked.delete(count)}
              </button>
            </>
          )}
          <button class="button" type="button" onClick={() => void actions.copyIssues(nums)}>
            {words.checked.copy}
          </button>
          <button class="button" type="button" onClick={() => model.checked.clear()}>
            {words.checked.clear}
          </button>
        </div>
      )}
    </>
  );
}
