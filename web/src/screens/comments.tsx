/** The comments on an issue, in its panel, and a field to write one, with mentions of colleagues. */
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { IssueComment } from '../api/types';
import { permits } from '../auth/session';
import { formatDatetime } from '../cells/format';
import { isComposing } from '../composing';
import { keepBeside } from '../place';
import type { CommentDrafts } from '../project/comment-drafts';
import { Comments } from '../project/comments';
import { begun, completed, fitting, mentionedIn, pieces, type Mentionable } from '../project/mentions';
import type { ProjectModel } from '../project/model';
import type { People } from '../project/people';
import { Icon } from '../ui/icon';
import { Question } from '../ui/question';
import { Refusal } from '../ui/refusal';
import { mayDiscard } from '../ui/unsaved';
import { words } from '../words';

/** The comments on an issue, which are read while it is `open`. */
export function useComments(model: ProjectModel, num: number, open: boolean): Comments {
  const comments = useMemo(() => new Comments(model.api, model.project.id, num), [model, num, open]);
  useEffect(() => {
    if (!open) return undefined;
    void model.people.load();
    void comments.load();
    return () => comments.close();
  }, [comments]);
  return comments;
}

export function CommentList({ model, comments }: CommentsProps) {
  const id = useId();
  const list = comments.list.value;
  const error = comments.error.value;
  return (
    <section class="comments" aria-labelledby={id}>
      <h3 id={id}>{words.comments.title}</h3>
      {error !== null && <Refusal error={error} title={words.comments.failed} onRetry={() => void comments.load()} />}
      {list === null && error === null && <p aria-busy="true">{words.loading}</p>}
      {list?.length === 0 && <p class="soft">{words.comments.none(model.canEdit)}</p>}
      <ol>
        {list?.map((comment) => (
          <li key={comment.id}>
            <Comment model={model} comments={comments} comment={comment} />
          </li>
        ))}
      </ol>
      {comments.more.value && (
        <button class="button" type="button" onClick={() => void comments.next()}>
          {words.comments.more}
        </button>
      )}
    </section>
  );
}

interface CommentsProps {
  readonly model: ProjectModel;
  readonly comments: Comments;
}

interface CommentProps {
  readonly model: ProjectModel;
  readonly comments: Comments;
  readonly comment: IssueComment;
}

function Comment({ model, comments, comment }: CommentProps) {
  const { people, user } = model;
  const place = `${comments.num} ${comment.id}`;
  const [editing, setEditing] = useState(model.panels.comments.at(place) !== undefined);
  const [deleting, setDeleting] = useState(false);
  const author = people.nameOf(comment.created_by);
  const own = comment.created_by === user.user && permits(user.role, 'editor');
  const mentioned = people.of(comment.mentions);
  const parts = pieces(comment.text, mentioned);
  const unnamed = mentioned.filter(({ id }) => !parts.some((part) => part.user?.id === id));
  if (editing) {
    return (
      <CommentForm
        people={people}
        drafts={model.panels.comments}
        place={place}
        label={words.comments.text}
        submit={words.comments.save}
        busy={comments.busy.value}
        begin={comment.text}
        known={mentioned}
        onClose={() => setEditing(false)}
        onSubmit={(text, mentions) => {
          // A mention stays even if the text never named the user.
          const all = [...new Set([...unnamed.map(({ id }) => id), ...mentions])];
          return comments.change(comment, text, all);
        }}
      />
    );
  }
  return (
    <article>
      <header>
        <strong>{author}</strong> <time dateTime={comment.created}>{formatDatetime(comment.created)}</time>
        {comment.version > 1 && <span> · {words.comments.edited}</span>}
        <span class="comment-tools">
          {own && (
            <button class="icon-button" type="button" aria-label={words.comments.edit(author)} onClick={() => setEditing(true)}>
              <Icon name="pencil" />
            </button>
          )}
          {(own || permits(user.role, 'admin')) && (
            <button
              class="icon-button"
              type="button"
              aria-label={words.comments.delete(author)}
              disabled={comments.busy.value}
              onClick={() => setDeleting(true)}
            >
              <Icon name="trash" />
            </button>
          )}
        </span>
      </header>
      <p class="comment-text">
        {parts.map(({ text, user: mentioned }, place) => (mentioned ? <mark key={place}>{text}</mark> : text))}
      </p>
      {unnamed.length > 0 && <p class="soft">{words.comments.mentions(unnamed.map(({ name }) => name))}</p>}
      {deleting && (
        <Question
          title={words.comments.deleteOne}
          detail={words.comments.deleteWhy}
          confirm={words.actions.delete}
          danger
          onAnswer={(yes) => {
            setDeleting(false);
            if (yes) void comments.remove(comment);
          }}
        />
      )}
    </article>
  );
}

/** The field for a new comment, and why the last one was refused. */
export function NewComment({ model, comments }: CommentsProps) {
  const refusal = comments.refusal.value;
  const drafts = model.panels.comments;
  const place = String(comments.num);
  return (
    <>
      {refusal !== null && <Refusal error={refusal} title={words.comments.refused} />}
      <CommentForm
        people={model.people}
        drafts={drafts}
        place={place}
        label={words.comments.new}
        submit={words.comments.add}
        busy={comments.busy.value}
        begin=""
        known={[]}
        onSubmit={(text, mentions) => comments.add(text, mentions, drafts.keyOf(place, JSON.stringify([text, mentions])))}
      />
    </>
  );
}

