/**
 * The notice that the session has ended, and the question to sign in again. The page stays, with all that the user has
 * entered. The question comes at a click: a dialog that opened by itself would take the keys of a user who types.
 */
import { useState } from 'preact/hooks';
import type { Session, SessionState, User } from '../auth/session';
import { writeQueue } from '../edits/write-queue';
import type { UserDrafts } from '../project/comment-drafts';
import { Dialog } from '../ui/dialog';
import { words } from '../words';
import { maySignOut } from './leaving';
import { whyNotSignedIn } from './sign-in';

interface SessionEndedProps {
  readonly session: Session;
  readonly state: Exclude<SessionState, { kind: 'starting' } | { kind: 'signedIn' }>;
  /** The user whose page it is. */
  readonly user: User;
  readonly drafts: UserDrafts;
}

export function SessionEnded({ session, state, user, drafts }: SessionEndedProps) {
  const [isAsking, setAsking] = useState(false);
  const unsent = writeQueue.unsent.value;
  if (!isAsking) {
    return (
      <div class="unsent session-ended" role="alert">
        <span>{whyNotSignedIn(state) ?? words.signIn.expired}</span>
        <button class="button" type="button" onClick={() => setAsking(true)}>
          {words.signIn.submit}
        </button>
      </div>
    );
  }
  return (
    <Dialog title={words.signIn.title} unasked onClose={() => setAsking(false)}>
      <p>{session.choosesUser ? words.signIn.goesOn(unsent) : words.signIn.leaves(unsent)}</p>
      <div class="dialog-buttons">
        <button class="button" type="button" onClick={() => setAsking(false)}>
          {words.signIn.back}
        </button>
        {session.choosesUser && <SignOut session={session} drafts={drafts} />}
        <button class="button primary" type="button" onClick={() => void session.signIn(user)}>
          {words.signIn.submit}
        </button>
      </div>
    </Dialog>
  );
}

/** The way to sign in as another user, who gets nothing of this page. */
function SignOut({ session, drafts }: Pick<SessionEndedProps, 'session' | 'drafts'>) {
  return (
    <button
      class="button"
      type="button"
      onClick={() => {
        if (maySignOut(drafts)) void session.signOut();
      }}
    >
      {words.signIn.out}
    </button>
  );
}
