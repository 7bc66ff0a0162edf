/** The place of the windows over a project. Their code loads when the page is idle, or with the first of them. */
import { Dialog } from '../ui/dialog';
import { Refusal } from '../ui/refusal';
import { words } from '../words';
import { useResource } from './resource';
import type { WindowsProps } from './windows';

const windowsCode = () => import('./windows');

/** Milliseconds after which the page has its first rows, usually. */
const LATER = 4_000;

/** Load the code of the windows before it is needed: without a connection it could not be loaded. Returns how to cancel. */
export function loadWindowsLater(): () => void {
  // A failure is reported by the window that needs the code.
  const timer = setTimeout(() => void windowsCode().catch(() => undefined), LATER);
  return () => clearTimeout(timer);
}

export function WindowPlace(props: WindowsProps) {
  const [loaded] = useResource(windowsCode, []);
  if (loaded.kind === 'ready') return <loaded.value.Windows {...props} />;
  if (loaded.kind === 'loading') return null;
  const close = () => (props.model.panels.window.value = null);
  return (
    <Dialog title={words.failedPart} onClose={close}>
      <Refusal error={loaded.error} onRetry={() => location.reload()} />
    </Dialog>
  );
}