const MAX_LENGTH = 10_000;
/** Pixels of the list of people to mention. */
const TALLEST = 240;

interface CommentFormProps {
  readonly people: People;
  /** The unsaved texts, and the place of this one among them. */
  readonly drafts: CommentDrafts;
  readonly place: string;
  readonly label: string;
  readonly submit: string;
  readonly busy: boolean;
  readonly begin: string;
  /** The users whom it may mention already. */
  readonly known: readonly Mentionable[];
  /** Returns whether it was taken. The field is then as it began, unless the user has typed meanwhile. */
  readonly onSubmit: (text: string, mentions: readonly string[]) => Promise<boolean>;
  /** Closes the form, if that is possible: the user has cancelled it, or nothing of it is left to send. */
  readonly onClose?: () => void;
}

function CommentForm({ people, drafts, place, label, submit, busy, begin, known, onSubmit, onClose }: CommentFormProps) {
  const { text, chosen } = drafts.at(place) ?? { text: begin, chosen: known };
  const [offered, setOffered] = useState<readonly Mentionable[]>([]);
  const [at, setAt] = useState(0);
  const input = useRef<HTMLTextAreaElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const asked = useRef(0);
  const isOffering = offered.length > 0;
  useLayoutEffect(() => {
    if (!list.current || !input.current) return;
    list.current.showPopover();
    return keepBeside(list.current, input.current, { tallest: TALLEST });
  }, [isOffering]);
  const hint = useId();
  const put = (next: string, mentioned = chosen) => {
    if (next === begin) drafts.drop(place);
    else drafts.put(place, { text: next, chosen: mentioned });
  };
  const cancel = () => {
    if (text !== begin && !mayDiscard()) return;
    drafts.drop(place);
    onClose?.();
  };

  const look = async (element: HTMLTextAreaElement) => {
    const mention = begun(element.value, element.selectionStart);
    asked.current += 1;
    const round = asked.current;
    // Enter takes the first offer, so offers that no longer fit go before the API answers.
    setOffered((before) => (mention ? fitting(before, mention.prefix) : []));
    // A name may continue after a space; once no user has such a name, the mention has ended.
    const found = mention ? await people.find(mention.prefix).catch(() => []) : [];
    if (round !== asked.current) return;
    setAt(mention?.at ?? 0);
    setOffered(found);
  };
  /** Offer nothing, not even what is still being looked for. */
  const endOffer = () => {
    asked.current += 1;
    setOffered([]);
  };
  const choose = (user: Mentionable) => {
    const element = input.current;
    if (!element) return;
    const next = completed(text, element.selectionStart, at, user);
    put(next.text, [...chosen.filter(({ id }) => id !== user.id), user]);
    endOffer();
    element.value = next.text;
    element.focus();
    element.setSelectionRange(next.caret, next.caret);
  };
  const send = async () => {
    if (busy || !text.trim()) return;
    const nothingLeft = await drafts.send(place, () => onSubmit(text.trim(), mentionedIn(text, chosen)));
    if (nothingLeft) onClose?.();
  };
  return (
    <form
      class="comment-form"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
      onKeyDown={(event) => {
        if (isComposing(event)) return;
        if (event.key === 'Escape' && (offered.length || onClose)) {
          // The panel itself stays open.
          event.stopPropagation();
          if (offered.length) endOffer();
          else cancel();
          input.current?.focus();
        }
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void send();
      }}
    >
      <textarea
        ref={input}
        rows={2}
        maxLength={MAX_LENGTH}
        aria-label={label}
        aria-describedby={hint}
        placeholder={label}
        value={text}
        onInput={(event) => {
          put(event.currentTarget.value);
          void look(event.currentTarget);
        }}
        onKeyDown={(event) => {
          const [first] = offered;
          if (!first || isComposing(event) || event.ctrlKey || event.metaKey) return;
          if (event.key === 'ArrowDown') list.current?.querySelector('button')?.focus();
          else if (event.key === 'Enter' || event.key === 'Tab') choose(first);
          else return;
          event.preventDefault();
        }}
      />
      {isOffering && (
        <ul ref={list} popover="manual" class="choices mention-choices" onKeyDown={walk}>
          {offered.map((user) => (
            <li key={user.id}>
              <button type="button" aria-label={words.comments.mention(user.name)} onClick={() => choose(user)}>
                {user.name}
                {user.name !== user.id && <span class="soft">{user.id}</span>}
              </button>
            </li>
          ))}
        </ul>
      )}
      <p class="visually-hidden" role="status">
        {offered.length > 0 ? words.comments.found(offered.length) : ''}
      </p>
      <div class="row-end">
        <p id={hint} class="soft">
          {words.comments.hint}
        </p>
        {onClose && (
          <button class="button" type="button" onClick={cancel}>
            {words.comments.cancel}
          </button>
        )}
        <button class="button primary" type="submit" disabled={busy || !text.trim()}>
          {submit}
        </button>
      </div>
    </form>
  );
}

/** Arrow keys move through the suggested users. */
function walk(event: KeyboardEvent): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  const buttons = [...(event.currentTarget as HTMLElement).querySelectorAll('button')];
  const at = buttons.findIndex((button) => button === document.activeElement);
  buttons[(at + (event.key === 'ArrowDown' ? 1 : buttons.length - 1)) % buttons.length]?.focus();
  event.preventDefault();
}
