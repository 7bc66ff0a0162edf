/** The command palette: a box to type in, and the entries that fit. */
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isComposing } from '../composing';
import { foundFor, numberIn, type Command } from '../view/palette';
import { Dialog } from '../ui/dialog';
import { keysAsLabeled } from '../shortcuts';
import { words } from '../words';

interface PaletteProps {
  readonly commands: readonly Command[];
  readonly openIssue: (num: number) => void;
  readonly onClose: () => void;
}

export function Palette({ commands, openIssue, onClose }: PaletteProps) {
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const num = numberIn(typed);
  const issue: readonly Command[] = num === null ? [] : [{ kind: 'issue', text: words.palette.issue(num), act: () => openIssue(num) }];
  const found = [...issue, ...foundFor(commands, typed)];
  const active = Math.min(at, found.length - 1);
  const chosen = useRef<Command | null>(null);
  const choose = (command: Command | undefined) => {
    if (!command) return;
    chosen.current = command;
    onClose();
  };
  // The window gives the focus back before the command takes it.
  useLayoutEffect(() => () => {
    const { current } = chosen;
    if (current) setTimeout(() => current.act());
  }, []);
  useLayoutEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [active, typed]);
  const press = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined && found.length) setAt((active + step + found.length) % found.length);
    else if (event.key === 'Enter') choose(found[active]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title={words.palette.title} onClose={onClose}>
      <input
        type="search"
        class="palette-box"
        role="combobox"
        list={undefined}
        aria-expanded="true"
        aria-controls={id}
        aria-autocomplete="list"
        aria-label={words.palette.label}
        placeholder={words.palette.label}
        {...(active >= 0 && { 'aria-activedescendant': `${id}-${active}` })}
        value={typed}
        onInput={({ currentTarget }) => {
          setTyped(currentTarget.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <ul ref={list} id={id} class="palette" role="listbox" aria-label={words.palette.title}>
        {found.map((command, place) => (
          <li
            key={`${command.kind} ${place}`}
            id={`${id}-${place}`}
            role="option"
            aria-selected={place === active}
            class={command.kind === found[place - 1]?.kind ? '' : 'is-first'}
            // The box keeps the focus.
            onMouseDown={(event) => event.preventDefault()}
            onMouseMove={() => setAt(place)}
            onClick={() => choose(command)}
          >
            <span class="palette-text">{command.text}</span>
            {command.keys !== undefined && <kbd class="choice-keys">{keysAsLabeled(command.keys)}</kbd>}
            <span class="palette-kind">{words.palette.kinds[command.kind]}</span>
          </li>
        ))}
      </ul>
      <p class={found.length ? 'visually-hidden' : 'soft'} role="status">
        {words.palette.found(found.length)}
      </p>
    </Dialog>
  );
}
