/**
 * The notice in place of rows if there are none: an empty project, a filter without results, or a refusal with its
 * remedy.
 */
import { useEffect } from 'preact/hooks';
import { ApiError } from '../api/problem';
import type { Build } from '../api/types';
import type { ProjectModel } from '../project/model';
import { Icon } from '../ui/icon';
import { Refusal } from '../ui/refusal';
import { FilterWords } from './filter-words';
import { words } from '../words';

/** Milliseconds between two looks at an index that is being built, or that has no issues yet. */
const POLL_INTERVAL = 2000;

interface RowsNoticeProps {
  readonly model: ProjectModel;
  /** Adds a first row. */
  readonly onAdd: () => void;
}

export function RowsNotice({ model, onAdd }: RowsNoticeProps) {
  const error = model.refusal.value;
  const counts = model.counting.counts.value;
  const { filter, search } = model.view.value;
  if (error !== null) {
    const build = buildIn(error);
    return (
      <div class="over-grid">
        {build ? (
          <Building build={build} title={model.view.value.manual === null ? words.refusal.building : words.refusal.buildingOrder} onLook={() => model.restart()} />
        ) : (
          <Refusal
            error={error}
            onRetry={() => model.restart()}
            remedied={{ api: model.api, role: model.role, onBegun: () => model.restart() }}
          />
        )}
      </div>
    );
  }
  // A new row would be below the notice.
  if (counts?.matched !== 0 || model.hasAdded) return null;
  // The columns of a board stay usable.
  return (
    <div class={`over-grid${model.view.value.kind === 'board' ? ' is-below' : ''}`}>
      {filter || search ? (
        <div class="refusal">
          <strong>{words.empty.noMatch}</strong>
          <p>{words.empty.noMatchWhy(counts.total)}</p>
          <FilterWords model={model} />
          <button class="button" type="button" onClick={() => model.change({ filter: null, search: '' })}>
            {words.empty.clear}
          </button>
        </div>
      ) : (
        <NoIssues model={model} onAdd={onAdd} />
      )}
    </div>
  );
}

/** New issues of others may not be in the index yet, so it is read again. */
function NoIssues({ model, onAdd }: RowsNoticeProps) {
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) model.settle();
    }, POLL_INTERVAL);
    return () => clearInterval(timer);
  }, [model]);
  return (
    <div class="refusal">
      <strong>{words.empty.noIssues}</strong>
      {model.canEdit && (
        <>
          <p>{words.empty.noIssuesWhy}</p>
          <div class="row">
            <button class="button primary" type="button" onClick={onAdd}>
              <Icon name="plus" />
              {words.tools.add}
            </button>
            <button class="button" type="button" onClick={() => (model.panels.window.value = 'import')}>
              <Icon name="upload" />
              {words.import.open}
            </button>
          </div>
        </>
      )}
    </div>
  );
}

function Building({ build, title, onLook }: { readonly build: Build; readonly title: string; readonly onLook: () => void }) {
  useEffect(() => {
    const timer = setTimeout(onLook, POLL_INTERVAL);
    return () => clearTimeout(timer);
  });
  return (
    <div class="refusal" role="status">
      <strong>{title}</strong>
      <p>{words.refusal.buildingWhy(build.done, build.total)}</p>
      <progress aria-label={title} value={build.done} max={Math.max(1, build.total)} />
    </div>
  );
}

/** The background work for which a query must wait. */
function buildIn(error: unknown): Build | null {
  return error instanceof ApiError && error.kind === 'index-building' ? ((error.problem['build'] as Build | null | undefined) ?? null) : null;
}
