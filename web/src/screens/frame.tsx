/** The frame of every screen of a signed-in user: the bar at the top with the way home and the way out. */
import type { ComponentChildren } from 'preact';
import { initialsOf, type Person, type Session } from '../auth/session';
import { follow } from '../router';
import { holdsUnsaved, mayDiscard, useLeaving } from '../ui/unsaved';
import { writeQueue } from '../edits/write-queue';
import { words } from '../words';
import { Unsent } from './unsent';

interface FrameProps {
  readonly session: Session;
  readonly user: Person;
  readonly title: string;
  /** The content before the title. */
  readonly lead?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Frame({ session, user, title, lead, children }: FrameProps) {
  const wouldLose = () => writeQueue.unsent.peek() > 0 || holdsUnsaved(document);
  useLeaving(wouldLose);
  return (
    <div class="frame">
      <header class="top-bar">
        {lead}
        <a class="brand" href="/" onClick={follow}>
          {words.product}
        </a>
        <h1 title={title}>{title}</h1>
        <span class="who" title={words.signIn.who(user.name, user.user, user.tenant)}>
          <span class="initials" aria-hidden="true">
            {initialsOf(user.name)}
          </span>
          <span class="who-name">{user.name}</span>
          <span class="who-where">
            {user.tenant} · {words.roles[user.role]}
          </span>
        </span>
        <button
          class="button"
          type="button"
          onClick={() => {
            if (!wouldLose() || mayDiscard()) void session.signOut();
          }}
        >
          {words.signIn.out}
        </button>
      </header>
      <Unsent />
      <main>{children}</main>
    </div>
  );
}
