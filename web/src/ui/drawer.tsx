/** A panel at the right of the grid, which stays in use beside it. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { isComposing } from '../composing';
import { words } from '../words';
import { enter, useFocusBack } from './focus';
import { Icon } from './icon';
import { mayClose } from './unsaved';

interface DrawerProps {
  readonly title: string;
  /** What its head shows in place of the title. */
  readonly heading?: ComponentChildren;
  /** Buttons in its head. */
  readonly tools?: ComponentChildren;
  /** What stays at its bottom while the rest scrolls. */
  readonly foot?: ComponentChildren;
  readonly isWide?: boolean;
  /** It is a form, which is entered at its first field. */
  readonly isForm?: boolean;
  readonly onKey?: (event: KeyboardEvent) => void;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Whether the open panel may be discarded: asks the user if something in it is not saved. */
export function mayCloseDrawer(): boolean {
  const open = document.querySelector('.drawer');
  return !open || mayClose(open);
}

export function Drawer({ title, heading, tools, foot, isWide = false, isForm = false, onKey, onClose, children }: DrawerProps) {
  const panel = useRef<HTMLElement>(null);
  const head = useRef<HTMLHeadingElement>(null);
  const body = useRef<HTMLDivElement>(null);
  useFocusBack(panel);
  const close = () => {
    if (panel.current && mayClose(panel.current)) onClose();
  };
  // Before the grid gets its new width, since it would take the focus back then.
  useLayoutEffect(() => {
    if (!isForm || !body.current || !enter(body.current)) head.current?.focus();
  }, []);
  return (
    <aside
      ref={panel}
      class={isWide ? 'drawer wide' : 'drawer'}
      aria-label={title}
      onKeyDown={(event) => {
        if (isComposing(event)) return;
        if (event.key === 'Escape') close();
        else onKey?.(event);
      }}
    >
      <header class="dialog-head">
        <h2 ref={head} tabIndex={-1} aria-live="polite">
          {heading ?? title}
        </h2>
        {tools}
        <button class="icon-button" type="button" aria-label={words.shell.close} onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      <div class="dialog-body" ref={body}>
        {children}
      </div>
      {foot && <div class="drawer-foot">{foot}</div>}
    </aside>
  );
}
