import { render } from 'preact';
import { App } from './app';
import { loadConfig, sessionOf } from './auth/config';
import { writeQueue } from './edits/write-queue';
import { followUser } from './project/user-scope';
import { askBeforeLeaving } from './router';
import { words } from './words';
import { Notice } from './screens/notice';
import { beginDetails } from './ui/details';
import { mayClose } from './ui/unsaved';
import './styles/index.css';

const root = document.getElementById('app');
if (!root) throw new Error('The page has no place for the application.');

window.addEventListener('online', () => writeQueue.retry());
askBeforeLeaving(() => mayClose(document));

try {
  const config = await loadConfig();
  const session = sessionOf(config);
  beginDetails(config.auth === 'local');
  render(<App session={session} scope={followUser(session)} />, root);
  await session.start();
} catch (error) {
  render(<Notice title={words.signIn.failed} detail={String(error)} />, root);
}
