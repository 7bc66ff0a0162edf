/** The progress of background work. */
import type { Build } from '../../api/types';
import { words } from '../../words';

export function BuildProgress({ build }: { readonly build: Build }) {
  const text = words.settings.build(build.state, build.done, build.total);
  return (
    <span class="build">
      <progress aria-label={text} value={build.done} max={Math.max(1, build.total)} />
      <span>{text}</span>
    </span>
  );
}
