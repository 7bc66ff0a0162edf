/** A button with a panel that belongs to it. The browser closes the panel on Escape and on a click elsewhere, and gives the focus back. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Icon as IconName } from './icons';
import { Icon } from './icon';

interface PopoverProps {
  readonly label: string;
  readonly icon: IconName;
  /** How many things are set in the panel; they stand in the button. */
  readonly count?: number;
  /** Whether the panel is asked for from elsewhere. */
  readonly asked?: boolean;
  readonly onClose?: () => void;
  readonly children: (close: () => void) => ComponentChildren;
}

const GAP = 4;
const MARGIN = 8;

export function Popover({ label, icon, count = 0, asked = false, onClose, children }: PopoverProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (asked && !open) panel.current?.showPopover();
  }, [asked]);
  useEffect(() => {
    if (open && button.current && panel.current) place(panel.current, button.current);
  });
  const text = count ? `${label} ${count}` : label;
  return (
    <>
      <button ref={button} class={`tool${count ? ' is-set' : ''}`} type="button" popovertarget={id} aria-label={text} title={text}>
        <Icon name={icon} />
        <span class="tool-label">{label}</span>{' '}
        {count > 0 && <span class="badge">{count}</span>}
      </button>
      <div
        ref={panel}
        id={id}
        class="popover"
        popover="auto"
        role="dialog"
        aria-label={label}
        onToggle={(event) => {
          const opened = event.newState === 'open';
          setOpen(opened);
          if (!opened) onClose?.();
        }}
      >
        {open && children(() => panel.current?.hidePopover())}
      </div>
    </>
  );
}

/** Below the button, and within the window. */
function place(panel: HTMLElement, button: HTMLElement): void {
  const anchor = button.getBoundingClientRect();
  const width = panel.offsetWidth;
  const left = Math.max(MARGIN, Math.min(anchor.left, window.innerWidth - width - MARGIN));
  panel.style.left = `${left}px`;
  panel.style.top = `${anchor.bottom + GAP}px`;
  panel.style.maxHeight = `${window.innerHeight - anchor.bottom - GAP - MARGIN}px`;
}
