/**
 * Reports an action that has just happened, and offers to undo it. It stays until it is used or closed, and takes the
 * focus of an element that is gone.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { words } from '../words';
import { Icon } from './icon';

interface ToastProps {
  readonly text: string;
  readonly action: string;
  /** The accessible name of the action, for users who do not see the text. */
  readonly called: string;
  readonly busy: boolean;
  readonly onAction: () => void;
  readonly onClose: () => void;
  /** Why the action was refused. */
  readonly children?: ComponentChildren;
}

export function Toast({ text, action, called, busy, onAction, onClose, children }: ToastProps) {
  const toast = useRef<HTMLDivElement>(null);
  useEffect(() => toast.current?.focus(), [text]);
  return (
    <div class="toast" role="group" aria-label={text} tabIndex={-1} ref={toast}>
      <div class="row">
        <span>{text}</span>
        <button class="button" type="button" disabled={busy} aria-label={called} onClick={onAction}>
          {action}
        </button>
        <button class="icon-button" type="button" aria-label={words.shell.close} onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      {children}
    </div>
  );
}
