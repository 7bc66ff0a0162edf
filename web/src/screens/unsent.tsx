/** Changes that the API has not answered yet, on every screen: how many, and their state. */
import { writeQueue } from '../edits/write-queue';
import { words } from '../words';

export function Unsent() {
  const state = writeQueue.state.value;
  return (
    <div class="unsent" role="status">
      {state !== 'empty' && <span>{words.unsent.state(state, writeQueue.unsent.value)}</span>}
      {state === 'waiting' && (
        <button class="button" type="button" onClick={() => writeQueue.retry()}>
          {words.unsent.retry}
        </button>
      )}
    </div>
  );
}
