/** The board and its settings. Their code loads with the first board. */
import { Refusal } from '../ui/refusal';
import type { Actions } from '../project/actions';
import type { ProjectModel } from '../project/model';
import type { BoardViewProps } from '../board/board-view';
import { useResource } from './resource';

const boardCode = () => import('../board/index');

export function BoardPlace(props: BoardViewProps) {
  const [loaded] = useResource(boardCode, []);
  if (loaded.kind === 'ready') return <loaded.value.BoardView {...props} />;
  if (loaded.kind === 'loading') return null;
  return (
    <div class="over-grid">
      <Refusal error={loaded.error} onRetry={() => location.reload()} />
    </div>
  );
}

export function BoardPanelPlace(props: { readonly model: ProjectModel; readonly actions: Actions }) {
  const [loaded] = useResource(boardCode, []);
  return loaded.kind === 'ready' ? <loaded.value.BoardPanel {...props} /> : null;
}
