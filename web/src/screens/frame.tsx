/** The frame of every screen of a signed-in user: the bar at the top with the way home, the theme and the way out. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { version } from '../auth/config';
import { initialsOf, type Person, type Session } from '../auth/session';
import { follow } from '../router';
import { Icon } from '../ui/icon';
import { Menu } from '../ui/menu';
import { chooseTheme, theme, THEMES } from '../ui/theme';
import { useLeaving } from '../ui/unsaved';
import type { UserDrafts } from '../project/comment-drafts';
import { words } from '../words';
import { maySignOut, wouldLose } from './leaving';
import { Unsent } from './unsent';

interface FrameProps {
  readonly session: Session;
  readonly user: Person;
  readonly drafts: UserDrafts;
  readonly title: string;
  /** The content before the title. */
  readonly lead?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Frame({ session, user, drafts, title, lead, children }: FrameProps) {
  useLeaving(() => wouldLose(drafts));
  return (
    <div class="frame">
      <header class="top-bar">
        {lead}
        <a class="brand" href="/" onClick={follow}>
          {words.product}
        </a>
        <h1 title={title}>{title}</h1>
        <Account
          user={user}
          onSignOut={() => {
            if (maySignOut(drafts)) void session.signOut();
          }}
        />
      </header>
      <Unsent unwritten={drafts.unwritten} />
      <main>{children}</main>
    </div>
  );
}

/** The user, with a menu of what belongs to them: the theme and the way out. */
function Account({ user, onSignOut }: { readonly user: Person; readonly onSignOut: () => void }) {
  const [anchor, setAnchor] = useState<HTMLElement | null>(null);
  return (
    <>
      <button
        class="who"
        type="button"
        aria-haspopup="menu"
        title={words.signIn.who(user.name, user.user, user.tenant)}
        onClick={(event) => setAnchor(event.currentTarget)}
      >
        <span class="initials" aria-hidden="true">
          {initialsOf(user.name)}
        </span>
        <span class="who-name">{user.name}</span>{' '}
        <span class="who-where">
          {user.tenant} · {words.roles[user.role]}
        </span>
        <span class="visually-hidden"> {words.account.menu}</span>
        <Icon name="menu" />
      </button>
      {anchor && (
        <Menu
          anchor={anchor}
          label={words.account.menu}
          groups={[
            THEMES.map((one) => ({ text: words.account.theme[one], chosen: theme.value === one, act: () => chooseTheme(one) })),
            [{ text: words.signIn.out, act: onSignOut }],
          ]}
          note={`${words.product} ${version.value}`}
          onClose={() => setAnchor(null)}
        />
      )}
    </>
  );
}
