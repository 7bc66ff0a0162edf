/** Questions to the user: before rows are deleted or added, and which of two values to keep. Also the list of keys. */
import { formatValue } from '../cells/format';
import type { Actions } from '../project/actions';
import type { ProjectModel } from '../project/model';
import { Dialog } from '../ui/dialog';
import { Question } from '../ui/question';
import { keysAsLabeled } from '../shortcuts';
import { words } from '../words';

export function Confirmation({ actions }: { readonly actions: Actions }) {
  const question = actions.question.value;
  if (!question) return null;
  const { title, detail, confirm, danger, answer } = question;
  return <Question title={title} detail={detail} confirm={confirm} danger={danger} onAnswer={answer} />;
}

export function hasConflict(model: ProjectModel): boolean {
  return [...model.editor.marks.value.values()].some(({ kind }) => kind === 'conflict');
}

/** The first conflict that waits for a choice, both values side by side. */
export function Conflict({ model }: { readonly model: ProjectModel }) {
  const found = [...model.editor.marks.value].find(([, mark]) => mark.kind === 'conflict');
  if (found?.[1].kind !== 'conflict') return null;
  const [key, { yours, theirs, by }] = found;
  const [num = '', id = ''] = key.split('/');
  const field = model.field(id);
  const choose = (take: 'yours' | 'theirs') => void model.editor.resolve(Number(num), id, take);
  const shown = (value: typeof yours) => (value === null ? words.cell.empty : formatValue(field ?? { type: 'text' }, value));
  return (
    <Dialog title={words.conflict.title} unasked onClose={() => choose('theirs')}>
      <p>{words.conflict.detail(field?.name ?? id, by)}</p>
      <dl class="conflict">
        <dt>{words.conflict.yours}</dt>
        <dd>{shown(yours)}</dd>
        <dt>{words.conflict.theirs}</dt>
        <dd>{shown(theirs)}</dd>
      </dl>
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={() => choose('theirs')}>
          {words.conflict.take(words.conflict.theirs)}
        </button>
        <button type="button" class="button primary" onClick={() => choose('yours')}>
          {words.conflict.take(words.conflict.yours)}
        </button>
      </div>
    </Dialog>
  );
}

export function Help({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title={words.help.title} onClose={onClose}>
      <dl class="key-help">
        {words.help.keys.map(([keys, what]) => (
          <div key={keys}>
            <dt>{keysAsLabeled(keys)}</dt>
            <dd>{keysAsLabeled(what)}</dd>
          </div>
        ))}
      </dl>
      <div class="dialog-buttons">
        <button type="button" class="button primary" onClick={onClose}>
          {words.help.close}
        </button>
      </div>
    </Dialog>
  );
}
