/** Others who have the project open, by their initials, and the issues at which they look. */
import { initialsOf } from '../auth/session';
import type { PresentUser } from '../live/socket';
import { words } from '../words';

/** The number of users shown by their initials; the others are counted. */
const SHOWN = 5;

export function Presence({ others }: { readonly others: readonly PresentUser[] }) {
  if (!others.length) return null;
  const more = others.slice(SHOWN);
  return (
    <ul class="presence" aria-label={words.presence.title}>
      {others.slice(0, SHOWN).map(({ user, name, num }) => (
        <li key={user} title={words.presence.at(name, num)}>
          <span class="initials" aria-hidden="true">
            {initialsOf(name)}
          </span>
          <span class="visually-hidden">{words.presence.at(name, num)}</span>
        </li>
      ))}
      {more.length > 0 && <li title={more.map(({ name, num }) => words.presence.at(name, num)).join(', ')}>+{more.length}</li>}
    </ul>
  );
}
