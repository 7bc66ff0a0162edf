/** A window in front of the page, which cannot be used until it is closed. */
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { isComposing } from '../composing';
import { words } from '../words';
import { enter } from './focus';
import { Icon } from './icon';
import { mayClose } from './unsaved';

interface DialogProps {
  readonly title: string;
  readonly wide?: boolean;
  /** It opens by itself, so a key meant for the element in focus must not choose anything in it. */
  readonly unasked?: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Dialog({ title, wide = false, unasked = false, onClose, children }: DialogProps) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const head = useRef<HTMLHeadingElement>(null);
  const body = useRef<HTMLDivElement>(null);
  // Before the next key, which is meant for the window.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    if (unasked || !body.current || !enter(body.current)) head.current?.focus();
    // Closing gives the focus back to what had it.
    return () => element?.close();
  }, []);
  // The browser returns the focus at once, and reports later that the window is closed: a key pressed between may open
  // it again.
  const isClosed = useRef(false);
  const closed = () => {
    if (isClosed.current) return;
    isClosed.current = true;
    onClose();
  };
  const close = () => {
    if (!dialog.current || !mayClose(dialog.current)) return;
    dialog.current.close();
    closed();
  };
  return (
    <dialog
      ref={dialog}
      class={wide ? 'dialog wide' : 'dialog'}
      aria-labelledby={id}
      onClose={closed}
      onKeyDown={(event) => {
        // The browser would close the dialog at the second Escape, even if that is prevented.
        if (event.key !== 'Escape' || event.defaultPrevented || isComposing(event)) return;
        event.preventDefault();
        close();
      }}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
    >
      <header class="dialog-head">
        <h2 id={id} ref={head} tabIndex={-1}>
          {title}
        </h2>
        <button class="icon-button" type="button" aria-label={words.shell.close} onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      <div class="dialog-body" ref={body}>
        {children}
      </div>
    </dialog>
  );
}
