/** The feed of a project: by a socket where it can be opened, else by long polling. */
import type { Api } from '../api/client';
import { Feed } from './feed';
import { Socket } from './socket';

/** Follows a project's changes, from the first `from` on until the signal aborts. */
export function followChanges(api: Api, project: string, signal: AbortSignal): Feed {
  const socket = new Socket(
    async () => (await api.call('POST', '/v1/projects/{project}/tickets', { path: { project } })).body,
    (url) => new WebSocket(url),
  );
  const feed = new Feed(
    async (since, wait, stopping) => {
      const { body, headers } = await api.call('GET', '/v1/projects/{project}/changes', {
        path: { project },
        query: since === null ? {} : { since, wait },
        signal: stopping,
      });
      return { ...body, pause: Number(headers.get('Retry-After') ?? 0) };
    },
    { visibility: whenHidden, socket, onToken: (token, changes) => api.include(project, token, changes) },
  );
  signal.addEventListener('abort', () => feed.stop());
  return feed;
}

function whenHidden(changed: (hidden: boolean) => void): () => void {
  const report = () => changed(document.hidden);
  document.addEventListener('visibilitychange', report);
  return () => document.removeEventListener('visibilitychange', report);
}
