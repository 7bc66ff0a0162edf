/**
 * The fields or states of the open project have changed. They are read again at once, or at the user's word if a read
 * would discard some work.
 */
import { useEffect, useRef } from 'preact/hooks';
import type { ProjectModel } from '../project/model';
import { words } from '../words';

export function Redefined({ model, onReload }: { readonly model: ProjectModel; readonly onReload: () => void }) {
  const redefined = model.live.redefined.value;
  const inUse = model.isInUse;
  const asked = useRef<ProjectModel | null>(null);
  useEffect(() => {
    if (!redefined || inUse || asked.current === model) return;
    asked.current = model;
    onReload();
  }, [model, redefined, inUse]);
  if (!redefined || !inUse) return null;
  return (
    <p class="view-notice" role="status">
      {words.live.redefined}{' '}
      <button class="link-inline" type="button" onClick={onReload}>
        {words.live.reload}
      </button>
    </p>
  );
}
