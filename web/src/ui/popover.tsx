/**
 * A button with a panel that belongs to it. The browser closes the panel on Escape and on a click elsewhere, and gives
 * the focus back.
 */
import type { ComponentChildren } from 'preact';
import { useContext, useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { CollapseContext, useCollapsed } from './collapse';
import { enterFirst } from './focus';
import type { Icon as IconName } from './icons';
import { Icon } from './icon';
import { keepBeside } from '../place';

interface PopoverProps {
  readonly label: string;
  readonly icon: IconName;
  /** The text in the button and the title of the panel, if they are not the label. */
  readonly shown?: string;
  readonly title?: string;
  /** The number of settings in the panel, shown in the button. */
  readonly count?: number;
  /** What they are, in words. */
  readonly hint?: string | undefined;
  /** Whether another part of the page asks for the panel. */
  readonly asked?: boolean;
  /** It is the menu of a bar, which offers the tools that have no room there. */
  readonly isMenu?: boolean;
  readonly onClose?: () => void;
  readonly children: (close: () => void) => ComponentChildren;
}

export function Popover({ label, icon, shown = label, title = label, count = 0, hint, asked = false, isMenu = false, onClose, children }: PopoverProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  // The browser reports that the panel is open later than the next key, which is meant for the panel.
  const show = () => {
    panel.current?.showPopover();
    setOpen(true);
  };
  const text = count ? `${label} ${count}` : label;
  const bar = useContext(CollapseContext);
  const collapsed = useCollapsed({ label: text, icon, act: show }, { stays: isMenu });
  useLayoutEffect(() => {
    if (bar && isMenu) bar.anchor = button.current;
  }, [bar, isMenu]);
  useEffect(() => {
    if (asked && !open) show();
  }, [asked]);
  useLayoutEffect(() => {
    if (open && panel.current) enterFirst(panel.current);
  }, [open]);
  useLayoutEffect(() => {
    const anchor = collapsed?.anchor ?? button.current;
    if (!open || !anchor || !panel.current) return;
    return keepBeside(panel.current, anchor);
  }, [open, collapsed]);
  return (
    <>
      <button
        ref={button}
        class={`tool${count ? ' is-set' : ''}`}
        type="button"
        hidden={collapsed !== null}
        popovertarget={id}
        aria-label={text}
        title={hint ?? text}
        onClick={(event) => {
          if (panel.current?.matches(':popover-open')) return;
          event.preventDefault();
          show();
        }}
      >
        <Icon name={icon} />
        <span class="tool-label">{shown}</span>{' '}
        {count > 0 && <span class="badge">{count}</span>}
      </button>
      <div
        ref={panel}
        id={id}
        class="popover"
        popover="auto"
        role="dialog"
        aria-label={title}
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
