/** A window in front of the page, which cannot be used until it is closed. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { words } from '../words';
import { Icon } from './icon';

interface DialogProps {
  readonly title: string;
  readonly wide?: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Dialog({ title, wide = false, onClose, children }: DialogProps) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // Closing gives the focus back to what had it.
    return () => element?.close();
  }, []);
  return (
    <dialog ref={dialog} class={wide ? 'dialog wide' : 'dialog'} aria-labelledby={id} onClose={onClose}>
      <header class="dialog-head">
        <h2 id={id}>{title}</h2>
        <button class="icon-button" type="button" aria-label={words.shell.close} onClick={() => dialog.current?.close()}>
          <Icon name="close" />
        </button>
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}
