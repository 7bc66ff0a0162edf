/** A panel at the right of the grid, which stays in use beside it. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { words } from '../words';
import { Icon } from './icon';

interface DrawerProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Drawer({ title, onClose, children }: DrawerProps) {
  const head = useRef<HTMLHeadingElement>(null);
  // Before the grid gets its new width: it would take the focus back then.
  useLayoutEffect(() => head.current?.focus(), []);
  return (
    <aside
      class="drawer"
      aria-label={title}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose();
      }}
    >
      <header class="dialog-head">
        <h2 ref={head} tabIndex={-1} aria-live="polite">
          {title}
        </h2>
        <button class="icon-button" type="button" aria-label={words.shell.close} onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div class="dialog-body">{children}</div>
    </aside>
  );
}
