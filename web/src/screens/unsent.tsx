/** Changes that the API has not answered yet or refused too late, on every screen: how many, and their state. */
import { useRef } from 'preact/hooks';
import type { Unwritten } from '../edits/unwritten';
import { writeQueue } from '../edits/write-queue';
import { useFocusBack } from '../ui/focus';
import { words } from '../words';

/** The number of listed texts; the others are counted. */
const SHOWN = 200;

interface UnsentProps {
  readonly unwritten: Unwritten;
}

export function Unsent({ unwritten }: UnsentProps) {
  const state = writeQueue.state.value;
  const texts = unwritten.texts.value.length;
  return (
    <>
      <div class="unsent" role="status">
        {state !== 'empty' && <span>{words.unsent.state(state, writeQueue.unsent.value)}</span>}
        {state === 'waiting' && (
          <button class="button" type="button" onClick={() => writeQueue.retry()}>
            {words.unsent.retry}
          </button>
        )}
      </div>
      <div class="visually-hidden" role="status">
        {texts > 0 && words.unwritten.title(texts)}
      </div>
      {texts > 0 && <UnwrittenTexts unwritten={unwritten} />}
    </>
  );
}

/** Refused changes of projects that are closed. They stay until they are dismissed. */
function UnwrittenTexts({ unwritten }: UnsentProps) {
  const panel = useRef<HTMLElement>(null);
  useFocusBack(panel);
  const texts = unwritten.texts.value;
  const more = texts.length - SHOWN;
  return (
    <section class="unwritten" aria-label={words.unwritten.list} ref={panel}>
      <div class="row">
        <strong>{words.unwritten.title(texts.length)}</strong>
        <button class="button" type="button" onClick={() => unwritten.dismiss()}>
          {words.unwritten.dismiss}
        </button>
      </div>
      <ul tabIndex={0} aria-label={words.unwritten.list}>
        {texts.slice(0, SHOWN).map(({ project, num, field, text, reason }, at) => (
          <li key={at}>
            {words.unwritten.place(project, num, field)}: {words.unwritten.text(text)}. {reason}
          </li>
        ))}
      </ul>
      {more > 0 && <p>{words.unwritten.more(more)}</p>}
    </section>
  );
}
