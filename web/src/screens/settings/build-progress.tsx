/** The progress of background work. */
import type { Build } from '../../api/types';
import { words } from '../../words';

export function BuildProgress({ build }: { readonly build: Build }) {
  const text = words.settings.build(build.state, build.done, build.of);
  return (
    <span class="build">
      <progress aria-label={text} value={build.done} max={Math.max(1, build.of)} />
      <span>{text}</span>
    </span>
  );
}
