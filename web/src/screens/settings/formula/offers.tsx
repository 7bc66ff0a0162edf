/** The list of completions below the place where the name begins. */
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { keepBeside } from '../../../place';
import { Icon } from '../../../ui/icon';
import { words } from '../../../words';
import type { Offer } from './completion';
import type { Completion } from './use-completion';
import { formulaWords } from './words';

/** Pixels of the list. */
const TALLEST = 260;

interface OffersProps {
  readonly id: string;
  readonly completion: Completion;
  /** The element beside which the list is. */
  readonly anchor: RefObject<HTMLElement | null>;
}

/** The id of an entry of the list. */
export function entryId(list: string, place: number): string {
  return `${list}-${place}`;
}

export function Offers({ id, completion, anchor }: OffersProps) {
  const list = useRef<HTMLUListElement>(null);
  const { open, choose, point } = completion;
  const from = open?.beginning.from;
  useLayoutEffect(() => {
    if (from === undefined || !list.current || !anchor.current) return;
    list.current.showPopover();
    return keepBeside(list.current, anchor.current, { tallest: TALLEST });
  }, [from]);
  useLayoutEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [open]);
  if (!open) return null;
  return (
    <ul ref={list} id={id} popover="manual" class="formula-offers" role="listbox" aria-label={formulaWords.offers}>
      {open.offers.map((offer, place) => (
        <li
          key={`${offer.kind} ${offer.insert}`}
          id={entryId(id, place)}
          role="option"
          aria-selected={place === open.active}
          // The text keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onMouseMove={() => point(place)}
          onClick={() => choose(offer)}
        >
          <Entry offer={offer} />
        </li>
      ))}
    </ul>
  );
}

function Entry({ offer }: { readonly offer: Offer }) {
  if (offer.kind === 'field') {
    return (
      <>
        <Icon name={offer.type} />
        <span class="formula-offer">{offer.name}</span> <span class="soft">{words.settings.types[offer.type]}</span>
      </>
    );
  }
  const { name, parameters, summary } = offer.function;
  return (
    <>
      <span class="formula-mark" aria-hidden="true">
        {words.computed.mark}
      </span>
      <code class="formula-offer">{formulaWords.signature(name, parameters)}</code> <span class="soft">{summary}</span>
    </>
  );
}
