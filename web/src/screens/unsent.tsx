/** Changes that the API has not answered yet, on every screen: how many, and their state. */
import { outbox } from '../edits/outbox';
import { words } from '../words';

export function Unsent() {
  const state = outbox.state.value;
  return (
    <div class="unsent" role="status">
      {state !== 'empty' && <span>{words.unsent.state(state, outbox.unsent.value)}</span>}
      {state === 'waiting' && (
        <button class="button" type="button" onClick={() => outbox.retry()}>
          {words.unsent.retry}
        </button>
      )}
    </div>
  );
}
