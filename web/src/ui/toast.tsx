/** Reports an action that has just happened, and offers to undo it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
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

/** A toast in a window. It stays until it is used or closed, and takes the focus of an element that is gone. */
export function Toast({ children, ...shown }: ToastProps) {
  const toast = useRef<HTMLDivElement>(null);
  useEffect(() => toast.current?.focus(), [shown.text]);
  return (
    <div class="toast" role="group" aria-label={shown.text} tabIndex={-1} ref={toast}>
      <Line {...shown} />
      {children}
    </div>
  );
}

/** Milliseconds for which a passing toast is shown, from when neither the pointer nor the focus is on it. */
const SHOWN = 10_000;
const PASSING = 'passing-toast';

interface PassingToastProps extends Omit<ToastProps, 'children'> {
  /** The focus was on the toast, which goes, and the element that had it before is gone too. */
  readonly onLeave: () => void;
}

/**
 * A toast in front of the page. It closes by itself, unless the pointer or the focus is on it. It takes no focus: F6
 * enters it, Escape leaves and closes it. Its place must be a polite live region.
 */
export function PassingToast({ onLeave, ...shown }: PassingToastProps) {
  const toast = useRef<HTMLDivElement>(null);
  const before = useRef<Element | null>(null);
  const [isPointed, setPointed] = useState(false);
  const [hasFocus, setFocus] = useState(false);
  const { onClose } = shown;
  const close = useRef(onClose);
  close.current = onClose;
  const isHeld = isPointed || hasFocus;
  useEffect(() => {
    if (isHeld) return undefined;
    const timer = setTimeout(() => close.current(), SHOWN);
    return () => clearTimeout(timer);
  }, [isHeld]);
  useLayoutEffect(() => {
    const element = toast.current;
    return () => {
      if (!element?.contains(document.activeElement)) return;
      const { current: back } = before;
      if (back instanceof HTMLElement && back.isConnected) back.focus();
      else onLeave();
    };
  }, []);
  return (
    <div
      id={PASSING}
      class="toast"
      role="group"
      aria-label={shown.text}
      ref={toast}
      onPointerEnter={() => setPointed(true)}
      onPointerLeave={() => setPointed(false)}
      onFocusIn={({ relatedTarget }) => {
        if (relatedTarget instanceof Element && !toast.current?.contains(relatedTarget)) before.current = relatedTarget;
        setFocus(true);
      }}
      onFocusOut={({ relatedTarget }) => setFocus(relatedTarget instanceof Node && toast.current?.contains(relatedTarget) === true)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onClose();
      }}
    >
      <Line {...shown} />
    </div>
  );
}

/** Focus the action of the passing toast. Returns whether there is one. */
export function enterToast(): boolean {
  const action = document.getElementById(PASSING)?.querySelector('button');
  action?.focus();
  return action !== null && action !== undefined;
}

function Line({ text, action, called, busy, onAction, onClose }: Omit<ToastProps, 'children'>) {
  return (
    <div class="row">
      <span>{text}</span>
      <button class="button" type="button" disabled={busy} aria-label={called} onClick={onAction}>
        {action}
      </button>
      <button class="icon-button" type="button" aria-label={words.shell.close} onClick={onClose}>
        <Icon name="close" />
      </button>
    </div>
  );
}
