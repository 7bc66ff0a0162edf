/** The feed of a project by long polling. */
import type { Api } from '../api/client';
import { Feed } from './feed';

/** Follow a project's changes from now on, until the signal aborts. */
export function followChanges(api: Api, project: string, signal: AbortSignal): Feed {
  const feed = new Feed(
    async (since, wait, stopping) => {
      const { body } = await api.call('GET', '/v1/projects/{project}/changes', {
        path: { project },
        query: since === null ? {} : { since, wait },
        signal: stopping,
      });
      return body;
    },
    { visibility: whenHidden },
  );
  signal.addEventListener('abort', () => feed.stop());
  feed.start();
  return feed;
}

function whenHidden(changed: (hidden: boolean) => void): () => void {
  const tell = () => changed(document.hidden);
  document.addEventListener('visibilitychange', tell);
  return () => document.removeEventListener('visibilitychange', tell);
}
