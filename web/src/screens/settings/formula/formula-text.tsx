/** The text area of a formula, with completion. Below the text, a copy of it marks the place of an error. */
import { useId, useRef } from 'preact/hooks';
import type { Field } from '../../../fields/fields';
import { Offers, entryId } from './offers';
import type { Place } from './tokens';
import { useCompletion } from './use-completion';
import { formulaWords } from './words';

interface FormulaTextProps {
  readonly fields: readonly Field[];
  readonly value: string;
  readonly onChange: (text: string) => void;
  /** The caret may be elsewhere. */
  readonly onCaret: (caret: number) => void;
  /** The part of the text that an error is about. */
  readonly wrong: Place | null;
  readonly isInvalid: boolean;
  /** The ids of the elements that describe the text. */
  readonly describedBy: string;
  /** The id of the text area, which its label names. */
  readonly areaId: string;
}

export function FormulaText({ fields, value, onChange, onCaret, wrong, isInvalid, describedBy, areaId }: FormulaTextProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  const copy = useRef<HTMLDivElement>(null);
  const anchor = useRef<HTMLSpanElement>(null);
  const id = useId();
  const completion = useCompletion(area, fields, onChange);
  const { open } = completion;
  const report = () => onCaret(area.current?.selectionStart ?? 0);
  return (
    <div class="formula-text">
      <div ref={copy} class="formula-copy" aria-hidden="true">
        <Copy text={value} wrong={wrong} />
      </div>
      {open && (
        <div class="formula-copy" aria-hidden="true">
          {value.slice(0, open.beginning.from)}
          <span ref={anchor}>{value.slice(open.beginning.from, open.beginning.to) || '\u200b'}</span>
        </div>
      )}
      <textarea
        ref={area}
        required
        rows={3}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        id={areaId}
        aria-describedby={describedBy}
        aria-invalid={isInvalid}
        aria-autocomplete="list"
        aria-haspopup="listbox"
        {...(open && { 'aria-controls': id, 'aria-activedescendant': entryId(id, open.active) })}
        value={value}
        onInput={(event) => {
          onChange(event.currentTarget.value);
          completion.typed();
          report();
        }}
        onKeyDown={completion.pressed}
        onKeyUp={report}
        onClick={() => {
          completion.close();
          report();
        }}
        onBlur={completion.close}
        onScroll={({ currentTarget: { scrollTop } }) => copy.current && (copy.current.scrollTop = scrollTop)}
      />
      <Offers id={id} completion={completion} anchor={anchor} />
      <p class="visually-hidden" role="status">
        {open ? formulaWords.offered(open.offers.length) : ''}
      </p>
    </div>
  );
}

function Copy({ text, wrong }: { readonly text: string; readonly wrong: Place | null }) {
  if (!wrong) return null;
  return (
    <>
      {text.slice(0, wrong.from)}
      <mark class={wrong.from === wrong.to ? 'is-end' : ''}>{text.slice(wrong.from, wrong.to)}</mark>
      {text.slice(wrong.to)}
    </>
  );
}
